#include "tools/boltzmark/commands/estimate/estimate_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/memory.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/estimate/closing.hpp"
#include "boltzmark/estimate/held/attempts.hpp"
#include "boltzmark/estimate/held/held.hpp"
#include "boltzmark/estimate/held/held_estimate.hpp"
#include "boltzmark/estimate/held/hold_to_switches.hpp"
#include "boltzmark/estimate/held/stored_rungs.hpp"
#include "boltzmark/estimate/methods.hpp"
#include "boltzmark/exact/log_z.hpp"
#include "boltzmark/io/sha256.hpp"
#include "experiments/kit/ranks/chain_ranks.hpp"
#include "tools/boltzmark/bounds.hpp"
#include "tools/boltzmark/input.hpp"
#include "tools/boltzmark/on_ranks.hpp"
#include "tools/boltzmark/output.hpp"
#include "tools/boltzmark/progress.hpp"
#include "tools/boltzmark/store_file.hpp"

namespace boltzmark::cli {
namespace {

constexpr double kMostSweeps = 1e7;
constexpr int kAttempts = 4;
constexpr int kForetoldCores = 2;  // whatever the machine, so that each makes the same attempts

EstimateOutcome by_enumeration(const Layered& model, const Session& session) {
  const ExactLogZ result = enumerate_log_z(model, session);
  return {.estimate = closed({.log_z = result.log_z,
                              .std_error = 0,
                              .lower = result.log_z - result.error_bound,
                              .upper = result.log_z + result.error_bound,
                              .effective_samples = static_cast<double>(result.states)}),
          .seconds = result.seconds};
}

// Names what a run depends on but its options and its model.
std::string identity(const MethodSettings& settings, const Base& base) {
  std::string bytes = std::to_string(settings.cases.hash(0));
  const auto add = [&](const auto& values) {
    bytes.append(reinterpret_cast<const char*>(values.data()), sizeof(values[0]) * values.size());
  };
  if (settings.ladder) add(settings.ladder->singles());
  for (const Eigen::VectorXd& logits : base.logits) add(logits);
  return sha256(bytes.data(), bytes.size());
}

// What rank 0 decides: memory and cores may be others elsewhere. One process decides itself.
std::string decided(const Session& session, const std::string& own) {
  return session.ranks ? session.ranks->broadcast(own) : own;
}

// Refuses before anything is run what half of the sweeps is too little for.
void check_other_way(const EstimateRequest& arguments, MethodSettings settings, int sweeps) {
  settings.sweeps = sweeps;
  settings.top_start = [](Population&, int) {};
  try {
    method_work(arguments.method, settings);
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(fmt::format("--sweeps = {} with --both-ways, half of them each way: {}",
                                      arguments.shared.sweeps, error.what()));
  }
}

// Holds the estimate to chains that go the other way, of these settings but for their draws and, of chains
// that draw their rungs, their weights.
void go_other_way(const std::string& method, const LayeredTarget& target, const Modes& modes,
                  MethodSettings settings, MethodRuns& runs, EstimateOutcome& outcome) {
  settings.key = derive_key(settings.key, "other way");
  if (find_method(method).source == Source::tempered && settings.tempering != Tempering::parallel)
    settings.log_z_hat = runs.tempered().store.log_z_hat;
  outcome.both_ways =
      find_method(method).other_way(find_method(method), outcome.estimate, target, modes, settings);
  outcome.sweeps += method_work(method, settings).sweeps;
  hold_to_gap(*outcome.both_ways, outcome.estimate);
}

EstimateOutcome run_once(const EstimateRequest& arguments, const PreparedTarget& prepared,
                         const FoundStates& found, const Layered& model, const Session& session,
                         int number) {
  const Stopwatch watch;
  const LayeredTarget& target = prepared.target;
  MethodSettings settings = make_settings(model, arguments.shared);
  settings.key = attempt_key(arguments.shared.seed, number);
  const int sweeps = settings.sweeps;
  settings.keep_log_f = !arguments.dump.empty() && settings.states == States::collapsed;
  together(session, "memory", [&] {
    state_estimate(session, arguments.method, model, arguments.shared, settings, prepared.base);
    return std::string();
  });
  SharedChains shared;
  if (session.ranks) settings.shared = &(shared = experiments::share_chains(*session.ranks));
  Progress progress(session, arguments.method, sweeps, "sweeps");
  adapt_ladder(target, arguments.shared, settings);
  const int pilot = sweeps - settings.sweeps;
  // A model without modes is beyond arithmetic, and hold_to_bound refuses it.
  const int other = arguments.both_ways && found.modes ? settings.sweeps / 2 : 0;
  if (other > 0) check_other_way(arguments, settings, other);
  settings.sweeps -= other;
  settings.progress = [&](double share) { progress.show(pilot + share * settings.sweeps); };
  const MethodWork work = method_work(arguments.method, settings);
  EstimateOutcome outcome{.chains = work.chains,
                          .sweeps = pilot + work.sweeps,
                          .temperatures = work.temperatures,
                          .sampler = sampler_of(arguments.method, arguments.shared),
                          .summed = summed_layers(arguments.method, model, arguments.shared)};
  MethodRuns runs(target, settings);
  outcome.estimate = runs.estimate(arguments.method);
  if (other > 0) {
    settings.sweeps = other;
    settings.progress = [&](double share) { progress.show(sweeps - other + share * other); };
    go_other_way(arguments.method, target, *found.modes, settings, runs, outcome);
  }
  if (!arguments.dump.empty())
    outcome.store =
        settings.tempering == Tempering::parallel ? runs.replicas() : runs.tempered().store;
  outcome.visited = visited_states(runs.top_states());
  if (session.ranks && find_method(arguments.method).shares_states)
    outcome.visited.states = {
        gather_states(*session.ranks, model, settings.chains, outcome.visited.states)};
  outcome.seconds = watch.seconds();
  return outcome;
}

// What the searches find, a tempered one too where the method's run is none as thorough: a base near
// some modes hides the others from it.
FoundStates find_before(const EstimateRequest& arguments, const PreparedTarget& prepared,
                        const CaseValues& cases) {
  MethodSettings settings;
  set_sampler(arguments.shared, settings);
  const std::uint64_t seed = arguments.shared.seed;
  return boltzmark::find_before(
      prepared.target, mode_search(prepared.target.tempered_model().model, seed, cases), seed,
      prepared.chosen,
      prepared.base != "uniform" || !tempers_collapsed(find_method(arguments.method), settings));
}

// Holds the estimate to what log Z is certainly not below, be it known from before or found now.
void hold_to_bound(const EstimateRequest& arguments, const PreparedTarget& prepared,
                   const CaseValues& cases, const FoundStates& found, const LowerBound& before,
                   EstimateOutcome& outcome) {
  const Stopwatch watch;
  const ModeSearch search =
      mode_search(prepared.target.tempered_model().model, arguments.shared.seed, cases);
  const Held held =
      hold_to_found(prepared.target, search, outcome.visited, found, outcome.estimate, before);
  outcome.bound = held.bound;
  if (held.met) {
    outcome.phases = held.met->phases;
    outcome.switches = held.met->switches;
  }
  outcome.seconds += watch.seconds();
}

// As many as fit into the memory.
int most_sweeps(const EstimateRequest& arguments, const Layered& model, const Session& session) {
  const double bytes =
      ranks_here(session) *
      (method_bytes(arguments.method, make_settings(model, arguments.shared), model) +
       weight_bytes(model));
  const double fit = arguments.shared.sweeps * available_memory() / bytes;
  const auto most =
      static_cast<int>(std::max<double>(arguments.shared.sweeps, std::min(kMostSweeps, fit)));
  return std::stoi(decided(session, std::to_string(most)));
}

// No number of sweeps brings the error below what single precision changes of log f.
void require_resolvable(double target_error, const LowerBound& bound) {
  if (!is_resolved(bound))
    throw InvalidArgument(fmt::format(
        "--target-error = {} (must be left out: single precision does not resolve this model)",
        target_error));
  if (bound.log_f_rounding > std::max(kUntoldRounding, target_error))
    throw InvalidArgument(fmt::format(
        "--target-error = {} (must be above the {:.2g} nats by which single precision rounds log f)",
        target_error, bound.log_f_rounding));
}

struct Foretold {
  double seconds = 0;  // on kForetoldCores
  double bytes = 0;
};

Foretold foretell(EstimateArguments arguments, const std::string& method, const Layered& model,
                  int sweeps) {
  arguments.sweeps = sweeps;
  const MethodSettings settings = make_settings(model, arguments);
  const double seconds = sweep_seconds(model, double{1} * sweeps * settings.chains) +
                         estimator_seconds(method, settings);
  return {.seconds = seconds * thread_count() / kForetoldCores,
          .bytes = method_bytes(method, settings, model) + weight_bytes(model)};
}

/// One run after the other on a prepared target, each held to what log Z is certainly not below.
struct Runs {
  EstimateRequest arguments;
  const PreparedTarget& prepared;
  const CaseValues& cases;
  const FoundStates& found;
  const Layered& model;
  const Session& session;
  EstimateOutcome outcome = {};  // of the last
  std::vector<Attempt> attempts = {};
  double planned = 0;  // seconds foretold of those made
  double seconds = 0;

