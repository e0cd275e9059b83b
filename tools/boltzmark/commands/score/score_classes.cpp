#include "tools/boltzmark/commands/score/score_classes.hpp"

#include <fmt/format.h>

#include <optional>

#include "boltzmark/core/atomic_file.hpp"
#include "boltzmark/io/binarise.hpp"
#include "boltzmark/io/model_file.hpp"
#include "boltzmark/learn/classes/discriminative.hpp"
#include "experiments/kit/statistics/interval.hpp"
#include "tools/boltzmark/input.hpp"
#include "tools/boltzmark/output.hpp"
#include "tools/boltzmark/progress.hpp"

namespace boltzmark::cli {
namespace {

/// How grey levels among the inputs are to be binarised, and what is to be said about it.
struct InputKind {
  BinariseOptions binarise;
  bool grey_levels = false;  ///< that there were any
  std::vector<std::string> warnings = {};

  std::optional<BinariseOptions> used() const {
    return grey_levels ? std::optional(binarise) : std::nullopt;
  }
};

InputKind input_kind(const std::string& model, const std::string& binarise) {
  const std::optional<BinariseOptions> trained = read_binarise(model);
  if (binarise.empty()) return {.binarise = trained.value_or(BinariseOptions{})};
  const BinariseOptions given = parse_binarise(binarise);
  if (!trained || binarise_text(given) == binarise_text(*trained)) return {.binarise = given};
  return {.binarise = given,
          .warnings = {fmt::format("--binarise is {}, but the model was trained with {}",
                                   binarise_text(given), binarise_text(*trained))}};
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

// What the classes tell; none where nobody knows them.
struct Judged {
  ClassScore score;
  Interval rate;
};

void print_json(int cases, const std::optional<Judged>& judged, const InputKind& inputs,
                double seconds) {
  const auto [score, rate] = judged.value_or(Judged{});
  const auto told = [known = judged.has_value()](auto value) {
    return known ? std::optional(value) : std::nullopt;
  };
  print(JsonObject()
            .set("method", "exact")
            .set("error_rate", told(rate.estimate))
            .set("lower", told(rate.lower))
            .set("upper", told(rate.upper))
            .set("errors", told(score.errors))
            .set("cases", cases)
            .set("mean_log_likelihood", told(score.mean_log_likelihood))
            .set("std_error_cases", cases == 1 ? std::nullopt : told(score.std_error_cases))
            .set("binarise", text_of(inputs.used()))
            .set("seconds", seconds)
            .set("warnings", inputs.warnings));
}

void add_judged(const Judged& judged, FactList& facts) {
  const auto& [score, rate] = judged;
  facts.add("error rate",
            fmt::format("{:.4g} ({} of {} cases), 95 % interval {:.4g} to {:.4g}", rate.estimate,
                        grouped(score.errors), grouped(score.cases), rate.lower, rate.upper));
  facts.add("mean log-likelihood",
            fmt::format("{:.10g} nats per case of the right class", score.mean_log_likelihood));
  if (score.cases > 1)
    facts.add("standard error",
              short_number(score.std_error_cases) + " nats over cases; probabilities are exact");
}

void print_text(int cases, const std::optional<Judged>& judged, const InputKind& inputs,
                double seconds) {
  FactList facts;
  if (judged)
    add_judged(*judged, facts);
  else
    facts.add("cases", grouped(cases) + ", without classes");
  facts.add("inputs", inputs_text(inputs.used()));
  facts.add("time", human_seconds(seconds));
  for (const std::string& warning : inputs.warnings) facts.add("warning", warning);
  print(facts.text());
}

}  // namespace

int print_class_score(const ClassScoreArguments& arguments, const std::string& binarise,
                      const Session& session) {
  const DiscriminativeRbm model = read_discriminative(arguments.model);
  if (!arguments.predictions.empty()) {
    if (!arguments.predictions.ends_with(".csv"))
      throw DataError(arguments.predictions +
                      ": its name does not say the format (must end in .csv)");
    check_output(arguments.predictions, arguments.force);
  }
  InputKind inputs = input_kind(arguments.model, binarise);
  Dataset data = load_labelled(arguments.dataset, arguments.labels, inputs.binarise, "test",
                               arguments.predictions.empty());
  inputs.grey_levels = data.grey_levels;
  if (data.values.cols() == 1) inputs.warnings.emplace_back("one case: its spread is unknown");
  const bool unknown = data.labels.empty();
  if (unknown) data.labels.assign(static_cast<std::size_t>(data.values.cols()), 0);
  if (!binarise.empty()) require_grey_levels(data, binarise);
  if (data.values.rows() != model.inputs())
    throw DataError(fmt::format("{}: has {} units (must be the model's {} inputs)", data.name,
                                data.values.rows(), model.inputs()));
  const Stopwatch watch;
  const LabelledCases cases =
      about_file(arguments.labels.empty() ? data.name : arguments.labels,
                 [&] { return LabelledCases(data.values, data.labels, model.classes()); });
  if (!arguments.predictions.empty()) write_predictions(model, cases, arguments.predictions);
  std::optional<Judged> judged;
  if (!unknown) {
    const ClassScore score = score_classes(model, cases);
    judged = {score, proportion_interval(static_cast<std::uint64_t>(score.errors),
                                         static_cast<std::uint64_t>(score.cases))};
  }
  const double seconds = watch.seconds();
  session.json ? print_json(cases.count(), judged, inputs, seconds)
               : print_text(cases.count(), judged, inputs, seconds);
  return 0;
}

}  // namespace boltzmark::cli
