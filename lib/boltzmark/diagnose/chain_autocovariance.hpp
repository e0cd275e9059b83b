#pragma once

#include <Eigen/Core>
#include <functional>

#include "boltzmark/diagnose/autocorrelation_time.hpp"

namespace boltzmark::detail {

/// Throws InvalidArgument if there are fewer steps than `least`, no chain, a value is not finite,
/// or all values are equal.
void check_series(const Eigen::Ref<const Eigen::MatrixXd>& chains, Eigen::Index least);

/// Estimates each chain's autocovariances about the mean of all samples.
/// Shapes  chains [steps x chains]; result [max_lag + 1, chains]
Eigen::MatrixXd chain_autocovariances(const Eigen::Ref<const Eigen::MatrixXd>& chains,
                                      Eigen::Index max_lag);

/// Averages the columns, in order.
Eigen::VectorXd average(const Eigen::Ref<const Eigen::MatrixXd>& columns);

/// Sets the standard error and the 95 % interval, symmetric in log tau, from a relative standard
/// error and, with 5 chains or more, from the leave-one-chain-out jackknife of `statistic` (a
/// function of the average autocovariances) with Student's t; the wider of the two counts.
void set_interval(TimeEstimate& estimate, double relative_error,
                  const Eigen::Ref<const Eigen::MatrixXd>& autocovariances,
                  const std::function<double(const Eigen::VectorXd&)>& statistic);

}  // namespace boltzmark::detail
