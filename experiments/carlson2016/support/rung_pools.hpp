#pragma once

#include "boltzmark/sample/sample_store.hpp"
#include "boltzmark/target/layered_target.hpp"
#include "experiments/kit/experiment.hpp"

namespace boltzmark::experiments {

/// Draws independent samples of the tempered law q(x, b_k) with Zhat = Z and equal r_k, of an RBM
/// that can be enumerated: what a tempered run without end would hold.
/// Shapes  [samples / 100 x 100]     Cost  2^hidden x visible a rung
SampleStore exact_pool(const LayeredTarget& target, const Ladder& ladder, int samples,
                       const TrialContext& context);

/// Estimates of log Z, each from 10,000 samples drawn with replacement: RTS, TS (0.1 added to every
/// bin), TI and TI-RB (empty bins interpolated), and of the first `mbar` draws MBAR.
/// Returns  method -> estimates
Json estimate_from_pool(const SampleStore& pool, int estimates, int mbar_estimates,
                        const TrialContext& context);

}  // namespace boltzmark::experiments
