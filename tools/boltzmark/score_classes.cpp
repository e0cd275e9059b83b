#include "score_classes.hpp"

#include <fmt/format.h>

#include "boltzmark/diagnose/interval.hpp"
#include "boltzmark/io/discriminative_file.hpp"
#include "boltzmark/learn/discriminative.hpp"
#include "input.hpp"
#include "output.hpp"
#include "progress.hpp"

namespace boltzmark::cli {
namespace {

void print_json(const ClassScore& score, const Interval& rate, double seconds) {
  print(JsonObject()
            .set("method", "exact")
            .set("error_rate", rate.estimate)
            .set("lower", rate.lower)
            .set("upper", rate.upper)
            .set("errors", score.errors)
            .set("cases", score.cases)
            .set("mean_log_likelihood", score.mean_log_likelihood)
            .set("std_error_cases", score.std_error_cases)
            .set("seconds", seconds));
}

void print_text(const ClassScore& score, const Interval& rate, double seconds) {
  FactList facts;
  facts.add("error rate",
            fmt::format("{:.4g} ({} of {} cases), 95 % interval {:.4g} to {:.4g}", rate.estimate,
                        grouped(static_cast<std::uint64_t>(score.errors)),
                        grouped(static_cast<std::uint64_t>(score.cases)), rate.lower, rate.upper));
  facts.add("mean log-likelihood",
            fmt::format("{:.10g} nats per case of the right class", score.mean_log_likelihood));
  facts.add("standard error",
            short_number(score.std_error_cases) + " nats over cases; probabilities are exact");
  facts.add("time", human_seconds(seconds));
  print(facts.text());
}

}  // namespace

int print_class_score(const ClassScoreArguments& arguments, const Session& session) {
  const DiscriminativeRbm model = read_discriminative(arguments.model);
  const Dataset data =
      load_labelled(arguments.dataset, arguments.labels, arguments.binarise, "test");
  if (data.values.rows() != model.inputs())
    throw DataError(fmt::format("{}: has {} units (must be the model's {} inputs)", data.name,
                                data.values.rows(), model.inputs()));
  const Stopwatch watch;
  const ClassScore score = about_file(data.name, [&] {
    return score_classes(model, LabelledCases(data.values, data.labels, model.classes()));
  });
  const double seconds = watch.seconds();
  const Interval rate = proportion_interval(static_cast<std::uint64_t>(score.errors),
                                            static_cast<std::uint64_t>(score.cases));
  session.json ? print_json(score, rate, seconds) : print_text(score, rate, seconds);
  return 0;
}

}  // namespace boltzmark::cli
