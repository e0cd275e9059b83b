#pragma once

#include <Eigen/Core>

#include "boltzmark/core/progress.hpp"
#include "boltzmark/sample/estimate.hpp"
#include "boltzmark/sample/top_states.hpp"
#include "boltzmark/target/ladder.hpp"
#include "boltzmark/target/target.hpp"

namespace boltzmark {

/// The settings of a run with a continuous inverse temperature.
struct ContinuousTemperingOptions {
  int chains = 100;
  int sweeps = 10000;                  ///< total per chain; half finds log Zhat at the knots
  Ladder knots = Ladder::linear(100);  ///< refined to steps of 1/99: log Zhat(b) is linear between
  StreamKey key = {};
  Progress progress = nullptr;      ///< the share done; may throw to stop
  TopStates* top_states = nullptr;  ///< takes states at b = 1, of the second half of the sweeps
};

/// Samples with their own inverse temperatures.  Shapes  matrices [sweeps x chains]
struct ContinuousSamples {
  Ladder knots;
  Eigen::VectorXd log_z_hat = {};            ///< at the knots
  Eigen::MatrixXd log_ratio = {};            ///< D
  Eigen::MatrixXd inverse_temperature = {};  ///< b, uniform over [0, 1] as far as Zhat is right
  Eigen::MatrixXi interval = {};             ///< of knots, that b was in
  Eigen::MatrixXd density = {};              ///< of b, see set_density
  Eigen::VectorXd knot_density = {};         ///< mean density of b given D [knots]
  Eigen::VectorXd knot_ratio = {};           ///< mean of D at a knot, each by its density there
  Eigen::VectorXd occupancy = {};            ///< mean probability of each interval [knots - 1]
};

/// Samples x and b from  q(x, b) ~ f_b(x) / Zhat(b),  b in [0, 1].      [carlson2016, Secs. 3.4, 5]
/// Given x, b has a density e^(b D) / Zhat(b): exponential between knots, and drawn exactly. Knots
/// further apart than 1/99 get others between them, or b would hardly be seen where log Z(b), which
/// is convex, lies far below a straight line.
/// Throws  InvalidArgument on settings out of range
ContinuousSamples continuous_tempering(const Target& target,
                                       const ContinuousTemperingOptions& options);

/// Computes the density of b that the samples have, from their own densities q(b | D_n).
///   p(b) = mean over n of q(b | D_n) ~ e^G(b) / Zhat(b),  G'(b) = mean of D by these densities:
///   both are exact at the knots, and G is the cubic with these values and slopes between them
/// Writes  density, knot_density, knot_ratio, occupancy
void set_density(ContinuousSamples& samples);

/// Estimates log Z as ti_continuous(log_ratio, density) does, and judges the trips of b between
/// [0, 0.05) and (0.95, 1], and how many chains share the visits of the latter. The density is itself
/// estimated from these samples, which takes up most of what the random b would add: the influence of a
/// sample is
///   D_n / p(b_n) - sum_k A_k m_kn / c_k,  A_k = mean over n of D_n / p(b_n) 1{b_n in k},
///   m_kn its probability of interval k and c_k their mean
/// std_error also has the distance to the estimate whose density knows every other knot alone.
/// Status  not_converged if the density somewhere is below a twentieth of the uniform one
Estimate ti_continuous(const ContinuousSamples& samples);

/// Draws b given D: interval by its probability, then by inversion inside it.
/// Writes the intervals' probabilities, m_k ~ int_{b_k}^{b_{k+1}} e^(b D - log Zhat(b)) db.
/// Shapes  log_z_hat [knots], masses [knots - 1]
double draw_inverse_temperature(const Ladder& knots, const Eigen::VectorXd& log_z_hat,
                                double log_ratio, double interval_draw, double place_draw,
                                Eigen::VectorXd& masses, int& interval);

}  // namespace boltzmark
