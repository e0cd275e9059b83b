#pragma once

#include "boltzmark/learn/cases/case_source.hpp"
#include "boltzmark/model/layered.hpp"
#include "boltzmark/random/key.hpp"
#include "boltzmark/transition/chains.hpp"

namespace boltzmark {

/// Draws states of a model that was trained on cases before: of p(h|v) for some of them, by sweeps
/// with v held, then v given h. Such a model gives no weight to uniformly random states, and chains
/// from there may find modes that no case is in.
/// Returns     [chains], of different cases as long as there are any
/// Randomness  key, by name; the cases as they are at update 0
/// Throws      InvalidArgument if chains < 1 or the source's units are not those of v
Chains chains_at_cases(const Layered& model, CaseSource& source, int chains, StreamKey key);

}  // namespace boltzmark
