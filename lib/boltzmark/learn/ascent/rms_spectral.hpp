#pragma once

#include <Eigen/Core>

#include "boltzmark/core/checkpoint.hpp"
#include "boltzmark/model/layered.hpp"

namespace boltzmark {

/// Computes the sharp operator of the spectral norm, by the eigenvectors of X X'.
///   X# = argmax_Y <X, Y> - ||Y||^2 / 2 = ||X||_* U V', with ||Y|| the largest singular value of Y
///   and ||X||_* the sum of those of X                     [Carlson et al. 2015, Sec. 3]
/// Directions whose singular values are zero to rounding are left out.
/// Accuracy  singular value s to n eps (s_1 / s)^2, n the smaller side; those below
///   10 sqrt(n eps) s_1 count as zero
/// Shapes  as X
Eigen::MatrixXd spectral_sharp(const Eigen::MatrixXd& x);

/// The settings of RMSspectral; rate and decay are those of carlson2016, Sec. 4.4.
struct RmsSpectralOptions {
  double rate = 1e-5;
  double decay = 0.99;    ///< of the mean square gradient, per step
  double epsilon = 1e-8;  ///< added to its root
};

/// RMSspectral: RMSprop for biases, its spectral-norm counterpart for weights.
///   m <- decay m + (1 - decay) g*g, from m = 0;  d = sqrt(sqrt(m) + epsilon), all elementwise
///   weights  rate (g / d)# / d;  biases  rate g / d^2
///              [Carlson et al. 2015, "Preconditioned spectral descent for deep learning"]
class RmsSpectral {
 public:
  /// Throws  InvalidArgument unless rate and epsilon are positive and finite and 0 <= decay < 1
  RmsSpectral(const Layered& model, const RmsSpectralOptions& options)
      : RmsSpectral(model.zero_parameters(), options) {}
  /// Shapes  those of `zero`, whose values must be 0
  RmsSpectral(Parameters zero, const RmsSpectralOptions& options);

  /// Turns the gradient of an ascent into what is added to the parameters.
  /// Returns  valid until the next call
  /// Throws   InvalidArgument if shapes differ from the model's
  const Parameters& step(const Parameters& gradient);

  /// Writes and reads back all that later steps depend on.
  void write(CheckpointWriter& out) const;
  void read(CheckpointReader& in);

  const RmsSpectralOptions& options() const { return options_; }

 private:
  void check_shapes(const Parameters& gradient) const;

  RmsSpectralOptions options_;
  Parameters mean_square_;
  Parameters step_;
};

}  // namespace boltzmark
