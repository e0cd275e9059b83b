#pragma once

#include <functional>

#include "boltzmark/core/progress.hpp"
#include "boltzmark/target/ladder.hpp"
#include "boltzmark/target/target.hpp"

namespace boltzmark {

/// How the pilot run of an adaptive ladder is made.
struct AdaptiveLadderOptions {
  int rungs = 100;
  int chains = 100;
  int sweeps = 2000;  ///< of the pilot run, per chain
  StreamKey key = {};
  Progress progress = nullptr;
};

/// Places rungs of equal thermodynamic length, from the variance of D that a pilot run of simulated
/// tempering on a linear ladder of as many rungs finds.   [Gelman and Meng 1998, Sec. 4]
/// Throws  InvalidArgument if rungs < 2 or the pilot's settings are out of range
Ladder adaptive_ladder(const Target& target, const AdaptiveLadderOptions& options);

}  // namespace boltzmark
