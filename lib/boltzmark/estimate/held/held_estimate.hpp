#pragma once

#include <cstdint>
#include <string_view>

#include "boltzmark/estimate/held/held.hpp"
#include "boltzmark/estimate/method.hpp"

namespace boltzmark {

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
