#pragma once

#include <Eigen/Core>

#include "boltzmark/model/layered.hpp"
#include "boltzmark/transition/rule.hpp"

namespace boltzmark {

/// Computes the expectation of the CD-k gradient of a small binary RBM over its chain's randomness.
///   h0 ~ Gibbs p(h | v0), T_v, then k-1 times T_h T_v; the last h enters as p(h | v)
/// Shapes  data [visible x cases], values 0 or 1; the gradient is a mean over cases
/// Throws  InvalidArgument if the model is not a binary RBM of at most 20 units, k < 1, or a shape
/// or value is wrong
/// Cost    k units 2^units
Parameters expected_cd_gradient(const Layered& model, const Eigen::Ref<const Eigen::MatrixXf>& data,
                                const Rule& rule, int k);

/// Computes the exact gradient of the mean log-likelihood over all states: the limit k -> infinity.
Parameters enumerated_gradient(const Layered& model, const Eigen::Ref<const Eigen::MatrixXf>& data);

/// Computes the bias of CD-k, expected_cd_gradient - enumerated_gradient, as one Euclidean norm
/// over all parameters.
double cd_bias_norm(const Layered& model, const Eigen::Ref<const Eigen::MatrixXf>& data,
                    const Rule& rule, int k);

}  // namespace boltzmark
