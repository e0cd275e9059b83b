#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/estimate/closing.hpp"
#include "boltzmark/exact/likelihood.hpp"
#include "boltzmark/exact/log_z.hpp"
#include "boltzmark/io/binarise.hpp"
#include "boltzmark/io/dataset.hpp"
#include "boltzmark/io/discriminative_file.hpp"
#include "estimate_options.hpp"
#include "input.hpp"
#include "output.hpp"
#include "program.hpp"
#include "progress.hpp"
#include "score_classes.hpp"

namespace boltzmark::cli {
namespace {

struct ScoreArguments {
  std::string model;
  std::string dataset;
  std::string labels;
  std::string predictions;
  bool force = false;
  std::string method = "exact";
  EstimateArguments shared;
};

struct Score {
  double mean_log_f = 0;
  double std_error_cases = 0;  ///< of the mean over cases
  Estimate log_z = {};
  double seconds = 0;
};

// The standard deviation of log f over the cases, over sqrt(N).
double spread_of_mean(const Cases& cases, const Eigen::VectorXd& log_f, double mean_log_f) {
  const double variance = cases.mean((log_f.array() - mean_log_f).square().matrix());
  const auto n = static_cast<double>(cases.count());
  return n > 1 ? std::sqrt(variance / (n - 1)) : 0.0;
}

Estimate log_z_by_sampling(const Layered& model, const ScoreArguments& arguments,
                           const Session& session) {
  const LayeredTarget target = make_target(model, arguments.model, arguments.shared);
  MethodSettings settings = make_settings(model, arguments.shared);
  state_estimate(session, arguments.method, model, settings);
  Progress progress(session, arguments.method, settings.sweeps, "sweeps");
  adapt_ladder(target, arguments.shared, settings);
  settings.progress = [&](double share) { progress.show(share * settings.sweeps); };
  return estimate_log_z(arguments.method, target, settings);
}

Estimate exact_log_z(const Layered& model, const Session& session) {
  const double log_z = enumerate_log_z(model, session).log_z;
  return closed({.log_z = log_z, .std_error = 0, .lower = log_z, .upper = log_z});
}

Score score(const Layered& model, const Cases& cases, const ScoreArguments& arguments,
            const Session& session) {
  const Stopwatch watch;
  Score result;
  const Eigen::VectorXd log_f = log_unnormalised(model, cases);
  result.mean_log_f = cases.mean(log_f);
  result.std_error_cases = spread_of_mean(cases, log_f, result.mean_log_f);
  result.log_z = arguments.method == "exact" ? exact_log_z(model, session)
                                             : log_z_by_sampling(model, arguments, session);
  result.seconds = watch.seconds();
  if (!std::isfinite(result.mean_log_f))  // before what else there is to say
    result.log_z = closed({.log_z = Estimate::kNone, .warnings = {"log f of the cases overflows"}});
  if (cases.count() == 1)
    result.log_z.warnings.emplace_back(
        "one case: its spread is unknown, std_error_cases is set to 0");
  return result;
}

std::string log_z_error(const Score& score, const std::string& method) {
  if (method == "exact") return "log Z is exact";
  if (!std::isfinite(score.log_z.std_error)) return "that of log Z is unknown";
  return short_number(score.log_z.std_error) + " nats of log Z";
}

void print_score(const Score& score, const std::string& method, std::size_t cases,
                 const Session& session) {
  const double mean = score.mean_log_f - score.log_z.log_z;
  const std::string status(name(score.log_z.status));
  if (session.json) {
    print(JsonObject()
              .set("method", method)
              .set("mean_log_likelihood", finite(mean))
              .set_null("bound")
              .set("std_error", finite(score.log_z.std_error))
              .set("std_error_cases", finite(score.std_error_cases))
              .set("log_z", finite(score.log_z.log_z))
              .set("seconds", score.seconds)
              .set("status", status)
              .set("warnings", score.log_z.warnings));
    return;
  }
  FactList facts;
  facts.add("mean log-likelihood", std::isfinite(mean)
                                       ? fmt::format("{:.10g} nats per case", mean)
                                       : "no estimate: " + score.log_z.warnings.front());
  facts.add("standard error",
            fmt::format("{} nats over {} cases; {}", short_number(score.std_error_cases),
                        grouped(cases), log_z_error(score, method)));
  facts.add("log Z", std::isfinite(score.log_z.log_z)
                         ? fmt::format("{:.12g} nats", score.log_z.log_z)
                         : "no estimate");
  facts.add("status", status);
  facts.add("time", human_seconds(score.seconds));
  for (const std::string& warning : score.log_z.warnings) facts.add("warning", warning);
  print(facts.text());
}

void check_units(const Layered& model, const Dataset& data) {
  if (data.values.rows() != model.size(0))
    throw DataError(fmt::format("{}: has {} units (must be the model's {} visible units)",
                                data.name, data.values.rows(), model.size(0)));
}

// Throws unless the plan is possible; `units` names what would be enumerated, `remedy` says what to
// use instead.
void require_plan(const ScoreArguments& arguments, const EnumerationPlan& plan,
                  std::string_view units, std::string_view remedy) {
  if (plan.possible) return;
  throw DataError(
      plan.side.empty()
          ? fmt::format("{}: {} cannot be enumerated, since neither side is discrete ({})",
                        arguments.model, units, remedy)
          : fmt::format("{}: enumerated {} = {} (must be at most {}; {})", arguments.model, units,
                        plan.units, kMostEnumeratedUnits, remedy));
}

// The hidden layers of a deep model are enumerated whatever finds log Z.
void check_size(const ScoreArguments& arguments, const Layered& model) {
  require_plan(arguments, plan_hidden_enumeration(model), "hidden units",
               "likelihoods of deeper models are not estimated; boltzmark estimate finds log Z");
  if (arguments.method == "exact")
    require_plan(arguments, plan_enumeration(model), "units", "--method rts has no limit");
}

// Of a discriminative RBM nothing is sampled: what says how is refused.
int score_classifier(const ScoreArguments& arguments, const Command& command,
                     const Session& session) {
  if (arguments.method != "exact")
    throw InvalidArgument(fmt::format(
        "--method = {} (must be left out: class probabilities are exact)", arguments.method));
  constexpr std::array kOptions = {"--labels",   "--predictions", "--force", "--method",
                                   "--binarise", "--json",        "--quiet", "--threads"};
  for (const Argument& option : command.arguments())
    if (option.is_option() && option.given &&
        std::find(kOptions.begin(), kOptions.end(), option.name) == kOptions.end())
      throw InvalidArgument(option.name +
                            " is given (must be left out: class probabilities are exact)");
  return print_class_score(
      {.model = arguments.model,
       .dataset = arguments.dataset,
       .labels = arguments.labels,
       .binarise = command.given("--binarise") ? arguments.shared.binarise : std::string(),
       .predictions = arguments.predictions,
       .force = arguments.force},
      session);
}

int run(const ScoreArguments& arguments, const Command& command, const Session& session) {
  if (is_discriminative_file(arguments.model)) return score_classifier(arguments, command, session);
  for (const char* option : {"--labels", "--predictions", "--force"})
    if (command.given(option))
      throw InvalidArgument(std::string(option) +
                            " is given (must come with a discriminative RBM)");
  EstimateArguments sampling = arguments.shared;
  sampling.binarise = EstimateArguments().binarise;  // the data's
  refuse_idle_options({arguments.method}, sampling);
  const Layered model = load_model(arguments.model);
  Dataset data = load_dataset(arguments.dataset, parse_binarise(arguments.shared.binarise), "test");
  check_units(model, data);
  check_size(arguments, model);
  fit_values(model.layer(0).unit, data.values);
  const Cases cases(data.values);
  if (arguments.method == "exact") {
    const EnumerationPlan plan = plan_enumeration(model);
    state_plan(session,
               fmt::format("exact score over {} states and {} cases", grouped(plan.states),
                           grouped(static_cast<std::uint64_t>(data.values.cols()))),
               plan.seconds + log_unnormalised_seconds(model, cases.distinct()) / thread_count(),
               plan.bytes + 8.0 * static_cast<double>(data.values.size()));
  }
  about_file(arguments.dataset, [&] { check_cases(model, cases); });
  const Score result =
      about_file(arguments.model, [&] { return score(model, cases, arguments, session); });
  print_score(result, arguments.method, cases.count(), session);
  return 0;
}

}  // namespace

void add_score(Program& program) {
  const auto arguments = std::make_shared<ScoreArguments>();
  Command& command = program.command({
      .name = "score",
      .summary = "mean log-likelihood of a data set under a model",
      .about =
          "Computes the mean log-likelihood per case, in nats, with log Z by enumeration (at "
          "most 40 units) or by any method of `estimate`, whose options it takes. Of a "
          "discriminative RBM it tells the error rate and the mean log-likelihood of the right "
          "classes; grey levels become inputs as in its training, unless --binarise is given. A "
          "data set's name means its test cases.",
      .notes =
          "JSON keys: method, mean_log_likelihood, bound (null: no bound is needed),\n"
          "std_error (of log Z; 0 if exact), std_error_cases (of the mean over cases), log_z, "
          "seconds,\n"
          "status, warnings; of a discriminative RBM: method, error_rate, lower, upper (95 %),\n"
          "errors, cases, mean_log_likelihood, std_error_cases, binarise, seconds, warnings.",
      .examples = {"boltzmark score rbm.npz mnist",
                   "boltzmark score big.npz mnist --method rts --base mnist",
                   "boltzmark score rbm.npz cases.csv --json",
                   "boltzmark score digits.npz mnist:test --predictions digits.csv"},
  });
  command.positional(&arguments->model, "MODEL", "The model file (.npz or .mat).");
  command.positional(&arguments->dataset, "DATASET",
                     "A data set's NAME[:train|valid|test|fit] (default: test), or a file.");
  std::vector<std::string> methods = {"exact"};
  for (const Method& method : registered_methods()) methods.push_back(method.name);
  command.text(&arguments->labels, "--labels FILE",
               "Of a discriminative RBM: the cases' classes, from 0, for a data set without labels "
               "(IDX, .npy or text).");
  command.text(&arguments->predictions, "--predictions FILE",
               "Of a discriminative RBM: write each case's likeliest class and the probability of "
               "every class to FILE (.csv).");
  command.flag(&arguments->force, "--force", "Replace that file if it exists.");
  command.choice(&arguments->method, "--method M", methods, "How log Z is found (default: exact).");
  add_estimate_options(command, arguments->shared, true);
  command.action(
      [arguments, &command](const Session& session) { return run(*arguments, command, session); });
}

}  // namespace boltzmark::cli
