#include "tools/boltzmark/commands/train/train_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "boltzmark/core/checkpoint.hpp"
#include "boltzmark/core/error.hpp"
#include "boltzmark/core/memory.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/estimate/places/chosen_base.hpp"
#include "boltzmark/exact/enumeration/enumeration.hpp"
#include "boltzmark/io/sha256.hpp"
#include "boltzmark/learn/ascent/ascent.hpp"
#include "boltzmark/transition/chains.hpp"
#include "experiments/kit/datasets/named_datasets.hpp"
#include "experiments/kit/files.hpp"
#include "tools/boltzmark/input.hpp"
#include "tools/boltzmark/output.hpp"

namespace boltzmark::cli {

namespace {

// Values on [-1, 1] are twice as far apart: a step in a weight means four times as much, and the
// weight's gradient is four times as large.
constexpr double kWideRate = 0.005;

void apply(const Standardisation& standardisation, Dataset& data) {
  Eigen::MatrixXf values = data.values.matrix();
  standardisation.apply(values);
  data.values = std::move(values);
}

// Of standardised cases a weight is about 1; what is written has it over the scale.
void require_scale(const Eigen::VectorXd& scale) {
  constexpr double kMost = 0x1p53;
  Eigen::Index unit = 0;
  const double least = scale.minCoeff(&unit);
  if (!(scale.cwiseInverse().sum() < kMost))
    throw InvalidArgument(
        fmt::format("unit {} has a standard deviation of {:.3g} (must be larger, for a double to "
                    "resolve the model: scale the cases up)",
                    unit + 1, least));
}

// Standardises the cases of Gaussian units.
std::optional<Standardisation> standardise(const TrainArguments& arguments, Dataset& data) {
  if (!Unit::parse(arguments.visible_units).has_scale()) return std::nullopt;
  return about_file(data.name, [&] {
    Standardisation standardisation(data.values.matrix());
    require_resolution(data, standardisation.scale());
    require_scale(standardisation.scale());
    apply(standardisation, data);
    return standardisation;
  });
}

bool holds_bits(const CaseValues& values) {
  return values.all([](float x) { return x == 0 || x == 1; });
}

// Whether no value is a mean.
bool holds_values(Unit unit, const CaseValues& values) {
  if (!unit.is_discrete()) return true;
  if (unit.is_bernoulli()) return holds_bits(values);
  return values.all(
      [unit](float x) { return unit.holds(static_cast<double>(x), kStateTolerance); });
}

// Likelihoods are of states, not of means.
void require_evaluable(const Dataset& data, Unit unit) {
  if (unit.has_scale() || (unit.is_bernoulli() && holds_bits(data.values))) return;
  about_file(data.name + ", with --evaluate", [&] { require_states(unit, data.values.matrix()); });
}

// Tells whether all of some cases are among others.
bool are_among(const CaseValues& some, const CaseValues& others) {
  const auto hash = [](const CaseValues& values, Eigen::Index c) {
    const Eigen::VectorXf x = values.col(c);
    return std::hash<std::string_view>()({reinterpret_cast<const char*>(x.data()),
                                          static_cast<std::size_t>(x.size()) * sizeof(float)});
  };
  std::unordered_set<std::size_t> known;
  for (Eigen::Index c = 0; c < others.cols(); ++c) known.insert(hash(others, c));
  for (Eigen::Index c = 0; c < some.cols(); ++c)
    if (!known.contains(hash(some, c))) return false;
  return true;
}

bool is_bernoulli(const std::string& units) {
  return units.empty() || Unit::parse(units).is_bernoulli();
}

// The rates of the cases, where units have some.
Base base_of(const Layered& model, const CaseValues& values) {
  if (!model.layer(0).unit.is_bernoulli()) return Base::uniform(model);
  return Base::from_data(model, values, 5 * std::ceil(static_cast<double>(values.cols()) / 100));
}

/// How the parameters start.
std::string initial_text(const TrainArguments& arguments) {
  if (!arguments.start.empty()) {
    const std::string bytes = experiments::read_text(arguments.start);
    return "model " + sha256(bytes.data(), bytes.size());
  }
  if (!arguments.pretrain.empty()) return "pretraining " + arguments.pretrain;
  return arguments.initial == "xavier" ? "xavier" : fmt::format("sd {}", arguments.initial_sd);
}

}  // namespace

Unit parse_units(const char* side, const std::string& text) {
  const bool visible = std::string_view(side) == "visible";
  try {
    const Unit unit = Unit::parse(text);
    if (visible || !unit.has_scale()) return unit;
  } catch (const InvalidArgument& error) {  // "units = 0 (must be ...)"
    if (visible) throw InvalidArgument(fmt::format("--visible-{}", error.what()));
  }
  throw InvalidArgument(fmt::format(
      "--{}-units = {} (must be bernoulli, continuous, or the s of X(s), 1..{}: visible "
      "units alone can be gaussian)",
      side, text, Unit::max_steps));
}

double learning_rate(const TrainArguments& arguments) {
  if (arguments.learning_rate > 0) return arguments.learning_rate;
  const Optimiser optimiser = parse_optimiser(arguments.optimiser);
  const bool binary = is_bernoulli(arguments.visible_units) && is_bernoulli(arguments.hidden_units);
  return optimiser.kind == Optimiser::Kind::sgd && !binary ? kWideRate : optimiser.default_rate();
}

Negative negative_of(const TrainArguments& arguments) {
  Negative negative = parse_negative(arguments.negative);
  for (const auto& [name, value] : arguments.negative_options)
    if (!value.empty()) set_negative_option(negative, name, value);
  return negative;
}

int batch_of(const TrainArguments& arguments, int cases, const std::string& data_name) {
  if (arguments.batch > cases)
    throw InvalidArgument(fmt::format("--batch = {} (must be at most the {} cases of {})",
                                      arguments.batch, cases, data_name));
  return arguments.batch > 0 ? arguments.batch : std::min(100, cases);
}

double evaluation_count(const TrainArguments& arguments) {
  return arguments.evaluate > 0 ? 2.0 + arguments.updates / arguments.evaluate : 0.0;
}

Dataset load_training(const TrainArguments& arguments, const std::string& spec, const char* split) {
  Dataset data =
      arguments.draws_cases()
          ? experiments::load_dataset(
                spec, {.kind = BinariseOptions::Kind::grey, .images_only = false}, split)
          : load_cases(spec, arguments.binarise, split, Unit::parse(arguments.visible_units));
  if (arguments.draws_cases()) {
    say_header(data);
    require_grey_levels(data, arguments.binarise);
  }
  fit_values(Unit::parse(arguments.visible_units), data);
  return data;
}

TrainRun::TrainRun(const TrainArguments& arguments, const Session& session)
    : arguments_(arguments),
      session_(session),
      data_(load_training(arguments, arguments.dataset, "train")),
      standardisation_(standardise(arguments, data_)),
      trainer_(make_trainer()) {
  if (arguments_.evaluate > 0) evaluator_.emplace(make_evaluator());
}

Evaluator TrainRun::make_evaluator() {
  const Unit unit = Unit::parse(arguments_.visible_units);
  if (!arguments_.draws_cases()) require_evaluable(data_, unit);
  EvaluatorOptions options{.every = arguments_.evaluate,
                           .training = evaluated_cases(data_),
                           .log_volume = standardisation_ ? standardisation_->log_volume() : 0,
                           .mean_field = {.updates = arguments_.mean_field},
                           .sweeps = tracked_sweeps(model()),
                           .seed = arguments_.seed};
  if (options.sweeps > 0) {
    options.base = base_of(model(), data_.values);
    options.search = mode_search(model(), arguments_.seed, data_.values);
  }
  if (arguments_.validate.empty()) return Evaluator(std::move(options));
  Dataset data = load_training(arguments_, arguments_.validate, "valid");
  if (data.values.rows() != data_.values.rows())
    throw DataError(fmt::format("{}: has {} units (must have {}, as {})", data.name,
                                data.values.rows(), data_.values.rows(), data_.name));
  options.validation_hash = data.values.hash(0);
  if (standardisation_) {
    require_resolution(data, standardisation_->scale());
    apply(*standardisation_, data);
  }
  if (!arguments_.draws_cases()) require_evaluable(data, unit);
  if (are_among(data.values, data_.values))
    overlap_ = fmt::format(
        "all {} validation cases are among the training cases, and tell no over-fitting (of a data set "
        "with splits NAME:fit is NAME:train without NAME:valid)",
        data.values.cols());
  options.validation = evaluated_cases(data, "validation");
  return Evaluator(std::move(options));
}

// Those of a look at a tracked log Z; 0 where it is enumerated.
int TrainRun::tracked_sweeps(const Layered& model) const {
  const EnumerationPlan plan = plan_enumeration(model);
  if (plan.possible && arguments_.evaluate_sweeps == 0) return 0;
  if (model.has_scales())
    throw InvalidArgument(
        plan.possible
            ? std::string("--evaluate-sweeps is given (must not be, with --visible-units gaussian: "
                          "a Gaussian layer is not tempered)")
            : fmt::format("--evaluate would enumerate {} (must be at most {}, with "
                          "--visible-units gaussian, which are not tempered; leave --evaluate out)",
                          plan.excess, plan.most));
  return arguments_.evaluate_sweeps > 0 ? arguments_.evaluate_sweeps : TrackerOptions().sweeps;
}

std::shared_ptr<CaseSource> TrainRun::make_source_of(const Dataset& data, StreamKey key) const {
  const Unit unit = Unit::parse(arguments_.visible_units);
  if (arguments_.draws_cases()) return std::make_shared<DrawnCases>(data.values, unit, key);
  return std::make_shared<GivenCases>(data.values, unit);
}

// Of cases that are drawn anew, those of the first update stand for all.
Cases TrainRun::evaluated_cases(const Dataset& data, std::string_view draws) const {
  if (!arguments_.draws_cases()) return Cases(data.values);
  Chains chains(model(), static_cast<int>(data.values.cols()));
  std::vector<int> all(static_cast<std::size_t>(chains.chains()));
  std::iota(all.begin(), all.end(), 0);
  const StreamKey key = make_key(arguments_.seed, "train");
  make_source_of(data, draws.empty() ? key : derive_key(key, draws))->fill(chains, all, 0);
  return Cases(chains.get_layer(0));
}

Trainer TrainRun::make_trainer(std::optional<Layered> given) const {
  const StreamKey key = make_key(arguments_.seed, "train");
  const auto cases = static_cast<int>(data_.values.cols());
  TrainOptions options{.negative = negative_of(arguments_),
                       .rule = parse_rule(arguments_.rule),
                       .optimiser = parse_optimiser(arguments_.optimiser),
                       .learning_rate = learning_rate(arguments_),
                       .weight_decay = arguments_.weight_decay,
                       .batch = batch_of(arguments_, cases, data_.name),
                       .mean_field = {.updates = arguments_.mean_field},
                       .start_at_cases = !arguments_.start.empty() || !arguments_.pretrain.empty(),
                       .updates = static_cast<std::uint64_t>(arguments_.updates)};
  options.optimiser.momentum = arguments_.momentum;
  options.optimiser.rate_decay = arguments_.rate_decay;
  return about_file(data_.name, [&] {
    if (!given) require_room(options);
    Layered start = given ? std::move(*given) : initial_model(key);
    if (arguments_.evaluate > 0) tracked_sweeps(start);  // refuses
    return Trainer(std::move(start), make_source(key), options, key);
  });
}

std::vector<int> TrainRun::sizes() const {
  std::vector<int> all{static_cast<int>(data_.values.rows())};
  all.insert(all.end(), arguments_.hidden.begin(), arguments_.hidden.end());
  return all;
}

TrainingCost TrainRun::cost_of(const std::vector<int>& sizes, double chain_sweeps,
                               int batch) const {
  TrainingCost cost = training_cost(sizes, {.chain_sweeps = chain_sweeps,
                                            .batch = batch,
                                            .mean_field = arguments_.mean_field,
                                            .updates = arguments_.updates});
  cost.bytes += data_.values.bytes();
  return cost;
}

// Before there is a model. Whole ladders and other chains come to the batch's.
void TrainRun::require_room(const TrainOptions& options) const {
  const std::vector<int> all = sizes();
  const Negative& negative = options.negative;
  const double chains =
      double{1} * std::max(options.batch, negative.chains) * negative.temperatures;
  const TrainingCost cost = cost_of(all, chains * negative.sweeps, options.batch);
  const double units = std::accumulate(all.begin(), all.end(), 0.0);
  require_memory(
      fmt::format("{} updates of {} units, which take about {}", grouped(arguments_.updates),
                  fmt::join(all, "-"), human_seconds(cost.seconds)),
      cost.bytes + 4 * chains * units, kLessTraining);
}

Layered TrainRun::initial_model(StreamKey key) const {
  const std::vector<int> sizes = this->sizes();
  const NetworkUnits units{Unit::parse(arguments_.visible_units),
                           Unit::parse(arguments_.hidden_units)};
  if (!arguments_.start.empty()) return start_model(sizes, units);
  if (arguments_.initial == "xavier") return xavier_network(sizes, key, units);
  return initial_network(sizes, arguments_.initial_sd, key, units);
}

// The model of --start, which must be what the other options and the data say.
Layered TrainRun::start_model(std::span<const int> sizes, NetworkUnits units) const {
  Layered model = load_model(arguments_.start);
  const auto shape = [](std::span<const int> all) {
    return fmt::format("{}", fmt::join(all, "-"));
  };
  const std::vector<int> own = layer_sizes(model);
  if (!std::equal(own.begin(), own.end(), sizes.begin(), sizes.end()))
    throw DataError(fmt::format("{}: is of {} units (must be of {}, as the data and --hidden say)",
                                arguments_.start, shape(own), shape(sizes)));
  for (int l = 0; l < model.layers(); ++l) {
    const Unit unit = l == 0 ? units.visible : units.hidden;
    if (model.layer(l).unit != unit)
      throw DataError(fmt::format("{}: has {} units in layer {} (must have {}: see --{}-units)",
                                  arguments_.start, model.layer(l).unit.name(), l, unit.name(),
                                  l == 0 ? "visible" : "hidden"));
  }
  return standardisation_ ? standardisation_->of_standard_cases(model) : model;
}

std::string TrainRun::model_name() const {
  return fmt::format("{} {}", fmt::join(layer_sizes(model()), "-"),
                     model().is_rbm() ? "RBM" : "Boltzmann machine");
}

namespace {

// What the sampler keeps is what it saves.
double sampler_bytes(const Sampler& sampler) {
  CheckpointWriter out;
  sampler.save(out);
  return static_cast<double>(out.finish().size());
}

}  // namespace

void TrainRun::state_cost(const Preparation& before) const {
  const TrainOptions& options = trainer_.options();
  const TrainingCost cost =
      cost_of(layer_sizes(model()), trainer_.sampler().chain_sweeps(options.negative.sweeps),
              options.batch);
  const double evaluations = evaluation_count(arguments_);
  const double seconds =
      cost.seconds + (evaluator_ ? evaluator_->seconds(model(), evaluations) : 0);
  std::string work = fmt::format(
      "{} updates of a {} by {}{}", grouped(arguments_.updates), model_name(),
      options.negative.description(),
      curves().tracked ? fmt::format(", evaluated {:.0f} times by a tracked log Z", evaluations)
                       : "");
  if (!before.work.empty())
    work = fmt::format("{} ({}), then {} ({})", before.work, human_seconds(before.seconds), work,
                       human_seconds(seconds));
  state_plan(
      session_, work, before.seconds + seconds,
      before.bytes + cost.bytes + sampler_bytes(trainer_.sampler()) +
          (evaluator_ ? evaluator_->bytes(model()) : 0),
      curves().tracked ? "lower --hidden, --batch, --chains or --evaluate-sweeps" : kLessTraining);
}

std::string TrainRun::heading() const {
  return fmt::format("boltzmark train 1, initial {}\n", initial_text(arguments_));
}

const Curves& TrainRun::curves() const {
  static const Curves none;
  return evaluator_ ? evaluator_->curves() : none;
}

bool TrainRun::take_record(std::string_view record) {
  return evaluator_ && evaluator_->restore(record, model());
}

void TrainRun::check_curves(bool goes_on) const {
  if (!arguments_.curves.empty())
    cli::check_curves(arguments_.curves, arguments_.force, goes_on ? &curves() : nullptr);
}

// What no likelihood can be computed of, nor any later command read, is not a result.
void TrainRun::check_range(const Layered& model) const {
  if (const double size = magnitude(list_side(model, 1)); !(size < kUnresolved))
    throw Diverged(trainer_.updates(), fmt::format("its parameters add up to {:.3g}", size));
}

void TrainRun::evaluate() {
  check_range(model());
  const bool fell_before = fell_far(curves());
  if (!evaluator_->evaluate(trainer_)) return;
  if (!arguments_.curves.empty()) write_curves(curves(), arguments_.curves);
  if (!session_.json) print_evaluation(curves().evaluations.back());
  if (!session_.quiet && !session_.json && !fell_before && fell_far(curves()))
    complain(fall_text(curves()));
}

void TrainRun::print_evaluation(const Evaluation& now) {
  if (!printed_) print(evaluation_heading(curves()));
  printed_ = true;
  print(evaluation_line(curves(), now));
  finish_output();
}

void TrainRun::save_model() const {
  const Layered written = standardisation_ ? standardisation_->of_raw_cases(model()) : model();
  check_range(written);
  cli::save_model(written, arguments_.out);
}

std::vector<std::string> TrainRun::warnings() const {
  std::vector<std::string> all;
  const Unit unit = model().layer(0).unit;
  if (arguments_.binarise != "grey" && !arguments_.draws_cases() &&
      !holds_values(unit, data_.values))
    all.push_back(fmt::format("values between those of {} units are taken as means{}", unit.name(),
                              unit.is_bernoulli() ? " (--binarise makes bits of them)" : ""));
  if (!overlap_.empty()) all.push_back(overlap_);
  if (fell_far(curves())) all.push_back(fall_text(curves()));
  if (const std::string text = refused_text(curves()); !text.empty()) all.push_back(text);
  return all;
}

void TrainRun::print_result(std::uint64_t resumed_at) const {
  if (!arguments_.curves.empty()) draw_curves(curves(), arguments_.curves);
  const TrainOptions& options = trainer_.options();
  if (session_.json) {
    print(JsonObject()
              .set("out", arguments_.out)
              .set("visible", model().size(0))
              .set("visible_units", model().layer(0).unit.name())
              .set("hidden", model().size(1))
              .set("layers", layer_sizes(model()))
              .set("hidden_units", model().layer(1).unit.name())
              .set("negative", options.negative.description())
              .set("rule", options.rule.name())
              .set("optimiser", std::string(options.optimiser.name()))
              .set("learning_rate", options.learning_rate)
              .set("batch", options.batch)
              .set("updates", trainer_.updates())
              .set("resumed_at", resumed_at)
              .set("seed", arguments_.seed)
              .set("evaluations", evaluation_objects(curves()))
              .set("seconds", watch_.seconds())
              .set("warnings", warnings()));
    return;
  }
  FactList facts;
  facts.add("wrote", arguments_.out);
  facts.add("model", model_name());
  facts.add("training",
            fmt::format("{} updates of {} cases, {}, {}, {}, rate {}", grouped(trainer_.updates()),
                        options.batch, options.negative.description(), options.rule.name(),
                        options.optimiser.name(), options.learning_rate));
  for (const std::string& warning : warnings()) facts.add("warning", warning);
  facts.add("time", human_seconds(watch_.seconds()));
  if (printed_) print("\n");
  print(facts.text());
}

}  // namespace boltzmark::cli
