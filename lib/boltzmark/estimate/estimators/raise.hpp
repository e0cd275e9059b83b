#pragma once

#include "boltzmark/sample/annealing/annealing.hpp"
#include "boltzmark/sample/tempering/simulated_tempering.hpp"

namespace boltzmark {

/// Estimates log Z by RAISE from states that a tempered run visits at b = 1, one a chain.
/// With R_c the weight of the case of chain c and n_c its kept sweeps at b = 1,
///   log Z = -log (sum_c n_c e^{-R_c} / sum_c n_c)
/// whose error is the jackknife's over chains: a chain that was seldom or never at b = 1 adds
/// little or nothing to the effective samples. No bound: the cases are samples of the model only as
/// far as the run has mixed.
/// Status  that of estimate_from_weights and of the run's mixing; not_converged, without an estimate,
///         if fewer than two chains were at b = 1
/// tempering.top_states, if given, takes the states.
/// Throws  InvalidArgument as simulated_tempering and reverse_annealing, or if chains differ
Estimate raise_from_tempering(const Target& target, SimulatedTemperingOptions tempering,
                              const AnnealingOptions& annealing);

}  // namespace boltzmark
