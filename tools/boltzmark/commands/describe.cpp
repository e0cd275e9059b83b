#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "boltzmark/exact/enumeration/enumeration.hpp"
#include "boltzmark/io/binarise.hpp"
#include "boltzmark/io/dataset.hpp"
#include "boltzmark/io/model_file.hpp"
#include "boltzmark/model/sides.hpp"
#include "experiments/kit/datasets/data_folders.hpp"
#include "tools/boltzmark/commands/estimate/estimate_options.hpp"
#include "tools/boltzmark/image.hpp"
#include "tools/boltzmark/input.hpp"
#include "tools/boltzmark/output.hpp"
#include "tools/boltzmark/program.hpp"

namespace boltzmark::cli {
namespace {

struct DescribeArguments {
  std::string subject;
  std::string binarise;  ///< empty: not given
  ImageRequest image;
  bool base = false;  ///< chooses the one that `estimate` would
  bool force = false;
};

// In units of a power of two near the largest, so that no square overflows and no bit changes. Below
// 2^-1000 its inverse would.
template <class Values>
double root_mean_square(const Values& values) {
  const double largest = values.array().abs().maxCoeff();
  if (!(largest > 0)) return 0;
  const int exponent = std::max(std::ilogb(largest), -1000);
  return std::ldexp(std::sqrt((values.array() * std::ldexp(1.0, -exponent)).square().mean()),
                    exponent);
}

template <class Values>
std::string range_text(const Values& values) {
  return fmt::format("from {:.4g} to {:.4g}, root mean square {:.4g}", values.minCoeff(),
                     values.maxCoeff(), root_mean_square(values));
}

template <class Values>
JsonObject json_range(const Values& values) {
  return JsonObject()
      .set("lowest", double{values.minCoeff()})
      .set("highest", double{values.maxCoeff()})
      .set("root_mean_square", root_mean_square(values));
}

std::string scales_text(const Layer& layer) {
  return layer.unit.has_scale() ? "; scales " + range_text(layer.sigma0) : "";
}

// The layers that annealing sums out unless asked otherwise; none of a model that it refuses.
std::optional<std::string> annealed_without(const Layered& model) {
  if (model.has_scales()) return std::nullopt;
  return parity_name(summed_side(model, {}));
}

// What b = 0 stands for in `estimate` by its defaults, by the same pilots.
std::string auto_base(const std::string& path, const Layered& model) {
  EstimateArguments arguments;
  return make_target(model, path, arguments, {}).base;
}

// What `exact` would enumerate; nothing of parameters beyond a double's arithmetic, which it refuses.
EnumerationPlan exact_plan(const Layered& model) {
  EnumerationPlan plan = plan_enumeration(model);
  if (!plan.possible || magnitude(list_side(model, smaller_side(model))) < kUnresolved) return plan;
  plan.possible = false;
  plan.excess = "parameters so large that a double does not resolve one nat";
  return plan;
}

void print_model(const std::string& path, const Layered& model,
                 const std::optional<KnownLogZ>& known, const std::string& base) {
  const EnumerationPlan plan = exact_plan(model);
  FactList facts;
  facts.add("model", path);
  for (int l = 0; l < model.layers(); ++l)
    facts.add(layer_name(model, l),
              fmt::format("{} {} unit{}, biases {}{}", model.size(l), model.layer(l).unit.name(),
                          model.size(l) == 1 ? "" : "s", range_text(model.bias(l)),
                          scales_text(model.layer(l))));
  for (int l = 0; l + 1 < model.layers(); ++l)
    facts.add(
        model.is_rbm() ? "weights" : fmt::format("weights {}-{}", l, l + 1),
        fmt::format("{} x {}, {}", model.size(l), model.size(l + 1), range_text(model.weights(l))));
  if (plan.possible)
    facts.add("exact log Z",
              fmt::format("enumerates {} {} units, {} states, about {}", plan.side, plan.units,
                          grouped(plan.states), human_seconds(plan.seconds)));
  else if (!plan.side.empty())
    facts.add(
        "exact log Z",
        fmt::format(
            "out of reach: the smaller side ({}) has {}{}", plan.side, plan.excess,
            plan.most.empty() ? "" : fmt::format(", at most {} can be enumerated", plan.most)));
  else
    facts.add("exact log Z", "out of reach: neither side is discrete");
  if (known) facts.add("known log Z", known_text(*known));
  if (const auto summed = annealed_without(model))
    facts.add("annealing",
              fmt::format("sums out the {} layers, unless --summed says otherwise", *summed));
  if (!base.empty()) facts.add("base", base + ", chosen by pilots");
  print(facts.text());
}

JsonObject json_model(const std::string& path, const Layered& model,
                      const std::optional<KnownLogZ>& known, const std::string& base) {
  const EnumerationPlan plan = exact_plan(model);
  std::vector<JsonObject> layers;
  for (int l = 0; l < model.layers(); ++l)
    layers.push_back(JsonObject()
                         .set("units", model.size(l))
                         .set("type", model.layer(l).unit.name())
                         .set("biases", json_range(model.bias(l))));
  std::vector<JsonObject> weights;
  for (const Eigen::MatrixXd& matrix : model.weights()) weights.push_back(json_range(matrix));
  JsonObject object;
  object.set("kind", "model").set("file", path).set("layers", layers).set("weights", weights);
  object.set("summed", annealed_without(model)).set("enumerable", plan.possible);
  const auto planned = [&](auto value) {
    return plan.possible ? std::optional(value) : std::nullopt;
  };
  object.set("enumerated_side", planned(plan.side))
      .set("states", planned(plan.states))
      .set("estimated_seconds", planned(plan.seconds));
  if (!base.empty()) object.set("base", base);
  return object.set("log_z", known ? std::optional(known->log_z) : std::nullopt)
      .set("log_z_error", known ? finite(known->error) : std::nullopt)
      .set("log_z_by", known ? not_empty(known->by) : std::nullopt);
}

void print_classifier(const std::string& path, const DiscriminativeRbm& model) {
  const std::optional<BinariseOptions> trained = read_binarise(path);
  FactList facts;
  facts.add("model", path);
  facts.add("kind", "discriminative RBM: gives classes, no log Z is needed");
  facts.add("inputs",
            fmt::format("{}{}", model.inputs(), trained ? ", " + inputs_text(trained) : ""));
  facts.add("hidden",
            fmt::format("{} {} unit{}, biases {}", model.hidden(), model.hidden_unit().name(),
                        model.hidden() == 1 ? "" : "s", range_text(model.hidden_bias())));
  facts.add("classes",
            fmt::format("{}, biases {}", model.classes(), range_text(model.class_bias())));
  facts.add("input weights", fmt::format("{} x {}, {}", model.inputs(), model.hidden(),
                                         range_text(model.input_weights())));
  facts.add("class weights", fmt::format("{} x {}, {}", model.hidden(), model.classes(),
                                         range_text(model.class_weights())));
  print(facts.text());
}

JsonObject json_classifier(const std::string& path, const DiscriminativeRbm& model) {
  const std::optional<BinariseOptions> trained = read_binarise(path);
  return JsonObject()
      .set("kind", "discriminative")
      .set("file", path)
      .set("inputs", model.inputs())
      .set("binarise", text_of(trained))
      .set("hidden", model.hidden())
      .set("classes", model.classes())
      .set("hidden_units", model.hidden_unit().name())
      .set("input_weights", json_range(model.input_weights()))
      .set("class_weights", json_range(model.class_weights()))
      .set("hidden_biases", json_range(model.hidden_bias()))
      .set("class_biases", json_range(model.class_bias()));
}

int class_count(const Dataset& data) {
  return data.labels.empty() ? 0 : *std::max_element(data.labels.begin(), data.labels.end()) + 1;
}

double share_of_non_binary(const Dataset& data) {
  return data.values.mean([](float x) { return x != 0 && x != 1 ? 1 : 0; });
}

double mean_activity(const Dataset& data) {
  return data.values.mean([](float x) { return x; });
}

void print_dataset(const Dataset& data) {
  FactList facts;
  facts.add("data set", data.name);
  facts.add("cases", grouped(data.values.cols()));
  facts.add("units", fmt::format("{}", data.values.rows()));
  if (data.rows > 0) facts.add("image", fmt::format("{} x {}", data.rows, data.cols));
  if (!data.labels.empty()) facts.add("classes", fmt::format("{}", class_count(data)));
  facts.add("values", share_of_non_binary(data) == 0
                          ? "0 and 1"
                          : fmt::format("from {:.4g} to {:.4g}, not binary", data.values.minCoeff(),
                                        data.values.maxCoeff()));
  facts.add("mean activity", fmt::format("{:.6g}", mean_activity(data)));
  facts.add("SHA-256", data.sha256);
  facts.add("provenance", data.provenance);
  print(facts.text());
}

JsonObject json_dataset(const Dataset& data) {
  const std::vector<int> image = {data.rows, data.cols};
  return JsonObject()
      .set("kind", "dataset")
      .set("name", data.name)
      .set("cases", static_cast<int>(data.values.cols()))
      .set("units", static_cast<int>(data.values.rows()))
      .set("image", data.rows > 0 ? std::optional(image) : std::nullopt)
      .set("classes", class_count(data))
      .set("binary", share_of_non_binary(data) == 0)
      .set("mean_activity", mean_activity(data))
      .set("sha256", data.sha256)
      .set("provenance", data.provenance);
}

// Weights of the first hidden units, as many as fit: black the least, white the greatest, grey 0.
void draw_weights(const Eigen::MatrixXd& weights, const ImageRequest& image) {
  if (image.file.empty()) return;
  const ImageShape shape = image_shape(image, static_cast<int>(weights.rows()));
  const double most = std::max(weights.cwiseAbs().maxCoeff(), 1e-300);
  const Eigen::MatrixXd grey =
      weights.leftCols(std::min<Eigen::Index>(weights.cols(), kMostImages)).array() / (2 * most) +
      0.5;
  write_images(image.file, grey.cast<float>(), shape);
}

void draw_cases(const Dataset& data, const ImageRequest& image) {
  if (image.file.empty()) return;
  const bool known = image.shape.empty() && data.rows * data.cols == data.values.rows();
  const ImageShape shape = known ? ImageShape{data.rows, data.cols}
                                 : image_shape(image, static_cast<int>(data.values.rows()));
  const Eigen::Index shown = std::min<Eigen::Index>(data.values.cols(), kMostImages);
  write_images(image.file, grey_values(data.values.leftCols(shown), Unit::gaussian()), shape);
}

[[noreturn]] void refuse_base(const std::string& subject) {
  throw InvalidArgument(
      fmt::format("--base (must go with a Boltzmann machine, which {} is not)", subject));
}

int run(DescribeArguments arguments, const Session& session) {
  arguments.image.check(arguments.force);
  if (const std::string found = experiments::find_in_data_folders(arguments.subject);
      is_model_file(found)) {
    arguments.subject = found;
    if (!arguments.binarise.empty())
      throw InvalidArgument(
          fmt::format("--binarise (must go with a data set, which {} is not)", found));
    if (is_discriminative_file(arguments.subject)) {
      if (arguments.base) refuse_base(arguments.subject);
      const DiscriminativeRbm model = read_discriminative(arguments.subject);
      draw_weights(model.input_weights().transpose(), arguments.image);
      if (session.json)
        print(json_classifier(arguments.subject, model));
      else
        print_classifier(arguments.subject, model);
      return 0;
    }
    const Layered model = load_model(arguments.subject);
    const std::optional<KnownLogZ> known = load_known_log_z(arguments.subject, model);
    draw_weights(model.weights(0), arguments.image);
    const std::string base = arguments.base ? auto_base(arguments.subject, model) : "";
    if (session.json)
      print(json_model(arguments.subject, model, known, base));
    else
      print_model(arguments.subject, model, known, base);
    return 0;
  }
  const Dataset data = load_cases(arguments.subject, arguments.binarise, "train");
  if (arguments.base) refuse_base(arguments.subject);
  draw_cases(data, arguments.image);
  if (session.json)
    print(json_dataset(data));
  else
    print_dataset(data);
  return 0;
}

}  // namespace

void add_describe(Program& program) {
  const auto arguments = std::make_shared<DescribeArguments>();
  Command& command = program.command({
      .name = "describe",
      .summary = "what a model file or a data set holds",
      .about = "Shows a model's layers, the range of its parameters and what an exact log Z would "
               "take; or a data set's cases, units, activity, hash and provenance.",
      .notes =
          "JSON keys of a model: kind, file, layers [units, type, biases], weights (of each matrix, as\n"
          "of biases: lowest, highest, root_mean_square),\n"
          "summed (odd or even: the layers that annealing sums out; null with Gaussian units),\n"
          "enumerable, enumerated_side, states, estimated_seconds, base (with --base), log_z,\n"
          "log_z_error, log_z_by (what the file says, see `make`); of a discriminative RBM: kind,\n"
          "file, inputs, binarise, hidden, classes, hidden_units, input_weights, class_weights,\n"
          "hidden_biases, class_biases; of a data set: kind, name,\n"
          "cases, units, image, classes, binary, mean_activity, sha256, provenance.",
      .examples = {"boltzmark describe rbm.npz", "boltzmark describe mnist:test",
                   "boltzmark describe cases.csv.gz --json",
                   "boltzmark describe rbm.npz --image weights.svg"},
  });
  command.positional(&arguments->subject, "MODEL|DATASET",
                     "A model file, a data set's NAME[:train|valid|test|fit], or a file of cases.");
  command.text(&arguments->binarise, "--binarise B", kBinariseHelp);
  arguments->image.add_to(
      command,
      "the weights from the visible layer to each of the first 100 hidden units (black "
      "below 0, white above), or the first 100 cases,");
  command.flag(
      &arguments->base, "--base",
      "Choose the base of a model that `estimate` would, by pilots of seconds, and say which.");
  command.flag(&arguments->force, "--force", "Replace the image if it exists.");
  command.comes_with("--force", {"--image"});
  command.writes({"--image"});
  command.action([arguments](const Session& session) { return run(*arguments, session); });
}

}  // namespace boltzmark::cli
