#include "experiments/calibration/support/run_evidence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "boltzmark/diagnose/pareto.hpp"
#include "boltzmark/estimate/closing.hpp"
#include "boltzmark/estimate/held/both_ways.hpp"
#include "boltzmark/estimate/held/held.hpp"
#include "boltzmark/estimate/held/held_estimate.hpp"
#include "boltzmark/sample/annealing/annealing.hpp"
#include "boltzmark/sample/tempering/mixing.hpp"

namespace boltzmark::experiments {
namespace {

constexpr const char *kRts = "rts", *kBar = "bar", *kAis = "ais";

/// A run and what it leaves.
struct OneRun {
  Estimate estimate;
  VisitedStates visited;
  std::optional<SampleStore> store = std::nullopt;          ///< of tempering
  std::optional<AnnealingResult> annealing = std::nullopt;  ///< or of annealing
};

OneRun anneal(const LayeredTarget& target, const MethodSettings& settings) {
  TopStates top(target, settings.chains, settings.key);
  OneRun run;
  run.annealing =
      annealed_importance_sampling(target, {.ladder = Ladder::linear(settings.sweeps + 1),
                                            .chains = settings.chains,
                                            .sweeps = settings.sweeps,
                                            .key = settings.key,
                                            .top_states = &top});
  run.estimate = closed(run.annealing->estimate);
  run.visited = visited_states(top);
  return run;
}

OneRun temper(const LayeredTarget& target, const std::string& method,
              const MethodSettings& settings) {
  MethodRuns runs(target, settings);
  OneRun run{.estimate = runs.estimate(method), .visited = visited_states(runs.top_states())};
  run.store = settings.tempering == Tempering::parallel ? runs.replicas() : runs.tempered().store;
  return run;
}

// Some sweeps of some chains, without their collapsed states.
SampleStore part_of(const SampleStore& store, Eigen::Index first_sweep, Eigen::Index sweeps,
                    Eigen::Index first_chain, Eigen::Index chains) {
  return {.ladder = store.ladder,
          .log_prior = store.log_prior,
          .log_z_hat = store.log_z_hat,
          .log_ratio = store.log_ratio.block(first_sweep, first_chain, sweeps, chains),
          .rung = store.rung.block(first_sweep, first_chain, sweeps, chains),
          .random_rungs = store.random_rungs,
          .exchanged_rungs = store.exchanged_rungs};
}

// A difference in its errors; JSON has no infinity.
double in_errors(double difference, double error) {
  constexpr double kMost = 1e9;
  if (!(std::abs(difference) > 0)) return difference;
  return std::clamp(difference / error, -kMost, kMost);
}

double differ(const Estimate& one, const Estimate& other) {
  return in_errors(std::abs(one.log_z - other.log_z), std::hypot(one.std_error, other.std_error));
}

double split_by_sweeps(const std::string& method, const SampleStore& store) {
  const Eigen::Index half = store.sweeps() / 2;
  const auto estimate = [&](Eigen::Index first) {
    return estimate_from(method, part_of(store, first, half, 0, store.chains()));
  };
  return differ(estimate(0), estimate(store.sweeps() - half));
}

double split_by_chains(const std::string& method, const SampleStore& store) {
  const Eigen::Index half = store.chains() / 2;
  const auto estimate = [&](Eigen::Index first) {
    return estimate_from(method, part_of(store, 0, store.sweeps(), first, half));
  };
  return differ(estimate(0), estimate(half));
}

double split_by_weights(const Eigen::VectorXd& log_weights) {
  const Eigen::Index half = log_weights.size() / 2;
  const auto estimate = [](const Eigen::VectorXd& weights) {
    return estimate_from_weights(summarise(weights), Bound::lower);
  };
  return differ(estimate(log_weights.head(half)), estimate(log_weights.tail(half)));
}

/// What a run is held to.
struct Known {
  LowerBound bound;
  std::shared_ptr<const MetPhases> phases = nullptr;
  std::optional<BothWays> ways = std::nullopt;
};

// Whether it alone refuses an estimate.
template <class Judge>
bool is_refused(Estimate estimate, const Judge& judge) {
  estimate.status = Status::ok;
  judge(estimate);
  return estimate.status != Status::ok;
}

void add_tempered(const Estimate& estimate, const std::string& method, const SampleStore& store,
                  RunEvidence& evidence) {
  const auto chains = static_cast<double>(store.chains());
  const LadderTraffic traffic = traffic_of(store.rung, store.rungs());
  auto& [told, lowest, numbers, refused] = evidence;
  numbers["trips"] = -static_cast<double>(traffic.trips) / chains;
  numbers["visitors"] = -effective_visitors(traffic.top_visits) / chains;
  numbers["tour_shape"] = pareto_shape_of_numbers(traffic.tours.numbers, traffic.tours.cut);
  numbers["longer_tours"] = estimate.missing;
  numbers["split_sweeps"] = split_by_sweeps(method, store);
  // Chains of a bundle depend on each other.
  if (store.bundle() == 1) numbers["split_chains"] = split_by_chains(method, store);
  refused["trips"] = is_refused(
      estimate, [&](Estimate& held) { judge_round_trips(held, traffic.trips, store.chains()); });
  refused["visitors"] =
      is_refused(estimate, [&](Estimate& held) { judge_visitors(held, traffic.top_visits); });
  refused["tour_shape"] =
      is_refused(estimate, [&](Estimate& held) { judge_tours(held, traffic.tours); });
}

void add_annealed(const AnnealingResult& annealing, RunEvidence& evidence) {
  const WeightSummary summary = summarise(annealing.log_weights);
  evidence.numbers["pareto_k"] = annealing.pareto_k;
  evidence.numbers["upper_half"] = summary.normal_limit - summary.log_mean;
  evidence.numbers["split_chains"] = split_by_weights(annealing.log_weights);
  evidence.refused["pareto_k"] = annealing.pareto_k > 0.5;  // as estimate_from_weights
}

// What of the masses found, two of their errors less, the run was not in.
double unmet_share(const MetPhases& phases, double log_z) {
  const auto unmet = [&](const MetMasses& masses) {
    if (masses.shares.size() == 0) return 0.0;
    return (masses.lowest(2, log_z) - masses.shares.array()).max(0).sum();
  };
  return std::max(unmet(phases), unmet(phases.small));
}

// In the order of hold_to_found, for phases change the error that the bound is held against.
void add_known(Estimate estimate, const Known& known, RunEvidence& evidence) {
  auto& [told, lowest, numbers, refused] = evidence;
  const LowerBound& bound = known.bound;
  numbers["bound"] = bound.lowest() - estimate.log_z;
  numbers["unmet_states"] = bound.searched - estimate.log_z -
                            std::log(std::max(bound.met, 0.5 / std::max(bound.visits, 0.5)));
  if (known.ways) {
    numbers["gap"] = in_errors(std::abs(known.ways->gap()), known.ways->gap_error());
    numbers["gap_nats"] = std::abs(known.ways->gap());
  }
  const auto hold = [&](const char* rule, const auto& judge) {
    estimate.status = Status::ok;
    judge(estimate);
    refused[rule] = estimate.status != Status::ok;
  };
  hold("visits", [&](Estimate& held) { hold_to_visits(bound, held); });
  if (known.phases) {
    const MetPhases& phases = *known.phases;
    numbers["phases"] = in_errors(phases.log_z() - estimate.log_z,
                                  std::hypot(phases.std_error(), estimate.std_error));
    numbers["unmet_phases"] = unmet_share(phases, estimate.log_z);
    hold("phases", [&](Estimate& held) { hold_to_phases(phases, held); });
  }
  hold("bound", [&](Estimate& held) {
    hold_to_resolution(bound, held);
    hold_to_bound(bound, held);
  });
  hold("unseen", add_unseen);
  if (known.ways) hold("gap", [&](Estimate& held) { hold_to_gap(*known.ways, held); });
}

void add_samples(const std::string& method, const OneRun& run, RunEvidence& evidence) {
  auto& [told, lowest, numbers, refused] = evidence;
  numbers["std_error"] = run.estimate.std_error;
  numbers["effective_samples"] = -run.estimate.effective_samples;
  refused["effective_samples"] = run.estimate.effective_samples < kFewEffectiveSamples;
  if (run.store) add_tempered(run.estimate, method, *run.store, evidence);
  if (run.annealing) add_annealed(*run.annealing, evidence);
  const bool any =
      std::any_of(refused.begin(), refused.end(), [](const auto& rule) { return rule.second; });
  refused["other"] = run.estimate.status != Status::ok && !any;
}

std::optional<BothWays> go_other_way(const Ground& ground, const std::string& method,
                                     MethodSettings settings, const OneRun& run) {
  if (!ground.found.modes) return std::nullopt;
  settings.key = derive_key(settings.key, "other way");
  if (run.store && run.store->random_rungs) settings.log_z_hat = run.store->log_z_hat;
  return find_method(method).other_way(find_method(method), run.estimate, ground.target,
                                       *ground.found.modes, settings);
}

}  // namespace

const std::vector<Predictor>& predictors() {
  static const std::vector<Predictor> all = {
      {"std_error", "the method's own standard error, larger", true},
      {"effective_samples", "effective samples, fewer", true},
      {"trips", "round trips a chain, fewer"},
      {"visitors", "share of chains that visit the top, smaller"},
      {"tour_shape", "Pareto shape of tours, larger"},
      {"longer_tours", "what longer tours would add"},
      {"pareto_k", "Pareto k of weights, larger"},
      {"upper_half", "limit by the weights' upper half, higher"},
      {"split_chains", "halves of the chains differ (rts: by joint states)", true},
      {"split_sweeps", "halves of the sweeps differ (rts: by joint states)", true},
      {"bound", "lower bound less the estimate"},
      {"unmet_states", "listed states hardly met"},
      {"phases", "annealing from near modes finds more"},
      {"unmet_phases", "phases hardly met"},
      {"gap", "chains from b = 1 differ, in errors", true},
      {"gap_nats", "chains from b = 1 differ, in nats", true}};
  return all;
}

const std::vector<StatusRule>& status_rules() {
  static const std::vector<StatusRule> all = {
      {.key = "effective_samples", .title = "fewer than 50 effective samples", .count = true},
      {.key = "trips", .title = "fewer than 20 round trips, or 2 a chain", .count = true},
      {.key = "visitors", .title = "a fifth of the chains made the visits of the top"},
      {.key = "tour_shape", .title = "tours of no mean length"},
      {.key = "pareto_k", .title = "weights of no variance"},
      {.key = "other", .title = "all else that methods refuse, where none of these does"},
      {.key = "bound", .title = "certain bounds"},
      {.key = "visits", .title = "listed states hardly met"},
      {.key = "phases", .title = "phases found, or hardly met"},
      {.key = "unseen", .title = "longer tours would add as much"},
      {.key = "gap", .title = "chains from b = 1 differ (--both-ways)", .on_request = true}};
  return all;
}

const std::vector<std::string>& evidence_methods() {
  static const std::vector<std::string> all = {kRts, kBar, kAis};
  return all;
}

RunEvidence find_evidence(const Ground& ground, const std::string& method, int chains, int sweeps,
                          std::uint64_t seed) {
  if (std::find(evidence_methods().begin(), evidence_methods().end(), method) ==
      evidence_methods().end())
    throw InvalidArgument(fmt::format("method = {} (must be one whose evidence is taken)", method));
  MethodSettings settings{
      .chains = chains, .sweeps = sweeps, .annealed_start = true, .key = attempt_key(seed)};
  if (method == kBar) settings.tempering = Tempering::parallel;
  const OneRun run =
      method == kAis ? anneal(ground.target, settings) : temper(ground.target, method, settings);
  RunEvidence evidence{.estimate = run.estimate};
  const Held held =
      hold_to_found(ground.target, ground.search, run.visited,
                    ground.found_for(find_method(method), settings), evidence.estimate);
  evidence.lowest = held.bound.lowest();
  add_samples(method, run, evidence);
  add_known(run.estimate,
            {held.bound, held.met ? held.met->phases : nullptr,
             go_other_way(ground, method, settings, run)},
            evidence);
  return evidence;
}

}  // namespace boltzmark::experiments
