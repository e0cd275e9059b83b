#pragma once

#include <Eigen/Core>

#include "boltzmark/estimate/methods.hpp"
#include "experiments/kit/experiment.hpp"

namespace boltzmark::experiments {

/// Runs every registered method once with the same settings, as MethodRuns does.
///   outputs  method -> what describe_estimate writes
Json run_all_methods(const LayeredTarget& target, const MethodSettings& settings,
                     const TrialContext& context);

/// Draws exact samples of an RBM's visible units.
/// Randomness  Stream(key, Purpose::data)    Cost, Throws  as ExactSampler
/// Shapes  [visible x count]
Eigen::MatrixXf draw_exact_cases(const Layered& rbm, int count, StreamKey key);

}  // namespace boltzmark::experiments
