#include "boltzmark/estimate/held/held_estimate.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "boltzmark/estimate/held/held.hpp"
#include "boltzmark/estimate/places/phases.hpp"
#include "boltzmark/exact/enumeration/enumeration.hpp"
#include "boltzmark/exact/modes/mean_field.hpp"
#include "boltzmark/model/sides.hpp"

namespace boltzmark {
namespace {

LowerBoundOptions bound_options(const ModeSearch& search, const FoundStates& found) {
  return {.search = search, .modes = found.modes ? &*found.modes : nullptr, .found = found.states};
}

}  // namespace

FoundStates find_before(const LayeredTarget& target, const ModeSearch& search, std::uint64_t seed,
                        const ChosenBase& chosen, bool tempered) {
  const TemperedModel& of = target.tempered_model();
  FoundStates found{.modes = chosen.modes, .phases = chosen.phases};
  if (!found.modes && is_searchable(of.model)) found.modes = find_modes(of.model, of.base, search);
  if (!found.phases && found.modes)
    found.phases =
        std::make_shared<const Phases>(find_phases(of.model, *found.modes, seed, of.summed));
  // For the list of a discrete side's states.
  if (tempered && std::isfinite(log2_states(of.model, smaller_side(of.model))))
    found.states = (chosen.search ? *chosen.search : tempered_search(of.model, seed)).states;
  return found;
}

FoundStates find_before(const LayeredTarget& target, const ModeSearch& search, std::uint64_t seed,
                        const ChosenBase& chosen, const Method& method,
                        const MethodSettings& settings) {
  return find_before(target, search, seed, chosen,
                     chosen.of_modes || !tempers_collapsed(method, settings));
}

LowerBound find_lower_bound(const LayeredTarget& target, const ModeSearch& search,
                            const VisitedStates& visited, const FoundStates& found) {
  LowerBoundOptions options = bound_options(search, found);
  options.visited = visited.states;
  options.visits = visited.visits;
  return lower_bound(target.tempered_model().model, target.tempered_model().base, options);
}

SearchedStates find_states(const LayeredTarget& target, const ModeSearch& search,
                           const FoundStates& found) {
  return {target.tempered_model().model, target.tempered_model().base,
          bound_options(search, found)};
}

Held hold_to_found(const LayeredTarget& target, const ModeSearch& search,
                   const VisitedStates& visited, const FoundStates& found, Estimate& estimate,
                   const LowerBound& before, int together) {
  const LowerBound now = find_lower_bound(target, search, visited, found);
  hold_to_resolution(now, estimate);
  hold_to_visits(now, estimate);
  Held held{.bound = higher(now, before)};
  if (found.modes) {  // of a model that a double resolves
    held.met = meet_masses(target.tempered_model().model, search, found.phases.get(), visited);
    hold_to_met(*held.met, estimate);
  }
  hold_to_bound(held.bound, estimate, together);
  add_unseen(estimate);
  return held;
}

double held_sweeps(const Layered& model) {
  constexpr double kSearch = 30'000, kPlaces = 45'000, kPhases = 14 * 9'600, kBound = 20'000;
  constexpr double kOrthants = 2 * 31'000;  // for the base, and for the bound
  constexpr double kSwitches = 10'000;
  return kSearch + kPlaces + kPhases + kBound + kSwitches +
         (side_of_orthants(model) ? kOrthants : 0);
}

StreamKey attempt_key(std::uint64_t seed, int number) {
  return number == 0 ? make_key(seed, "estimate")
                     : make_key(seed, "estimate", fmt::format("{}", number));
}

HeldEstimate estimate_held(std::string_view method, const Layered& model, std::uint64_t seed,
                           MethodSettings settings) {
  check_settings(find_method(method), settings);
  settings.key = attempt_key(seed);
  settings.annealed_start = true;
  const ModeSearch search = mode_search(model, seed, settings.cases);
  HeldEstimate result{.chosen = choose_auto_base(model, search, seed)};
  const Packing packing{.chains = settings.chains,
                        .sweeps = static_cast<std::uint64_t>(settings.sweeps)};
  const LayeredTarget target(model, result.chosen.base, packing);
  const FoundStates found =
      find_before(target, search, seed, result.chosen, find_method(method), settings);
  MethodRuns runs(target, std::move(settings));
  result.estimate = runs.estimate(method);
  result.held =
      hold_to_found(target, search, visited_states(runs.top_states()), found, result.estimate);
  return result;
}

}  // namespace boltzmark
