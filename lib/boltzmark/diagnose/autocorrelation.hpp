#pragma once

#include <Eigen/Core>

namespace boltzmark {

/// Estimates the autocovariances of one series about a given mean.
///   gamma_k = 1/n sum_{t=0}^{n-1-k} (x_t - mean) (x_{t+k} - mean),  k = 0..max_lag
/// The factor 1/n at every lag (not 1/(n-k)) keeps the sequence positive definite.
/// Shapes    series [steps]; result [max_lag + 1]
/// Accuracy  about 1e-14 gamma_0 (by Fourier transform from 64 lags on, by direct sums below)
/// Throws    InvalidArgument if the series is empty or not finite, or max_lag is outside 0..steps-1
/// Cost      O(steps log max_lag) time, O(max_lag) memory
Eigen::VectorXd autocovariance(const Eigen::Ref<const Eigen::VectorXd>& series,
                               Eigen::Index max_lag, double mean);

/// Estimates the autocovariances of several chains of one law: the average over the chains of
/// their autocovariances about the mean of all samples.
/// Shapes  chains [steps x chains], a column is one chain; result [max_lag + 1]
/// Throws  InvalidArgument as above, or if there is no chain
Eigen::VectorXd autocovariance(const Eigen::Ref<const Eigen::MatrixXd>& chains,
                               Eigen::Index max_lag);

/// Estimates the autocorrelation function R(k) = gamma_k / gamma_0 (bruegge2013, section 4.3:
/// centred).
/// Shapes  chains [steps x chains]; result [max_lag + 1], first entry 1
/// Throws  InvalidArgument as autocovariance does, or if the series is constant
Eigen::VectorXd autocorrelation(const Eigen::Ref<const Eigen::MatrixXd>& chains,
                                Eigen::Index max_lag);

}  // namespace boltzmark
