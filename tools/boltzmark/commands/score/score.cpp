#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/estimate/closing.hpp"
#include "boltzmark/exact/likelihood/likelihood.hpp"
#include "boltzmark/exact/log_z.hpp"
#include "boltzmark/io/binarise.hpp"
#include "boltzmark/io/dataset.hpp"
#include "boltzmark/io/model_file.hpp"
#include "tools/boltzmark/bounds.hpp"
#include "tools/boltzmark/commands/estimate/estimate_options.hpp"
#include "tools/boltzmark/commands/estimate/estimate_run.hpp"
#include "tools/boltzmark/commands/score/score_classes.hpp"
#include "tools/boltzmark/commands/score/score_deep.hpp"
#include "tools/boltzmark/commands/score/score_result.hpp"
#include "tools/boltzmark/input.hpp"
#include "tools/boltzmark/output.hpp"
#include "tools/boltzmark/program.hpp"
#include "tools/boltzmark/progress.hpp"

namespace boltzmark::cli {
namespace {

struct ScoreArguments : ClassScoreArguments {
  std::string method;  ///< empty: exact, or ais for the bound of a deep model that is too large
  bool strict = false;
  EstimateArguments shared;
  DeepOptions deep;
  bool enumerate_cases = true;  ///< log f(v); false: it is bounded alone
};

// Without being asked to, a deep model is enumerated for so many seconds at most, and its cases
// beside a sampled log Z for so many: of one core, so that no result depends on the threads.
constexpr double kExactSeconds = 600, kCasesSeconds = 30;

// As `estimate` does; writes the lower bound that climbs from the cases, too, find.
Estimate log_z_by_sampling(const Layered& model, const CaseValues& cases,
                           const ScoreArguments& arguments, const Session& session,
                           double& lowest) {
  require_memory_of(arguments.method, model, arguments.shared,
                    make_settings(model, arguments.shared));
  const PreparedTarget prepared = make_target(model, arguments.model, arguments.shared, cases);
  const EstimateOutcome outcome =
      run_held({.model = arguments.model, .method = arguments.method, .shared = arguments.shared},
               prepared, cases, session);
  lowest = outcome.bound.lowest();
  return outcome.estimate;
}

Estimate exact_log_z(const Layered& model, const Session& session) {
  const double log_z = enumerate_log_z(model, session).log_z;
  return closed({.log_z = log_z, .std_error = 0, .lower = log_z, .upper = log_z});
}

// Whether mean field bounds log f(v).
bool is_bounded(const Layered& model) { return !model.is_rbm() && !model.has_scales(); }

void add_bound(const Layered& model, const Cases& cases, const ScoreArguments& arguments,
               Score& result) {
  result.bound = bound_cases(model, cases, parse_mean_field(arguments.deep.mean_field));
  if (!arguments.enumerate_cases) result.std_error_cases = result.bound->std_error_cases;
  if (result.bound->not_converged == 0) return;
  std::string warning = fmt::format(
      "mean field of {} different cases had not converged after {} updates: their bound is one, but "
      "not the best",
      result.bound->not_converged, result.bound->updates);
  if (arguments.enumerate_cases)
    result.log_z.warnings.push_back(std::move(warning));  // what is exact stands without it
  else
    result.log_z.refuse(Status::not_converged, std::move(warning));
}

void add_true_cases(const Layered& model, const Dataset& data, const ScoreArguments& arguments,
                    const Session& session, Score& result) {
  MethodSettings settings = make_settings(model, arguments.shared);
  result.true_cases = estimate_true_cases(model, data, arguments.deep, settings, session);
}

// True cases are estimated themselves; of binary ones none is more probable than 1.
void refuse_impossible(const Layered& model, Score& result) {
  if (!result.true_cases || !model.layer(0).unit.is_bernoulli()) return;
  const double room = 4 * (result.log_z.std_error + result.true_cases->std_error) +
                      1e-9 * std::max(1.0, std::abs(result.log_z.log_z));
  if (result.true_cases->mean_log_f - result.log_z.log_z > room)
    result.true_cases->refuse(Status::not_converged,
                              "the true cases would be more probable than 1: log Z is too low");
}

// The cases are states too: together they may prove more than the search.
void hold_to_cases(double lowest, Score& result) {
  if (!(lowest > result.lowest || std::isnan(result.lowest))) return;
  result.lowest = lowest;
  if (result.log_z.status != Status::below_bound) refuse_below(result.log_z, lowest);
}

Score score(const Layered& model, const Dataset& data, const Cases& cases,
            const ScoreArguments& arguments, const Session& session) {
  const Stopwatch watch;
  Score result;
  Eigen::VectorXd log_f;
  if (arguments.enumerate_cases) {
    log_f = log_unnormalised(model, cases);
    result.mean_log_f = cases.mean(log_f);
    result.std_error_cases = spread_of_mean(cases, log_f, result.mean_log_f);
  }
  const bool exact = is_exact(arguments.method);
  result.log_z = exact ? exact_log_z(model, session)
                       : log_z_by_sampling(model, data.values, arguments, session, result.lowest);
  result.summed = summed_layers(arguments.method, model, arguments.shared);
  if (is_bounded(model)) {
    add_bound(model, cases, arguments, result);
    if (!arguments.enumerate_cases) log_f = result.bound->log_f;
  }
  if (!exact) hold_to_cases(lowest_by_cases(model, cases, log_f), result);
  if (arguments.deep.true_cases > 0) add_true_cases(model, data, arguments, session, result);
  result.seconds = watch.seconds();
  if (arguments.enumerate_cases &&
      !std::isfinite(result.mean_log_f))  // before what else there is to say
    result.log_z = closed({.log_z = Estimate::kNone, .warnings = {"log f of the cases overflows"}});
  refuse_impossible(model, result);
  if (result.true_cases)
    for (const std::string& warning : result.true_cases->warnings)
      result.log_z.warnings.push_back(warning);
  if (cases.count() == 1) {
    result.std_error_cases = Estimate::kNone;
    result.log_z.warnings.emplace_back("one case: its spread is unknown");
  }
  return result;
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
      : plan.units > kMostEnumeratedUnits
          ? fmt::format("{}: enumerated {} = {} (must be at most {}; {})", arguments.model, units,
                        plan.units, plan.most, remedy)
          : fmt::format("{}: {} {} have {} (must be at most {}; {})", arguments.model, plan.units,
                        units, plan.excess, plan.most, remedy));
}

// What log f(v) of all cases takes on one core, in seconds; infinite if it cannot be enumerated.
double enumeration_seconds(const Layered& model, const Dataset& data) {
  if (!plan_hidden_enumeration(model).possible) return std::numeric_limits<double>::infinity();
  return log_unnormalised_seconds(model, static_cast<std::size_t>(data.values.cols()));
}

// The method that was asked for, or else the exact one where it can be.
std::string choose_method(const ScoreArguments& arguments, const Layered& model,
                          const Dataset& data) {
  if (!arguments.method.empty()) return arguments.method;
  const EnumerationPlan plan = plan_enumeration(model);
  const bool soon =
      plan.possible &&
      plan.seconds * thread_count() + enumeration_seconds(model, data) < kExactSeconds;
  return soon || !is_bounded(model) ? kExact : "ais";
}

void check_size(const ScoreArguments& arguments, const Layered& model) {
  const bool exact = is_exact(arguments.method);
  if (exact || !is_bounded(model))
    require_plan(arguments, plan_hidden_enumeration(model), "hidden units",
                 is_bounded(model) ? "without --method its bound is found"
                                   : "Gaussian layers have no mean-field bound");
  if (exact)
    require_plan(arguments, plan_enumeration(model), "units",
                 model.has_scales() ? "a Gaussian layer is not tempered: no other method serves"
                 : model.is_rbm()   ? "--method rts has no limit"
                                    : "without --method it is estimated");
}

void refuse_deep_options(const Command& command) {
  command.refuse_given(
      {"--mean-field", "--true-cases"},
      "is given (must come with a model of two hidden layers or more and no Gaussian one)");
}

// Of a discriminative RBM nothing is sampled: what says how is refused.
int score_classifier(const ScoreArguments& arguments, const Command& command,
                     const Session& session) {
  refuse_deep_options(command);
  if (!arguments.method.empty() && !is_exact(arguments.method))
    throw InvalidArgument(fmt::format(
        "--method = {} (must be left out: class probabilities are exact)", arguments.method));
  constexpr std::array kOptions = {"--labels",   "--predictions", "--force", "--method",
                                   "--binarise", "--json",        "--quiet", "--threads"};
  for (const Argument& option : command.arguments())
    if (option.is_option() && option.given &&
        std::find(kOptions.begin(), kOptions.end(), option.name) == kOptions.end())
      throw InvalidArgument(option.name +
                            " is given (must be left out: class probabilities are exact)");
  return print_class_score(arguments, arguments.shared.binarise, session);
}

int run(const ScoreArguments& given, const Command& command, const Session& session) {
  ScoreArguments arguments = given;
  if (is_discriminative_file(arguments.model)) return score_classifier(arguments, command, session);
  command.refuse_given({"--labels", "--predictions"},
                       "is given (must come with a discriminative RBM)");
  const Layered model = load_model(arguments.model);
  if (!is_bounded(model)) refuse_deep_options(command);
  parse_mean_field(arguments.deep.mean_field);
  const Dataset data = load_cases_of(model, arguments.dataset, arguments.shared.binarise, "test");
  if (arguments.deep.true_cases > data.values.cols())
    throw InvalidArgument(fmt::format("--true-cases = {} (must be at most the {} cases of {})",
                                      arguments.deep.true_cases, data.values.cols(), data.name));
  arguments.method = choose_method(arguments, model, data);
  arguments.enumerate_cases = is_exact(arguments.method) || !is_bounded(model) ||
                              enumeration_seconds(model, data) < kCasesSeconds;
  EstimateArguments sampling = arguments.shared;
  sampling.binarise = EstimateArguments().binarise;  // the data's
  std::vector<std::string> methods{arguments.method};
  if (arguments.deep.true_cases > 0) methods.emplace_back("ais");
  refuse_idle_options(methods, sampling);
  EstimateArguments of_log_z;  // which true cases do not read
  of_log_z.summed = sampling.summed;
  of_log_z.states = sampling.states;
  of_log_z.base = sampling.base;
  of_log_z.base_smoothing = sampling.base_smoothing;
  of_log_z.data = sampling.data;
  refuse_idle_options({arguments.method}, of_log_z);
  if (!sampling.data.empty() && !find_method(arguments.method).reads.cases)
    throw InvalidArgument(fmt::format(
        "--data (must be left out: with {} the search for a lower bound climbs from the cases of {})",
        arguments.method, arguments.dataset));
  check_size(arguments, model);
  const Cases cases(data.values);
  if (is_exact(arguments.method)) {
    const EnumerationPlan plan = plan_enumeration(model);
    state_plan(session,
               fmt::format("exact score over {} states and {} cases", grouped(plan.states),
                           grouped(data.values.cols())),
               plan.seconds + log_unnormalised_seconds(model, cases.distinct()) / thread_count(),
               plan.bytes + data.values.bytes() + 4.0 * static_cast<double>(data.values.size()),
               "lower --threads or take fewer cases");
  }
  about_file(arguments.dataset, [&] { check_cases(model, cases); });
  const Score result =
      about_file(arguments.model, [&] { return score(model, data, cases, arguments, session); });
  print_score(result, arguments.method, cases.count(), session);
  Estimate gravest = result.log_z;
  if (result.true_cases) gravest.status = std::max(gravest.status, result.true_cases->status);
  return exit_code(gravest, arguments.strict);
}

}  // namespace

