#include "boltzmark/estimate/held/held_estimate.hpp"

#include <utility>

#include "boltzmark/estimate/methods.hpp"

namespace boltzmark {

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
  const bool tempered = result.chosen.of_modes || !tempers_collapsed(find_method(method), settings);
  const FoundStates found = find_before(target, search, seed, result.chosen, tempered);
  MethodRuns runs(target, std::move(settings));
  result.estimate = runs.estimate(method);
  result.held =
      hold_to_found(target, search, visited_states(runs.top_states()), found, result.estimate);
  return result;
}

}  // namespace boltzmark
