#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/exact/likelihood.hpp"
#include "boltzmark/exact/log_z.hpp"
#include "boltzmark/io/binarise.hpp"
#include "boltzmark/io/dataset.hpp"
#include "input.hpp"
#include "output.hpp"
#include "program.hpp"
#include "progress.hpp"

namespace boltzmark::cli {
namespace {

struct ScoreArguments {
  std::string model;
  std::string dataset;
  std::string method = "exact";
  std::string binarise = "threshold:127";
};

struct Score {
  double mean_log_likelihood = 0;
  double std_error_cases = 0;  ///< of the mean over cases
  double log_z = 0;
  double seconds = 0;
  std::vector<std::string> warnings = {};
};

// The standard deviation of log f over the cases, over sqrt(N).
double spread_of_mean(const Layered& model, const Cases& cases, double mean_log_f) {
  std::vector<double> squares(cases.distinct());
  parallel_for(squares.size(), [&](std::size_t k) {
    const double deviation = log_unnormalised(model, cases.state(k)) - mean_log_f;
    squares[k] = cases.weight(k) * deviation * deviation;
  });
  double variance = 0;
  for (const double square : squares) variance += square;
  const auto n = static_cast<double>(cases.count());
  return n > 1 ? std::sqrt(variance / (n - 1)) : 0.0;
}

Score score(const Layered& model, const Cases& cases, const Session& session) {
  const Stopwatch watch;
  Score result;
  const double mean = mean_log_f(model, cases);
  result.std_error_cases = spread_of_mean(model, cases, mean);
  {
    const EnumerationPlan plan = plan_enumeration(model);
    const auto states = static_cast<double>(plan.states);
    Progress progress(session, "exact log Z", states, "states");
    ExactOptions options;
    options.progress = [&](double fraction) { progress.show(fraction * states); };
    result.log_z = exact_log_z(model, options).log_z;
  }
  result.mean_log_likelihood = mean - result.log_z;
  result.seconds = watch.seconds();
  if (cases.count() == 1)
    result.warnings.emplace_back("one case: its spread is unknown, std_error_cases is set to 0");
  return result;
}

void print_score(const Score& score, std::size_t cases, const Session& session) {
  if (session.json) {
    print(JsonObject()
              .set("method", "exact")
              .set("mean_log_likelihood", score.mean_log_likelihood)
              .set_null("bound")
              .set("std_error", 0.0)
              .set("std_error_cases", score.std_error_cases)
              .set("log_z", score.log_z)
              .set("seconds", score.seconds)
              .set("status", "ok")
              .set("warnings", score.warnings));
    return;
  }
  FactList facts;
  facts.add("mean log-likelihood", fmt::format("{:.10g} nats per case", score.mean_log_likelihood));
  facts.add("standard error", fmt::format("{} nats over {} cases; log Z is exact",
                                          short_number(score.std_error_cases), grouped(cases)));
  facts.add("log Z", fmt::format("{:.12g} nats", score.log_z));
  facts.add("time", human_seconds(score.seconds));
  for (const std::string& warning : score.warnings) facts.add("warning", warning);
  print(facts.text());
}

int run(const ScoreArguments& arguments, const Session& session) {
  if (arguments.method != "exact")
    throw InvalidArgument(fmt::format(
        "--method = {} (must be exact, the only method of this version)", arguments.method));
  const Layered model = load_model(arguments.model);
  const Dataset data = load_dataset(arguments.dataset, parse_binarise(arguments.binarise), "test");
  if (data.values.rows() != model.size(0))
    throw DataError(fmt::format("{}: has {} units (must be the model's {} visible units)",
                                data.name, data.values.rows(), model.size(0)));
  const EnumerationPlan plan = plan_enumeration(model);
  if (!plan.possible)
    throw DataError(fmt::format("{}: {} (must be at most 40 for an exact score)", arguments.model,
                                plan.side.empty()
                                    ? "neither side is discrete, so no units can be enumerated"
                                    : fmt::format("enumerated units = {}", plan.units)));
  state_plan(session,
             fmt::format("exact score over {} states and {} cases", grouped(plan.states),
                         grouped(static_cast<std::uint64_t>(data.values.cols()))),
             plan.seconds, plan.bytes + 8.0 * static_cast<double>(data.values.size()));
  const Cases cases(data.values);
  const Score result = about_file(arguments.dataset, [&] { return score(model, cases, session); });
  print_score(result, cases.count(), session);
  return 0;
}

}  // namespace

void add_score(Program& program) {
  const auto arguments = std::make_shared<ScoreArguments>();
  Command& command = program.command({
      .name = "score",
      .summary = "mean log-likelihood of a data set under a model",
      .about = "Computes the mean log-likelihood per case, in nats, with log Z by enumeration (at "
               "most 40 units). A data set's name means its test cases.",
      .notes =
          "JSON keys: method, mean_log_likelihood, bound (null: no bound is needed),\n"
          "std_error (of log Z: 0), std_error_cases (of the mean over cases), log_z, seconds,\n"
          "status, warnings.",
      .examples = {"boltzmark score rbm.npz mnist", "boltzmark score rbm.npz mnist:train",
                   "boltzmark score rbm.npz cases.csv --json"},
  });
  command.positional(&arguments->model, "MODEL", "The model file (.npz or .mat).");
  command.positional(&arguments->dataset, "DATASET",
                     "A data set's NAME[:train|valid|test|fit] (default: test), or a file.");
  command.text(&arguments->method, "--method M",
               "How log Z is found: exact, the one method there is (default: exact).");
  command.text(&arguments->binarise, "--binarise B",
               "How grey levels become values: threshold:LEVEL, sample:SEED or grey (default: "
               "threshold:127).");
  command.action([arguments](const Session& session) { return run(*arguments, session); });
}

}  // namespace boltzmark::cli
