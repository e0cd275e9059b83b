#pragma once

#include <Eigen/Core>

#include "boltzmark/estimate/methods.hpp"
#include "boltzmark/target/layered_target.hpp"
#include "experiments/kit/errors.hpp"
#include "experiments/kit/results.hpp"

namespace boltzmark::experiments {

/// Runs every registered method once with the same settings, as MethodRuns does.
///   outputs  truth; estimates: method -> what describe_estimate writes
Json run_all_methods(const LayeredTarget& target, double truth, const MethodSettings& settings,
                     const TrialContext& context);

/// Sums up the errors of a method over the trials that a filter picks.
ErrorCell method_errors(const Results& results, const Json& filter, const std::string& method);

/// Draws an RBM whose weights and biases are uniform on (-scale, scale).
/// Randomness  Stream(key, Purpose::initial_weights)
Layered draw_random_rbm(int visible, int hidden, double scale, StreamKey key);

/// Draws exact samples of an RBM's visible units.
/// Randomness  Stream(key, Purpose::data)    Cost, Throws  as ExactSampler
/// Shapes  [visible x count]
Eigen::MatrixXf draw_exact_cases(const Layered& rbm, int count, StreamKey key);

}  // namespace boltzmark::experiments
