#pragma once

#include <functional>

#include "boltzmark/exact/modes/modes.hpp"
#include "boltzmark/sample/annealing/annealing.hpp"
#include "boltzmark/target/layered_target.hpp"

namespace boltzmark {

/// What annealing finds from both ends of the ladder. By chains that come from the base E[log_z] <= log Z;
/// by exact samples of the model that go there E[log_z] >= log Z, but states near modes are none: what they
/// find is no bound.
struct BothWays {
  Estimate forward;  ///< AIS: from the base
  Estimate reverse;  ///< from states at b = 1

  double gap() const { return reverse.log_z - forward.log_z; }
  /// Returns  the gap's standard error: the two are independent
  double gap_error() const;
};

/// Anneals downwards from states near modes: chains start from them in proportion to f, make half of the
/// sweeps at b = 1, and the others as reverse_annealing does.
/// Randomness  options.key: results do not depend on threads, nor on processes that share the chains
/// Throws      InvalidArgument as reverse_annealing
AnnealingResult anneal_from_modes(const LayeredTarget& target, const Modes& modes,
                                  AnnealingOptions options);

/// Refuses an estimate where the two differ by more than three of the gap's errors and a tenth of a nat, or
/// have no such error: chains from the base hardly end where those near modes are, or these are not where the
/// mass is.
/// Status  not_converged
void hold_to_gap(const BothWays& ways, Estimate& estimate);

}  // namespace boltzmark
