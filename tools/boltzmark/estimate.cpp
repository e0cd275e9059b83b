#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/memory.hpp"
#include "boltzmark/estimate/closing.hpp"
#include "boltzmark/estimate/methods.hpp"
#include "boltzmark/estimate/target_error.hpp"
#include "boltzmark/exact/log_z.hpp"
#include "bounds.hpp"
#include "estimate_options.hpp"
#include "input.hpp"
#include "output.hpp"
#include "program.hpp"
#include "progress.hpp"
#include "store_file.hpp"

namespace boltzmark::cli {
namespace {

constexpr double kMostSweeps = 1e7;

struct EstimateRequest {
  std::string model;
  std::string method = "rts";
  std::string dump;
  std::string from;
  double target_error = 0;
  bool force = false;
  EstimateArguments shared;
};

/// An estimate and what it took.
struct Outcome {
  Estimate estimate = {};
  int chains = 0;
  int sweeps = 0;
  int temperatures = 0;
  std::optional<std::string> summed = {};  ///< the layers that marginal weights summed out
  double seconds = 0;
  std::string base = {};
  LowerBound bound = {};
  std::optional<KnownLogZ> known = {};    ///< by the model's file
  std::optional<SampleStore> store = {};  ///< of a run that is to be dumped
  std::vector<Chains> visited = {};       ///< states that it met at b = 1
};

void print_json(const EstimateRequest& arguments, const Outcome& outcome, const Layered* model) {
  const Estimate& estimate = outcome.estimate;
  JsonObject object;
  object.set("method", arguments.method)
      .set("log_z", finite(estimate.log_z))
      .set("std_error", finite(estimate.std_error))
      .set("lower", finite(estimate.lower))
      .set("upper", finite(estimate.upper))
      .set("chains", outcome.chains)
      .set("sweeps", outcome.sweeps)
      .set("temperatures", outcome.temperatures)
      .set("summed", outcome.summed)
      .set("effective_samples", finite(estimate.effective_samples))
      .set("seconds", outcome.seconds)
      .set("seed", arguments.shared.seed);
  if (outcome.base.empty())
    object.set_null("base");
  else
    object.set("base", outcome.base);
  set_lower_bound(outcome.bound, object);
  set_lower_bound_parts(model, outcome.bound, object);
  object.set("known_log_z", outcome.known ? finite(outcome.known->log_z) : std::nullopt);
  print(
      object.set("status", std::string(name(estimate.status))).set("warnings", estimate.warnings));
}

void print_outcome(const EstimateRequest& arguments, const Outcome& outcome, const Layered* model,
                   const Session& session) {
  const Estimate& estimate = outcome.estimate;
  if (session.json) return print_json(arguments, outcome, model);
  FactList facts;
  if (std::isfinite(estimate.log_z))
    facts.add("log Z", fmt::format("{:.4f} nats by {}", estimate.log_z, arguments.method));
  else
    facts.add("log Z", "no estimate: " + estimate.warnings.front());
  if (std::isfinite(estimate.std_error)) {
    facts.add("standard error", short_number(estimate.std_error) + " nats");
    facts.add("95 % interval", fmt::format("{:.4f} .. {:.4f}", estimate.lower, estimate.upper));
  }
  if (const std::string bound = describe_lower_bound(model, outcome.bound); !bound.empty())
    facts.add("log Z at least", bound);
  if (outcome.known && std::isfinite(estimate.log_z))
    facts.add("known log Z",
              fmt::format("{}; the estimate is off by {:+.4f}", known_text(*outcome.known),
                          estimate.log_z - outcome.known->log_z));
  facts.add("status", std::string(name(estimate.status)));
  facts.add("effective samples", fmt::format("{:.0f}", estimate.effective_samples));
  facts.add("work", fmt::format("{} sweeps of {} chains, {} rungs, {}",
                                grouped(static_cast<std::uint64_t>(outcome.sweeps)), outcome.chains,
                                outcome.temperatures, human_seconds(outcome.seconds)));
  if (outcome.summed) facts.add("summed out", *outcome.summed + " layers");
  if (!outcome.base.empty()) facts.add("base", outcome.base);
  for (const std::string& warning : estimate.warnings) facts.add("warning", warning);
  print(facts.text());
}

Outcome by_enumeration(const Layered& model, const Session& session) {
  const ExactLogZ result = enumerate_log_z(model, session);
  return {.estimate = closed({.log_z = result.log_z,
                              .std_error = 0,
                              .lower = result.log_z - result.error_bound,
                              .upper = result.log_z + result.error_bound,
                              .effective_samples = static_cast<double>(result.states)}),
          .seconds = result.seconds};
}

std::vector<Chains> states_of(Populations& populations) {
  std::vector<Chains> states;
  for (int g = 0; g < populations.groups(); ++g)
    states.push_back(
        dynamic_cast<LayeredPopulation&>(populations.group(g)).tempered_chains().states());
  return states;
}

Outcome run_once(const EstimateRequest& arguments, const LayeredTarget& target,
                 const Layered& model, const Session& session, int number) {
  const Stopwatch watch;
  MethodSettings settings = make_settings(model, arguments.shared);
  settings.key = estimate_key(arguments.shared.seed, number);
  const int sweeps = settings.sweeps;
  settings.keep_log_f = !arguments.dump.empty() && settings.states == States::collapsed;
  state_estimate(session, arguments.method, model, arguments.shared, settings);
  Progress progress(session, arguments.method, sweeps, "sweeps");
  adapt_ladder(target, arguments.shared, settings);
  const int pilot = sweeps - settings.sweeps;
  settings.progress = [&](double share) { progress.show(pilot + share * settings.sweeps); };
  TopStates top(target, settings.chains, settings.key);
  settings.top_states = &top;
  const MethodWork work = method_work(arguments.method, settings);
  Outcome outcome{.chains = work.chains,
                  .sweeps = pilot + work.sweeps,
                  .temperatures = work.temperatures,
                  .summed = summed_layers(arguments.method, model, arguments.shared)};
  if (!arguments.dump.empty()) {
    TemperedRun run = run_tempering(target, settings);
    outcome.estimate = estimate_from(arguments.method, run);
    outcome.store = std::move(run.store);
  } else {
    outcome.estimate = estimate_log_z(arguments.method, target, settings);
  }
  outcome.visited = states_of(top.states);
  outcome.seconds = watch.seconds();
  return outcome;
}

// Holds the estimate to what log Z is certainly not below.
void hold_to_bound(const EstimateRequest& arguments, const PreparedTarget& prepared,
                   const Eigen::MatrixXf& cases, Outcome& outcome) {
  const Stopwatch watch;
  outcome.bound = find_lower_bound(prepared.target, arguments.shared.seed, cases, outcome.visited,
                                   prepared.modes);
  refuse_below(outcome.estimate, lowest_log_z(outcome.bound));
  if (std::isnan(outcome.bound.log_z))
    outcome.estimate.refuse(Status::not_converged,
                            "parameters are so large that a double does not resolve a nat");
  outcome.seconds += watch.seconds();
}

// As many as fit into the memory.
int most_sweeps(const EstimateRequest& arguments, const Layered& model) {
  const double bytes =
      method_bytes(arguments.method, make_settings(model, arguments.shared), model) +
      weight_bytes(model);
  const double fit = arguments.shared.sweeps * available_memory() / bytes;
  return static_cast<int>(std::max<double>(arguments.shared.sweeps, std::min(kMostSweeps, fit)));
}

Outcome run_to_target(EstimateRequest arguments, const LayeredTarget& target, const Layered& model,
                      const Session& session) {
  if (arguments.target_error <= 0) return run_once(arguments, target, model, session, 0);
  Outcome outcome;
  double seconds = 0;
  const Estimate estimate =
      estimate_to_error({.std_error = arguments.target_error,
                         .sweeps = arguments.shared.sweeps,
                         .most_sweeps = most_sweeps(arguments, model)},
                        [&](int sweeps, int number) {
                          arguments.shared.sweeps = sweeps;
                          outcome = run_once(arguments, target, model, session, number);
                          seconds += outcome.seconds;
                          return outcome.estimate;
                        });
  outcome.estimate = estimate;
  outcome.seconds = seconds;
  return outcome;
}

Outcome from_store(const EstimateRequest& arguments) {
  const Stopwatch watch;
  const StoredRun run = load_store(arguments.from);
  const SampleStore& store = run.store;
  std::optional<States> states;
  if (!arguments.shared.states.empty()) states = parse_states(arguments.shared.states);
  Outcome outcome{.chains = static_cast<int>(store.chains()),
                  .sweeps = static_cast<int>(store.sweeps()),
                  .temperatures = store.rungs()};
  outcome.estimate =
      about_file(arguments.from, [&] { return estimate_from(arguments.method, store, states); });
  outcome.bound = run.bound;
  refuse_below(outcome.estimate, lowest_log_z(run.bound));
  if (std::isnan(run.bound.log_z))
    outcome.estimate.warnings.emplace_back(
        "the samples were stored without a lower bound of log Z: none is known");
  outcome.seconds = watch.seconds();
  return outcome;
}

// What a store was made with cannot be changed.
void check_from(const EstimateRequest& arguments) {
  if (arguments.model.size() + arguments.dump.size() > 0)
    throw InvalidArgument("--from (must go without MODEL and --dump)");
  std::vector<std::string> idle = given_options(arguments.shared);
  if (find_method(arguments.method).reads_log_f)
    idle.erase(std::remove(idle.begin(), idle.end(), "--states"), idle.end());
  if (arguments.target_error > 0) idle.emplace_back("--target-error");
  if (arguments.force) idle.emplace_back("--force");
  if (!idle.empty())
    throw InvalidArgument(
        fmt::format("--from (must go without {}, which would change nothing)", idle.front()));
}

void check(const EstimateRequest& arguments) {
  const bool exact = arguments.method == "exact";
  const bool tempered = !exact && find_method(arguments.method).source == Source::tempered;
  if (arguments.from.empty() && arguments.model.empty())
    throw InvalidArgument("MODEL is missing (must be given, or --from FILE)");
  if ((!arguments.dump.empty() || !arguments.from.empty()) && !tempered)
    throw InvalidArgument(fmt::format(
        "--method = {} (must be one that reads samples for --dump and --from)", arguments.method));
  if (!arguments.from.empty()) check_from(arguments);
  refuse_idle_options({arguments.method}, arguments.shared);
  if (exact && arguments.target_error > 0)
    throw InvalidArgument("--target-error (must be left out: nothing reads it with exact)");
  if (arguments.force && arguments.dump.empty())
    throw InvalidArgument("--force (must come with --dump)");
  if (!arguments.dump.empty()) {
    if (!arguments.dump.ends_with(".npz"))
      throw DataError(arguments.dump + ": not a name of a sample store (must end with .npz)");
    check_output(arguments.dump, arguments.force);
  }
}

Outcome run_method(const EstimateRequest& arguments, const Layered& model, const Session& session) {
  if (arguments.method == "exact")
    return about_file(arguments.model, [&] { return by_enumeration(model, session); });
  const Stopwatch watch;
  const MethodSettings settings = make_settings(model, arguments.shared);
  require_memory_of(arguments.method, model, arguments.shared, settings);
  const Eigen::MatrixXf& cases = settings.cases;
  const PreparedTarget prepared = make_target(model, arguments.model, arguments.shared, cases);
  const double seconds = watch.seconds();
  Outcome outcome = run_to_target(arguments, prepared.target, model, session);
  outcome.base = prepared.base;
  outcome.seconds += seconds;
  hold_to_bound(arguments, prepared, cases, outcome);
  return outcome;
}

int run(const EstimateRequest& arguments, const Session& session) {
  check(arguments);
  if (!arguments.from.empty()) {
    print_outcome(arguments, from_store(arguments), nullptr, session);
    return 0;
  }
  const Layered model = load_model(arguments.model);
  const std::optional<KnownLogZ> known = load_known_log_z(arguments.model, model);
  Outcome outcome = run_method(arguments, model, session);
  outcome.known = known;
  print_outcome(arguments, outcome, &model, session);
  if (outcome.store) {  // a full disk takes the samples, not the estimate
    finish_output();
    save_store({*outcome.store, outcome.bound}, arguments.dump);
  }
  return 0;
}

constexpr const char* kEstimateNotes =
    "std_error is one standard deviation of log Z, sampling and discretisation together; lower "
    "and\n"
    "upper are 95 % limits. status is ok, unvisited_rung, few_effective_samples, not_converged or\n"
    "below_bound: with any but ok the number is not to be trusted. `boltzmark list estimators` "
    "names\n"
    "the methods.\n"
    "lower_bound is a number that log Z is certainly not below, rounding of lower_bound_error "
    "apart:\n"
    "the sum of f over a list of states of the smaller side, the other summed out, or mean field's\n"
    "bound if that is higher. An estimate whose upper limit is below it is refused as below_bound.\n"
    "JSON keys: method, log_z, std_error, lower, upper, chains, sweeps, temperatures, summed (odd or\n"
    "even; null without marginal weights), effective_samples, seconds, seed, base (uniform, modes or\n"
    "the data set), lower_bound, lower_bound_error, lower_bound_of (side, states, all_states, modes,\n"
    "listed, mean_field), known_log_z (what the model's file says, see `make`), status, warnings;\n"
    "null where there is none.";

}  // namespace

void add_estimate(Program& program) {
  const auto arguments = std::make_shared<EstimateRequest>();
  Command& command = program.command({
      .name = "estimate",
      .summary = "log Z of a model by sampling, with its error",
      .about = "Estimates log Z by a chosen method and says whether the number can be trusted. "
               "Methods compare at equal --sweeps, the initial stage included.",
      .notes = kEstimateNotes,
      .examples = {"boltzmark estimate rbm.npz",
                   "boltzmark estimate rbm.npz --base mnist --method ais --sweeps 100000",
                   "boltzmark estimate rbm.npz --dump run.npz && boltzmark estimate --from run.npz "
                   "--method mbar",
                   "boltzmark estimate rbm.npz --base mnist --target-error 0.05"},
  });
  command.text(&arguments->model, "MODEL", "The model file (.npz or .mat); none with --from.");
  std::vector<std::string> methods;
  for (const Method& method : registered_methods()) methods.push_back(method.name);
  methods.emplace_back("exact");
  command.choice(&arguments->method, "--method M", methods, "How log Z is found (default: rts).");
  add_estimate_options(command, arguments->shared, true);
  command.real(&arguments->target_error, "--target-error E", {.low = 0, .above_low = true},
               "Find the sweeps that make the standard error at most E nats, then run once more "
               "with as many: that run's error did not end the search, so it is as true as any.");
  command.text(
      &arguments->dump, "--dump FILE",
      "Write the samples kept as .npz, for others to check: D and rung (sweeps x chains), beta, "
      "log_prior, log_z_hat, random_rungs, lower_bound, lower_bound_error, and log_f of collapsed "
      "states.");
  command.text(&arguments->from, "--from FILE", "Read samples that --dump wrote; no sampling.");
  command.flag(&arguments->force, "--force", "Replace the dump if it exists.");
  command.writes({"--dump"});
  command.action([arguments](const Session& session) { return run(*arguments, session); });
}

}  // namespace boltzmark::cli