void add_score(Program& program) {
  const auto arguments = std::make_shared<ScoreArguments>();
  Command& command = program.command({
      .name = "score",
      .summary = "mean log-likelihood of a data set under a model",
      .about =
          "Computes the mean log-likelihood per case, in nats, with log Z by enumeration (at "
          "most 40 units) or by any method of `estimate`, whose options it takes. Of a deep model "
          "it also tells mean field's lower bound, and the bound alone where enumeration would take long "
          "(ten minutes of a core; of the cases beside a sampled log Z, 30 s) or needs more than 40 units. Of a "
          "discriminative RBM it tells the error rate and the mean log-likelihood of the right "
          "classes; grey levels become inputs as in its training, unless --binarise is given. A "
          "data set's name means its test cases.",
      .notes =
          "JSON keys: method, mean_log_likelihood (null if only bounded), bound (of deep models\n"
          "without Gaussian layers, else null), of these mean_field_updates (made, the most of any\n"
          "cases) and with --true-cases\n"
          "true_cases, true_mean_log_likelihood, true_std_error (of AIS and log Z), true_status,\n"
          "true_std_error_cases,\n"
          "true_bound (of the same cases),\n"
          "std_error (of log Z; 0 if exact), std_error_cases (of the mean over cases; null of\n"
          "one), log_z, summed (layers, as of estimate), lower_bound (what log Z is certainly not\n"
          "below, the cases' own sum included; null if log Z is exact), seconds, status, warnings;\n"
          "of a discriminative RBM: method, error_rate, lower, upper (95 %), errors, cases,\n"
          "mean_log_likelihood, std_error_cases (null without labels, or of one case), binarise (null:\n"
          "no grey levels), seconds, warnings.",
      .examples =
          {"boltzmark score rbm.npz mnist",
           "boltzmark score big.npz mnist --method rts --base mnist",
           "boltzmark score rbm.npz cases.csv --json",
           "boltzmark score dbm.npz mnist --binarise sample:1 --sweeps 20000 --true-cases 100",
           "boltzmark score digits.npz mnist:test --predictions digits.csv"},
  });
  command.positional(&arguments->model, "MODEL", "The model file (.npz or .mat).");
  command.positional(&arguments->dataset, "DATASET",
                     "A data set's NAME[:train|valid|test|fit] (default: test), or a file.");
  std::vector<std::string> methods = {kExact};
  for (const Method& method : registered_methods()) methods.push_back(method.name);
  command.text(&arguments->labels, "--labels FILE",
               "Of a discriminative RBM: the cases' classes, from 0, for a data set without labels "
               "(IDX, .npy or text).");
  command.text(&arguments->predictions, "--predictions FILE",
               "Of a discriminative RBM: write each case's likeliest class and the probability of "
               "every class to FILE (.csv); cases need no labels then.");
  command.flag(&arguments->force, "--force", "Replace that file if it exists.");
  command.comes_with("--force", {"--predictions"});
  command.choice(&arguments->method, "--method M", methods,
                 "How log Z is found (default: exact; ais for a deep model that is too large).");
  command.text(
      &arguments->deep.mean_field, "--mean-field N",
      "Of a deep model: updates of its hidden units' means, or converge (default: converge, "
      "at most 1000). Where they still move, a bound alone has the status not_converged.");
  command.integer(&arguments->deep.true_cases, "--true-cases N", 1,
                  "Of a deep model: also estimate log p(v) of N cases by AIS over their hidden "
                  "layers, evenly spread over the classes where there are labels, of which each "
                  "counts by its share of all cases.");
  add_estimate_options(command, arguments->shared, true);
  add_strict(command, arguments->strict);
  command.writes({"--predictions"});
  command.reads_models("MODEL");
  command.action(
      [arguments, &command](const Session& session) { return run(*arguments, command, session); });
}

}  // namespace boltzmark::cli
