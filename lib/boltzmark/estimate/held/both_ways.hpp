#pragma once

#include "boltzmark/estimate/methods.hpp"
#include "boltzmark/exact/modes/modes.hpp"
#include "boltzmark/sample/annealing/annealing.hpp"
#include "boltzmark/target/layered_target.hpp"

namespace boltzmark {

/// What chains find that begin at either end of the ladder. Of chains annealed from the base E[log_z] <= log Z;
/// of chains annealed from exact samples of the model E[log_z] >= log Z, but states near modes are no such
/// samples: what they find is no bound, and a phase that they all lack is in no error.
struct BothWays {
  Estimate forward;  ///< from the base
  Estimate reverse;  ///< from states at b = 1

  double gap() const { return reverse.log_z - forward.log_z; }
  /// Returns  the gap's standard error: the two are independent
  double gap_error() const;
};

/// Starts chains near modes, one sweep on, from each in proportion to f.
/// Shapes      all populations together have so many chains
/// Randomness  key: no state depends on how chains are grouped
/// Invariant   target and modes outlive what is returned
SetStates start_from_modes(const LayeredTarget& target, const Modes& modes, int chains,
                           StreamKey key);

/// Makes the same run of a method by chains that begin near modes.
/// Throws  as estimate_log_z
BothWays run_from_modes(const Method& method, const Estimate& told, const LayeredTarget& target,
                        const Modes& modes, MethodSettings settings);

/// Anneals downwards from states near modes: chains start from them in proportion to f, make half of the
/// sweeps at b = 1, and the others as reverse_annealing does.
/// Randomness  options.key: results do not depend on threads, nor on processes that share the chains
/// Throws      InvalidArgument as reverse_annealing
AnnealingResult anneal_from_modes(const LayeredTarget& target, const Modes& modes,
                                  AnnealingOptions options);

/// Refuses an estimate where the two differ by more than three of the gap's errors and by more than half a
/// nat, or where one has no number; tells a smaller gap beyond its errors, and a side that is not ok.
///   reverse > forward: chains from the base hardly end where the others begin. Weights may mend that in the
///     forward estimate alone, so that a small gap of this kind refutes nothing.
///   reverse < forward: chains near modes hardly were where those from the base end.
/// Status  not_converged
void hold_to_gap(const BothWays& ways, Estimate& estimate);

}  // namespace boltzmark
