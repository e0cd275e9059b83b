#pragma once

#include <Eigen/Core>
#include <vector>

#include "boltzmark/sample/estimate.hpp"
#include "boltzmark/sample/sample_store.hpp"
#include "boltzmark/sample/tempering/simulated_tempering.hpp"

namespace boltzmark {

/// Means of c_1 and c_k over all samples, and the covariances of these means.
struct OccupancyMoments {
  double first = 0, other = 0;
  double var_first = 0, var_other = 0, covariance = 0;
};

/// Estimates the moments of the occupancies of the first and of another rung from groups of samples
/// that are taken as independent.
/// Throws  InvalidArgument if there are fewer than two groups
OccupancyMoments occupancy_moments(const RungSums& sums, Eigen::Index rung);
/// Approximates E[log Zhat_k^RTS] - log Z_k.
///   (var c_1 / c_1^2 - var c_k / c_k^2) / 2                         [carlson2016, Eq. 15, App. B]
double rts_bias(const OccupancyMoments& moments);
/// Approximates Var[log Zhat_k^RTS].
///   var c_1 / c_1^2 + var c_k / c_k^2 - 2 cov / (c_1 c_k)           [carlson2016, Eq. 16, App. B]
double rts_variance(const OccupancyMoments& moments);

/// Estimates log Z by Rao-Blackwellised tempered sampling.                  [carlson2016, Eq. 12]
/// The influence of a sample is q(b_K | x) / c_K - q(b_1 | x) / c_1, so that SE^2 is Eq. 16.
/// Throws  InvalidArgument as log_z_from_occupancies, or if there are fewer than two groups
Estimate rts(const RungSums& soft_sums, const Eigen::VectorXd& log_prior,
             const Eigen::VectorXd& log_z_hat);
/// Estimates log Z from a store and judges its mixing.
/// Throws  InvalidArgument if rungs were not drawn or the states asked for are not stored
Estimate rts(const SampleStore& store, States states);

/// Estimates log Z from counts: RTS without Rao-Blackwellisation.
///   c_k = (n_k + a) / (N + a K)                                    [carlson2016, Fig. 1 and 4.3]
/// With a = 0 (the paper uses 0.1) an unvisited rung is refused and has no estimate; otherwise there is a number,
/// but the status still says unvisited_rung.
/// Throws  InvalidArgument as rts, or if the added count is negative
Estimate ts(const RungSums& hard_sums, const Eigen::VectorXd& log_prior,
            const Eigen::VectorXd& log_z_hat, double added_count = 0);
/// Estimates log Z from a store and judges its mixing.
/// Throws  InvalidArgument if rungs were not drawn by simulated tempering
Estimate ts(const SampleStore& store, double added_count = 0);

/// Samples drawn while log Zhat stood still.
struct RtsStage {
  RungSums sums;              ///< soft ones
  Eigen::VectorXd log_z_hat;  ///< of this stage [rungs]
};

/// Estimates log Z by maximising the Rao-Blackwellised likelihood of all stages; one gives RTS.
///   sum_t N_t (sum_k c_k^(t) log Z_k - log sum_k r_k Z_k / Zhat_k^(t))
///                                                              [carlson2016, Eq. 14, Appendix A]
/// With H the negative Hessian and H s = e_K - e_1, sample n of stage t has the influence
/// N s'(q(x_n) - pi^(t)), pi_k^(t) ~ r_k Z_k / Zhat_k^(t). Groups of the same number are added over
/// stages before they are taken as independent, because chains go on from stage to stage.
/// effective_samples is judged by the ends of the ladder, which is exact for one stage.
/// Status  unvisited_rung, without an estimate, if a rung has no weight in any stage;
/// not_converged if the solver failed
/// Throws  InvalidArgument if there is no stage, shapes disagree, or there is only one group
Estimate rts_mixed(const std::vector<RtsStage>& stages, const Eigen::VectorXd& log_prior);
/// Does so with the kept sweeps of a tempered run and those of its initial rounds in which the
/// chains made as many round trips as trust asks for, and judges its mixing. A shorter round is
/// still where the one before left it, which no spread between its chains tells.
Estimate rts_mixed(const TemperedRun& run);

}  // namespace boltzmark
