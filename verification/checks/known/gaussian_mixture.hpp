#pragma once

#include <cstdint>

#include "boltzmark/target/continuous.hpp"

namespace boltzmark {

/// Sizes of the Gaussian mixture; the defaults are those of carlson2016, Appendix E.
struct GaussianMixtureOptions {
  int dimension = 10;
  double separation = 5;  ///< of the two means, along the first axis
  double variance = 0.5;  ///< of both components, on every axis
  double base_variance = 30;
};

/// Two Gaussians of equal weight, unnormalised, with a wide Gaussian as their base.
///   f(x) = (e^{-|x - m|^2 / (2 s)} + e^{-|x + m|^2 / (2 s)}) / 2,  m = (separation / 2, 0, .., 0)
///   p1 = N(0, S I)                                                    [carlson2016, Appendix E]
/// There p1 is unnormalised too: its log Z(b) is ours + (1 - b) (d / 2) log(2 pi S), which falls
/// from 5 ln(60 pi) = 26.195 to 5 ln(pi) = 5.7236, and ours rises from 0 to the same 5.7236.
class GaussianMixture final : public ContinuousDensity {
 public:
  /// Throws  InvalidArgument if dimension < 1, separation is negative, a variance is not positive,
  /// one is not finite, or log Z would be a sum of more than 2^24 terms (means some 2,500 standard
  /// deviations apart)
  explicit GaussianMixture(const GaussianMixtureOptions& options = {});

  int dimension() const override { return options_.dimension; }
  void draw_base(Stream& stream, PointOut x) const override;
  double log_f(const PointRef& x) const override;
  double log_base(const PointRef& x) const override;
  void gradient(const PointRef& x, double b, PointOut out) const override;

  /// Computes log of the integral of f^b p1^(1-b).
  /// All axes but the first are Gaussian; the first is summed by the trapezoidal rule, whose error
  /// falls exponentially for a function analytic in a strip.         [Trefethen and Weideman 2014]
  /// Accuracy  1e-12 relative to Z(b), and 1e-15 of separation^2 / (8 variance)
  /// Throws  InvalidArgument if b is outside [0, 1]
  double log_z(double b) const;
  /// Computes the precision b / s + (1 - b) / S of f_b on every axis but the first.
  double precision(double b) const;

 private:
  // The points of the sum that is log Z: -half .. half steps.
  struct Grid {
    double step;
    std::int64_t half;
  };
  Grid grid(double b) const;

  GaussianMixtureOptions options_;
  double tilt_;           ///< |m| / s, the slope of log cosh far from 0
  double log_base_peak_;  ///< log p1(0)
};

}  // namespace boltzmark
