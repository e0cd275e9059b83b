#include "experiments/calibration/support/held_runs.hpp"

#include <algorithm>
#include <numeric>

#include "boltzmark/estimate/held/attempts.hpp"
#include "boltzmark/estimate/held/held.hpp"
#include "boltzmark/estimate/held/held_estimate.hpp"

namespace boltzmark::experiments {

Ground::Ground(const Layered& model, int chains, int sweeps, std::uint64_t seed,
               std::optional<Base> given)
    : search(mode_search(model, seed)),
      base(given ? ChosenBase{.base = *std::move(given)} : choose_auto_base(model, search, seed)),
      target(model, base.base, {.chains = chains, .sweeps = static_cast<std::uint64_t>(sweeps)}, 1),
      found(find_before(target, search, seed, base, true)),
      uniform(std::all_of(base.base.logits.begin(), base.base.logits.end(),
                          [](const Eigen::VectorXd& logits) { return logits.isZero(0); })) {}

FoundStates Ground::found_for(const Method& method, const MethodSettings& settings) const {
  FoundStates known = found;
  if (uniform && tempers_collapsed(method, settings)) known.states.clear();
  return known;
}

HeldRuns::HeldRuns(const Layered& model, int chains, int sweeps, std::uint64_t seed,
                   std::optional<Base> base)
    : seed_(seed),
      chains_(chains),
      sweeps_(sweeps),
      ground_(model, chains, sweeps, seed, std::move(base)),
      searched_(find_lower_bound(ground_.target, ground_.search, {}, ground_.found)) {}

MethodSettings HeldRuns::settings(int sweeps, int number) const {
  return {.chains = chains_,
          .sweeps = sweeps,
          .annealed_start = true,
          .key = attempt_key(seed_, number)};
}

HeldRuns::Attempt& HeldRuns::attempt(int sweeps, int number) {
  std::unique_ptr<Attempt>& found = attempts_[number];
  if (!found) found = std::make_unique<Attempt>(ground_.target, settings(sweeps, number));
  return *found;
}

Held HeldRuns::held_of(const Method& method, Attempt& attempt) {
  const bool shared = method.source == Source::tempered;
  if (shared && attempt.held) return *attempt.held;
  const VisitedStates visited = visited_states(attempt.runs.top_states());
  const auto visits = std::accumulate(visited.visits.begin(), visited.visits.end(), 0.0);
  Held held;
  if (ground_.found.modes)
    held.met = meet_masses(ground_.target.tempered_model().model, ground_.search,
                           ground_.found.phases.get(), visited);
  held.bound = visits == 0 ? searched_
                           : find_lower_bound(ground_.target, ground_.search, visited,
                                              ground_.found_for(method, settings(sweeps_, 0)));
  if (shared) attempt.held = held;
  return held;
}

HeldOutcome HeldRuns::estimate(const std::string& method, int attempts) {
  HeldOutcome held;
  LowerBound bound;
  held.estimate = estimate_until_ok(
      {.sweeps = sweeps_,
       .most = attempts,
       .obstacle = [&](int) { return lasting_obstacle(find_method(method), chains_); }},
      [&](int sweeps, int number) {
        Attempt& run = attempt(sweeps, number);
        Estimate estimate = run.runs.estimate(method);
        const Held found = held_of(find_method(method), run);
        hold_to_resolution(found.bound, estimate);
        hold_to_visits(found.bound, estimate);
        if (found.met) hold_to_met(*found.met, estimate);
        bound = higher(found.bound, bound);
        hold_to_bound(bound, estimate);
        add_unseen(estimate);
        held.sweeps += sweeps;
        held.lowest = bound.lowest();
        held.statuses.emplace_back(name(estimate.status));
        return estimate;
      });
  return held;
}

Json outcome_json(const HeldOutcome& held) {
  return {{"log_z", held.estimate.log_z},
          {"std_error", held.estimate.std_error},
          {"lower", held.estimate.lower},
          {"upper", held.estimate.upper},
          {"status", std::string(name(held.estimate.status))},
          {"attempts", held.statuses},
          {"lower_bound", held.lowest},
          {"sweeps", held.sweeps}};
}

}  // namespace boltzmark::experiments
