#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "boltzmark/estimate/methods.hpp"
#include "boltzmark/estimate/places/chosen_base.hpp"
#include "boltzmark/exact/modes/lower_bound.hpp"
#include "boltzmark/exact/modes/modes.hpp"
#include "boltzmark/sample/estimate.hpp"
#include "boltzmark/sample/top_states.hpp"
#include "boltzmark/target/layered_target.hpp"

namespace boltzmark {

struct Met;

/// What is known of a model's mass before a run.
struct FoundStates {
  std::optional<Modes> modes = std::nullopt;       ///< of the search; none: it is made
  std::shared_ptr<const Phases> phases = nullptr;  ///< what annealing from bases near places found
  std::vector<Chains> states = {};                 ///< of tempered_search, where it was made
};

/// Finds what runs of a target are held to: modes and phases that the choice of a base has not found
/// yet, and by a tempered search the states of wells, unless the run is itself as thorough.
/// Randomness  keys of their own of the seed     Throws  InvalidArgument as find_modes
FoundStates find_before(const LayeredTarget& target, const ModeSearch& search, std::uint64_t seed,
                        const ChosenBase& chosen, bool tempered);
/// Does so for a method's run from that base: with a tempered search, unless it is itself one of collapsed
/// states from the uniform base. A base near some modes hides the others from it.
FoundStates find_before(const LayeredTarget& target, const ModeSearch& search, std::uint64_t seed,
                        const ChosenBase& chosen, const Method& method,
                        const MethodSettings& settings);

/// Finds a certified lower bound of a target's log Z, from its base, from the search, from what was
/// found and from the states that a run met.
LowerBound find_lower_bound(const LayeredTarget& target, const ModeSearch& search,
                            const VisitedStates& visited = {}, const FoundStates& found = {});

/// Finds the states that several runs of a target are held to, by the same search.
SearchedStates find_states(const LayeredTarget& target, const ModeSearch& search,
                           const FoundStates& found = {});

/// What an estimate was held to.
struct Held {
  LowerBound bound = {};
  std::shared_ptr<const Met> met =
      nullptr;  ///< what is known beside it; none of a model that a double does not resolve
};

/// Holds the estimate of a run to all that is known of its target: to what the search, what was found
/// before and the run's own states prove, or a higher bound known from before; to how often the run
/// was in the states and phases found. Of several runs that are told together refuse_below takes wider limits.
/// Status  below_bound, not_converged     Throws  InvalidArgument as find_modes
/// Cost    as lower_bound
Held hold_to_found(const LayeredTarget& target, const ModeSearch& search,
                   const VisitedStates& visited, const FoundStates& found, Estimate& estimate,
                   const LowerBound& before = {}, int together = 1);

/// Foretells the sweeps of one chain that find_before and hold_to_found make, for a model: at most, but for
/// a run that hardly switched many units, which take more.
double held_sweeps(const Layered& model);

/// The key of an attempt's draws: each has its own.  Invariant  number >= 0
StreamKey attempt_key(std::uint64_t seed, int number = 0);

/// An estimate, what it was held to, and the base that it began from.
struct HeldEstimate {
  Estimate estimate = {};
  Held held = {};
  ChosenBase chosen = {};
};

/// Estimates log Z as `boltzmark estimate --sweeps N` does: from the base that a pilot chooses, the odd layers
/// summed out, and held to all that is found beside the run (hold_to_found). What a method alone says `ok` of
/// may be far off: chains that never met a mode agree with each other.
/// Randomness  keys of the seed, as that command's; settings.key, annealed_start and top_states are not read
/// Throws      InvalidArgument as choose_auto_base, estimate_log_z and hold_to_found
/// Cost        besides the method's, held_sweeps of one chain and the pilots of choose_auto_base
HeldEstimate estimate_held(std::string_view method, const Layered& model, std::uint64_t seed,
                           MethodSettings settings = {});

}  // namespace boltzmark
