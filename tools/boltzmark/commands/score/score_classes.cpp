#include "tools/boltzmark/commands/score/score_classes.hpp"

#include <fmt/format.h>

#include <optional>

#include "boltzmark/core/atomic_file.hpp"
#include "boltzmark/io/datasets/binarise.hpp"
#include "boltzmark/io/discriminative_file.hpp"
#include "boltzmark/learn/discriminative.hpp"
#include "experiments/kit/statistics/interval.hpp"
#include "tools/boltzmark/input.hpp"
#include "tools/boltzmark/output.hpp"
#include "tools/boltzmark/progress.hpp"

namespace boltzmark::cli {
namespace {

/// How the inputs are to be binarised, and what is to be said about it.
struct InputKind {
  BinariseOptions binarise;
  std::vector<std::string> warnings;
};

InputKind input_kind(const ClassScoreArguments& arguments) {
  const std::optional<BinariseOptions> trained = read_binarise(arguments.model);
  if (arguments.binarise.empty()) return {trained.value_or(BinariseOptions{}), {}};
  const BinariseOptions given = parse_binarise(arguments.binarise);
  if (!trained || binarise_text(given) == binarise_text(*trained)) return {given, {}};
  return {given,
          {fmt::format("--binarise is {}, but the model was trained with {}", binarise_text(given),
                       binarise_text(*trained))}};
}

/// One line a case.
void write_predictions(const DiscriminativeRbm& model, const LabelledCases& cases,
                       const std::string& path) {
  const Eigen::MatrixXd probabilities = log_class_probabilities(model, cases).array().exp();
  const std::vector<int> classes = predict(model, cases);
  std::string text = "case,class";
  for (int k = 0; k < model.classes(); ++k) text += fmt::format(",p{}", k);
  for (int c = 0; c < cases.count(); ++c) {
    text += fmt::format("\n{},{}", c + 1, classes[static_cast<std::size_t>(c)]);
    for (const double p : probabilities.col(c)) text += fmt::format(",{}", p);
  }
  AtomicFile file(path);
  file.write(text + "\n");
  file.commit();
}

// Of cases whose classes nobody knows.
void print_predicted(int cases, const ClassScoreArguments& arguments, const InputKind& inputs,
                     double seconds, const Session& session) {
  if (session.json) {
    JsonObject object;
    object.set("method", "exact");
    for (const char* none : {"error_rate", "lower", "upper", "errors"}) object.set_null(none);
    object.set("cases", cases).set_null("mean_log_likelihood");
    object.set_null("std_error_cases").set("binarise", binarise_text(inputs.binarise));
    print(object.set("seconds", seconds).set("warnings", inputs.warnings));
    return;
  }
  FactList facts;
  facts.add("wrote", arguments.predictions);
  facts.add("cases",
            fmt::format("{}, without classes", grouped(static_cast<std::uint64_t>(cases))));
  facts.add("inputs", "grey levels of images by " + binarise_text(inputs.binarise));
  facts.add("time", human_seconds(seconds));
  for (const std::string& warning : inputs.warnings) facts.add("warning", warning);
  print(facts.text());
}

void print_json(const ClassScore& score, const Interval& rate, const InputKind& inputs,
                double seconds) {
  print(JsonObject()
            .set("method", "exact")
            .set("error_rate", rate.estimate)
            .set("lower", rate.lower)
            .set("upper", rate.upper)
            .set("errors", score.errors)
            .set("cases", score.cases)
            .set("mean_log_likelihood", score.mean_log_likelihood)
            .set("std_error_cases", score.std_error_cases)
            .set("binarise", binarise_text(inputs.binarise))
            .set("seconds", seconds)
            .set("warnings", inputs.warnings));
}

void print_text(const ClassScore& score, const Interval& rate, const InputKind& inputs,
                double seconds) {
  FactList facts;
  facts.add("error rate",
            fmt::format("{:.4g} ({} of {} cases), 95 % interval {:.4g} to {:.4g}", rate.estimate,
                        grouped(static_cast<std::uint64_t>(score.errors)),
                        grouped(static_cast<std::uint64_t>(score.cases)), rate.lower, rate.upper));
  facts.add("mean log-likelihood",
            fmt::format("{:.10g} nats per case of the right class", score.mean_log_likelihood));
  facts.add("standard error",
            short_number(score.std_error_cases) + " nats over cases; probabilities are exact");
  facts.add("inputs", "grey levels of images by " + binarise_text(inputs.binarise));
  facts.add("time", human_seconds(seconds));
  for (const std::string& warning : inputs.warnings) facts.add("warning", warning);
  print(facts.text());
}

}  // namespace

int print_class_score(const ClassScoreArguments& arguments, const Session& session) {
  const DiscriminativeRbm model = read_discriminative(arguments.model);
  if (!arguments.predictions.empty()) check_output(arguments.predictions, arguments.force);
  const InputKind inputs = input_kind(arguments);
  Dataset data = load_labelled(arguments.dataset, arguments.labels, inputs.binarise, "test",
                               arguments.predictions.empty());
  const bool unknown = data.labels.empty();
  if (unknown) data.labels.assign(static_cast<std::size_t>(data.values.cols()), 0);
  if (!arguments.binarise.empty()) require_grey_levels(data, arguments.binarise);
  if (data.values.rows() != model.inputs())
    throw DataError(fmt::format("{}: has {} units (must be the model's {} inputs)", data.name,
                                data.values.rows(), model.inputs()));
  const Stopwatch watch;
  const LabelledCases cases =
      about_file(arguments.labels.empty() ? data.name : arguments.labels,
                 [&] { return LabelledCases(data.values, data.labels, model.classes()); });
  if (!arguments.predictions.empty()) write_predictions(model, cases, arguments.predictions);
  if (unknown) {
    print_predicted(cases.count(), arguments, inputs, watch.seconds(), session);
    return 0;
  }
  const ClassScore score = score_classes(model, cases);
  const double seconds = watch.seconds();
  const Interval rate = proportion_interval(static_cast<std::uint64_t>(score.errors),
                                            static_cast<std::uint64_t>(score.cases));
  session.json ? print_json(score, rate, inputs, seconds)
               : print_text(score, rate, inputs, seconds);
  return 0;
}

}  // namespace boltzmark::cli
