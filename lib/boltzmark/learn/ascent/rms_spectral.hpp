#pragma once

#include <Eigen/Core>
#include <memory>

#include "boltzmark/learn/ascent/optimiser.hpp"

namespace boltzmark {

/// Computes the sharp operator of the spectral norm, by the eigenvectors of X X'.
///   X# = argmax_Y <X, Y> - ||Y||^2 / 2 = ||X||_* U V', with ||Y|| the largest singular value of Y
///   and ||X||_* the sum of those of X                     [Carlson et al. 2015, Sec. 3]
/// Directions whose singular values are zero to rounding are left out.
/// Accuracy  singular value s to n eps (s_1 / s)^2, n the smaller side; those below
///   10 sqrt(n eps) s_1 count as zero
/// Shapes  as X
Eigen::MatrixXd spectral_sharp(const Eigen::MatrixXd& x);

/// Starts RMSspectral: RMSprop for biases, its spectral-norm counterpart for weights.
///   m <- decay m + (1 - decay) g*g, from m = 0;  d = sqrt(sqrt(m) + epsilon), all elementwise
///   weights  rate (g / d)# / d;  biases  rate g / d^2,  with decay = scale_decay
///              [Carlson et al. 2015, "Preconditioned spectral descent for deep learning"]
/// Shapes  those of `zero`, whose values must be 0
/// Invariant  settings are as start_steps requires
std::unique_ptr<Steps> start_rms_spectral(const Optimiser& optimiser, double rate,
                                          const Parameters& zero);

}  // namespace boltzmark
