#include "experiments/calibration/support/held_runs.hpp"

#include "boltzmark/estimate/attempts.hpp"

namespace boltzmark::experiments {

HeldRuns::Attempt::Attempt(const LayeredTarget& target, const MethodSettings& settings)
    : top(target, settings.chains, settings.key), runs(target, [&] {
        MethodSettings with_states = settings;
        with_states.top_states = &top;
        return with_states;
      }()) {}

HeldRuns::HeldRuns(const Layered& model, int chains, int sweeps, std::uint64_t seed)
    : seed_(seed),
      chains_(chains),
      sweeps_(sweeps),
      search_(mode_search(model, seed)),
      base_(choose_auto_base(model, search_, seed)),
      target_(model, base_.base, {.chains = chains, .sweeps = static_cast<std::uint64_t>(sweeps)},
              1),
      searched_(find_lower_bound(target_, search_, {}, base_.modes)) {}

HeldRuns::Attempt& HeldRuns::attempt(int sweeps, int number) {
  std::unique_ptr<Attempt>& found = attempts_[number];
  if (!found)
    found = std::make_unique<Attempt>(
        target_,
        MethodSettings{.chains = chains_, .sweeps = sweeps, .key = attempt_key(seed_, number)});
  return *found;
}

const LowerBound& HeldRuns::bound_of(const Method& method, Attempt& attempt) {
  if (method.source != Source::tempered) return searched_;
  if (!attempt.bound)
    attempt.bound = find_lower_bound(target_, search_, visited_states(attempt.top), base_.modes);
  return *attempt.bound;
}

HeldEstimate HeldRuns::estimate(const std::string& method, int attempts) {
  HeldEstimate held;
  LowerBound bound;
  held.estimate =
      estimate_until_ok({.sweeps = sweeps_, .most = attempts}, [&](int sweeps, int number) {
        Attempt& run = attempt(sweeps, number);
        boltzmark::Estimate estimate = run.runs.estimate(method);
        const LowerBound& found = bound_of(find_method(method), run);
        hold_to_visits(found, estimate);
        bound = higher(found, bound);
        hold_to_bound(bound, estimate);
        held.sweeps += sweeps;
        held.lowest = bound.lowest();
        held.statuses.emplace_back(name(estimate.status));
        return estimate;
      });
  return held;
}

}  // namespace boltzmark::experiments
