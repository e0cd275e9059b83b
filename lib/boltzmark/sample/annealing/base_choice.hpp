#pragma once

#include <cstddef>
#include <span>

#include "boltzmark/model/base.hpp"
#include "boltzmark/model/layered.hpp"
#include "boltzmark/random/key.hpp"
#include "boltzmark/sample/annealing/annealing.hpp"
#include "boltzmark/target/layered_target.hpp"

namespace boltzmark {

/// The short annealing that bases are judged by.
struct BaseChoice {
  int chains = 48;
  int sweeps = 200;  ///< and as many equal steps of b
  StreamKey key = {};
  int summed_side = 1;  ///< the parity of the layers that are summed out
};

/// Makes the target that a base is judged by.  Throws  InvalidArgument as LayeredTarget
LayeredTarget pilot_target(const Layered& model, const Base& base, const BaseChoice& choice);
/// Makes the short annealing.
/// Randomness  choice.key     Throws  InvalidArgument if shapes differ
/// Cost        chains * sweeps sweeps of one chain
AnnealingResult pilot(const LayeredTarget& target, const BaseChoice& choice,
                      TopStates* top_states = nullptr);

/// Chooses the base whose pilot has the greatest mean log weight; a later one must be better than the best
/// before it by a tenth of a nat, for of bases equally good one would be the luckiest.
///   E[log w] <= log Z, and what it lacks is the work that annealing wastes, in nats: the relative
///   entropy of its paths to those of annealing downwards from the model       [Neal 2001; Crooks 1998]
/// The choice is made before a run's first draw and by draws of its own, so that what the run is
/// unbiased for stays so.
/// Shapes  [bases]     Throws  InvalidArgument if there is no base
std::size_t choose_base(std::span<const double> mean_log_weights);

}  // namespace boltzmark
