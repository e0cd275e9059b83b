#pragma once

#include <Eigen/Core>
#include <functional>

#include "boltzmark/estimate/ladder.hpp"
#include "boltzmark/estimate/target.hpp"

namespace boltzmark {

/// The settings of a run with a continuous inverse temperature.
struct ContinuousTemperingOptions {
  int chains = 100;
  int sweeps = 10000;                  ///< total per chain; half finds log Zhat at the knots
  Ladder knots = Ladder::linear(100);  ///< log Zhat(b) is linear between them
  StreamKey key = {};
  std::function<void(double)> progress = nullptr;  ///< the share done; may throw to stop
};

/// Samples with their own inverse temperatures.  Shapes  all [sweeps x chains]
struct ContinuousSamples {
  Eigen::MatrixXd log_ratio;            ///< D
  Eigen::MatrixXd inverse_temperature;  ///< b, uniform over [0, 1] as far as Zhat is right
  /// The density of b: Rao-Blackwellised within each interval of knots, flat inside one.
  Eigen::MatrixXd density;
};

/// Samples x and b from  q(x, b) ~ f_b(x) / Zhat(b),  b in [0, 1].      [carlson2016, Secs. 3.4, 5]
/// Given x, b has a density e^(b D) / Zhat(b): exponential between knots, and drawn exactly.
/// Throws  InvalidArgument on settings out of range
ContinuousSamples continuous_tempering(const Target& target,
                                       const ContinuousTemperingOptions& options);

/// Draws b given D: interval by its mass, then by inversion inside it.
///   mass_k = int_{b_k}^{b_{k+1}} e^(b D - log Zhat(b)) db
/// Writes the intervals' probabilities.  Shapes  log_z_hat [knots], masses [knots - 1]
double draw_inverse_temperature(const Ladder& knots, const Eigen::VectorXd& log_z_hat,
                                double log_ratio, double interval_draw, double place_draw,
                                Eigen::VectorXd& masses, int& interval);

}  // namespace boltzmark