  Foretold foretold(int sweeps) const {
    return foretell(arguments.shared, arguments.method, model, sweeps);
  }

  const Estimate& run(int sweeps, int number) {
    planned += foretold(sweeps).seconds;
    arguments.shared.sweeps = sweeps;
    const LowerBound before = outcome.bound;
    outcome = run_once(arguments, prepared, found, model, session, number);
    hold_to_bound(arguments, prepared, cases, found, before, outcome);
    attempts.push_back({outcome.sweeps, outcome.estimate.status});
    seconds += outcome.seconds;
    return outcome.estimate;
  }

  // Why another one is not to be started.
  std::optional<std::string> obstacle(int sweeps) const {
    const std::string reason = decided(session, own_obstacle(sweeps).value_or(""));
    return reason.empty() ? std::nullopt : std::optional(reason);
  }

  // All of them as one outcome.
  EstimateOutcome end(Estimate estimate) {
    outcome.estimate = std::move(estimate);
    outcome.attempts = std::move(attempts);
    outcome.seconds = seconds;
    return std::move(outcome);
  }

 private:
  std::optional<std::string> own_obstacle(int sweeps) const {
    if (!is_resolved(outcome.bound)) return "more sweeps mend no parameters";
    if (auto lasting = lasting_obstacle(find_method(arguments.method), arguments.shared.chains))
      return *lasting + " (--chains)";
    const Foretold next = foretold(sweeps);
    const std::string work = fmt::format("{} sweeps", grouped(sweeps));
    if (ranks_here(session) * next.bytes > available_memory())
      return work + " do not fit into the memory";
    const double all = planned + next.seconds;
    if (all <= arguments.max_seconds) return std::nullopt;
    return fmt::format("with {} it would be {} of two cores (--max-seconds)", work,
                       human_seconds(all));
  }
};

EstimateOutcome run_to_target(Runs runs) {
  const EstimateRequest& arguments = runs.arguments;
  return runs.end(
      estimate_to_error({.std_error = arguments.target_error,
                         .sweeps = arguments.shared.sweeps,
                         .most_sweeps = most_sweeps(arguments, runs.model, runs.session),
                         .obstacle = [&](int sweeps) { return runs.obstacle(sweeps); }},
                        [&](int sweeps, int number) {
                          const Estimate& estimate = runs.run(sweeps, number);
                          require_resolvable(arguments.target_error, runs.outcome.bound);
                          return estimate;
                        }));
}

// Runs once, or until the estimate is ok.
EstimateOutcome run_attempts(Runs runs) {
  const EstimateRequest& arguments = runs.arguments;
  return runs.end(
      estimate_until_ok({.sweeps = arguments.shared.sweeps,
                         .most = arguments.try_again ? kAttempts : 1,
                         .obstacle = [&](int sweeps) { return runs.obstacle(sweeps); }},
                        [&](int sweeps, int number) { return runs.run(sweeps, number); }));
}

}  // namespace

EstimateOutcome run_estimate(const EstimateRequest& arguments, const Layered& model,
                             const Session& session) {
  if (is_exact(arguments.method))
    return about_file(arguments.model, [&] { return by_enumeration(model, session); });
  const Stopwatch watch;
  MethodSettings settings;
  std::optional<PreparedTarget> made;
  together(session, "data, ladder and base", [&] {
    settings = make_settings(model, arguments.shared);
    require_memory_of(arguments.method, model, arguments.shared, settings, ranks_here(session));
    made.emplace(make_target(model, arguments.model, arguments.shared, settings.cases));
    return session.ranks ? identity(settings, made->chosen.base) : "";
  });
  const CaseValues& cases = settings.cases;
  const PreparedTarget& prepared = *made;
  const FoundStates found = find_before(arguments, prepared, cases);
  const double seconds = watch.seconds();
  Runs runs{.arguments = arguments,
            .prepared = prepared,
            .cases = cases,
            .found = found,
            .model = model,
            .session = session};
  EstimateOutcome outcome =
      arguments.target_error > 0 ? run_to_target(std::move(runs)) : run_attempts(std::move(runs));
  outcome.base = prepared.base;
  outcome.seconds += seconds;
  return outcome;
}

EstimateOutcome run_held(const EstimateRequest& arguments, const PreparedTarget& prepared,
                         const CaseValues& cases, const Session& session) {
  const Stopwatch watch;
  const FoundStates found = find_before(arguments, prepared, cases);
  const double seconds = watch.seconds();
  EstimateOutcome outcome =
      run_once(arguments, prepared, found, prepared.target.tempered_model().model, session, 0);
  hold_to_bound(arguments, prepared, cases, found, {}, outcome);
  outcome.seconds += seconds;
  return outcome;
}

EstimateOutcome estimate_stored(const EstimateRequest& arguments) {
  const Stopwatch watch;
  const StoredRun run = load_store(arguments.from);
  const SampleStore& store = run.store;
  std::optional<States> states;
  if (!arguments.shared.states.empty()) states = parse_states(arguments.shared.states);
  EstimateOutcome outcome{.chains = static_cast<int>(store.chains()),
                          .sweeps = static_cast<int>(store.sweeps()),
                          .temperatures = store.rungs(),
                          .sampler = store.random_rungs ? std::optional<std::string>("tempering")
                                     : store.exchanged_rungs
                                         ? std::optional<std::string>("parallel")
                                         : std::nullopt};
  outcome.estimate =
      about_file(arguments.from, [&] { return estimate_from(arguments.method, store, states); });
  hold_to_rungs(store,
                find_method(arguments.method).any_tempering ? StoredLaw::mbar : StoredLaw::drawn,
                outcome.estimate);
  if (run.reverse) {
    outcome.both_ways = {outcome.estimate, *run.reverse};
    hold_to_gap(*outcome.both_ways, outcome.estimate);
  }
  outcome.bound = run.bound;
  const bool known = !run.resolved || !std::isnan(run.bound.log_z);
  if (known) hold_to_resolution(run.bound, outcome.estimate);
  hold_to_visits(run.bound, outcome.estimate);
  const double told = run.phases ? hold_to_phases(*run.phases, outcome.estimate) : 0;
  hold_to_switches(run.switches, told, outcome.estimate);
  if (known)
    boltzmark::hold_to_bound(run.bound, outcome.estimate);
  else
    outcome.estimate.warnings.emplace_back(
        "the samples were stored without a lower bound of log Z: none is known");
  add_unseen(outcome.estimate);
  outcome.attempts = {{outcome.sweeps, outcome.estimate.status}};
  outcome.seconds = watch.seconds();
  return outcome;
}

}  // namespace boltzmark::cli
