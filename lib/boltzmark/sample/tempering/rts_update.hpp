#pragma once

#include <Eigen/Core>

namespace boltzmark {

/// Turns rung occupancies into log partition functions.
///   log Z_k = log Zhat_k - log Zhat_1 + log r_1 - log r_k + log c_k - log c_1   [carlson2016, Eq. 12, Zhat_1 = 1]
/// Shapes  all [rungs], rungs >= 2; log_prior = log r       Units  nats
/// Throws  InvalidArgument if sizes differ or an occupancy is negative or not finite
Eigen::VectorXd log_z_from_occupancies(const Eigen::VectorXd& occupancy,
                                       const Eigen::VectorXd& log_prior,
                                       const Eigen::VectorXd& log_z_hat);

/// Moves log Zhat by one step of self-adjusted mixture sampling, in which step ~ 1 / t.
///   log Zhat_k += step (c_k / r_k - c_1 / r_1)        [Tan et al. 2016; carlson2016, Eq. 19]
/// Shapes, Throws  as log_z_from_occupancies
Eigen::VectorXd sams_update(const Eigen::VectorXd& occupancy, const Eigen::VectorXd& log_prior,
                            const Eigen::VectorXd& log_z_hat, double step);

/// Moves log Zhat a part of the way to RTS's estimate.
///   Zhat_k <- Zhat_k ((r_1 / r_k) (c_k / c_1))^alpha                        [carlson2016, Eq. 24]
/// Shapes, Throws  as log_z_from_occupancies
Eigen::VectorXd partial_rts_update(const Eigen::VectorXd& occupancy,
                                   const Eigen::VectorXd& log_prior,
                                   const Eigen::VectorXd& log_z_hat, double alpha);

}  // namespace boltzmark
