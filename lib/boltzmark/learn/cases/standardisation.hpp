#pragma once

#include <Eigen/Core>

#include "boltzmark/model/layered.hpp"

namespace boltzmark {

/// Brings the cases of Gaussian visible units to mean 0 and variance 1 unit by unit, and models of
/// such cases back.
///   y_i = (x_i - m_i) / s_i
/// A model of y with sigma, a, W, c is one of x with sigma_i s_i, m_i + s_i a_i, W_ij / s_i and
/// c_j - sum_i W_ij m_i / s_i: of equal energies, and of densities that differ by the factor
/// prod_i s_i. A written model so needs no note of how its cases were brought to it.
/// Invariant  s > 0, all finite
/// Accuracy   sweeps of a model of x sum its hidden inputs in float32: of terms that are about |m_i /
/// s_i| times those of y
class Standardisation {
 public:
  /// Takes the means and standard deviations of the cases; s = 1 of a unit that is the same in all.
  /// Shapes  cases [units x cases]
  /// Throws  InvalidArgument if there is no case, or a value is not finite
  explicit Standardisation(const Eigen::Ref<const Eigen::MatrixXf>& cases);

  const Eigen::VectorXd& mean() const { return mean_; }
  const Eigen::VectorXd& scale() const { return scale_; }
  /// Returns log prod_i s_i, by which the log density of y exceeds that of x.  Units  nats
  double log_volume() const { return scale_.array().log().sum(); }

  /// Standardises cases in place.  Throws  InvalidArgument if shapes differ
  void apply(Eigen::Ref<Eigen::MatrixXf> cases) const;
  /// Returns the model of y that a model of x is, and the reverse.
  /// Throws  InvalidArgument if the visible layer is not Gaussian or shapes differ
  Layered of_standard_cases(const Layered& model) const;
  Layered of_raw_cases(const Layered& model) const;

 private:
  Eigen::VectorXd mean_;
  Eigen::VectorXd scale_;
};

}  // namespace boltzmark
