#pragma once

#include <Eigen/Core>
#include <vector>

#include "boltzmark/model/layered.hpp"

namespace boltzmark::experiments {

/// Returns each case's likeliest hidden state, 0 or 1, of an RBM with Bernoulli hidden units.
/// Shapes  cases [visible x cases], result [hidden x cases]
/// Throws  InvalidArgument if the model is no such RBM, or shapes differ
Eigen::MatrixXf likeliest_features(const Layered& rbm,
                                   const Eigen::Ref<const Eigen::MatrixXf>& cases);

/// Returns the means a + sigma^2 W h of Gaussian visible units given a hidden state.
/// Shapes  hidden [hidden], result [visible]
/// Throws  InvalidArgument if the model is no RBM with Gaussian visible units, or shapes differ
Eigen::VectorXd mean_pixels(const Layered& rbm, const std::vector<float>& hidden);

}  // namespace boltzmark::experiments
