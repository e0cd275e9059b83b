#pragma once

#include <Eigen/Core>
#include <string>

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

// The autocorrelation time is tau = 1 + 2 sum_{k>=1} R(k) (bruegge2013, section 4.3): tau
// successive samples are worth one independent one. It may lie below 1 (antithetic chains).
// Every estimator takes chains [steps x chains]: a column is one chain of the same law, all centred
// at the mean of all samples, so that chains stuck in different modes lengthen tau.

/// An estimate of the autocorrelation time, in steps, with its 95 % interval.
struct TimeEstimate {
  double tau = 0;
  double std_error = 0;  ///< one standard deviation of tau
  double lower = 0;
  double upper = 0;
};

/// An autoregressive model fitted to autocovariances.
struct ArModel {
  Eigen::VectorXd coefficients;  ///< pi_1..pi_p
  double residual_variance = 0;
};

/// Fits an autoregressive model of a given order by Yule-Walker (Levinson-Durbin recursion).
/// Shapes  autocovariances [at least order + 1], exact or estimated
/// Throws  InvalidArgument if order is negative, lags are missing, or the lag-0 entry is not
/// positive
ArModel fit_yule_walker(const Eigen::VectorXd& autocovariances, Eigen::Index order);

/// Computes the autocorrelation time of a fitted model.
///   tau = (1 - sum pi_i rho_i) / (1 - sum pi_i)^2; a fit reproduces rho_1..rho_p of its data
double ar_time(const Eigen::VectorXd& coefficients, const Eigen::VectorXd& autocovariances);

/// The estimate by an autoregressive model, and the model.
struct ArTime : TimeEstimate {
  int order = 0;
  int max_order = 0;
  bool order_at_maximum = false;  ///< the model wanted more terms: do not trust tau
  Eigen::VectorXd coefficients;   ///< pi_1..pi_order
  double innovation_variance = 0;
};

/// Estimates tau by SamplerCompare's `ar.act` [Thompson 2010]: the ar_time of fit_yule_walker, its order
/// chosen by AIC as R's ar.yw does.
///   AIC(p) = n log v_p + 2 p,  p = 0..min(floor(10 log10 n), steps - 2);  order 0 becomes 1
/// Here v_p is the raw residual variance and n the steps of all chains; innovation_variance is
/// v_p n / (n - p - 1), as R reports it. The standard error is the delta method on the asymptotic
/// covariance of the coefficients (order taken as known), or the jackknife over 5 or more chains
/// where that is larger; the 95 % interval covers about 90 % at 250 tau (measured).
///
/// Throws  InvalidArgument if steps < 3, or the series is constant or not finite
ArTime ar_act(const Eigen::Ref<const Eigen::MatrixXd>& chains);

/// The sum of an initial sequence of autocovariances, in units of the first.
struct InitialSum {
  double tau = 0;
  Eigen::Index window = 1;  ///< the last lag summed, odd
  bool truncated = false;   ///< a pair was not positive: more lags would not change the sum
};

/// Sums autocovariances, exact or estimated, over Geyer's initial positive sequence (formula below).
/// Throws  InvalidArgument if there are fewer than 2 lags or the first entry is not positive
InitialSum initial_sequence_sum(const Eigen::VectorXd& autocovariances);

/// The estimate by an initial sequence, and where the sum was cut.
struct SequenceTime : TimeEstimate {
  Eigen::Index window = 0;  ///< the last lag summed, odd
};

/// Estimates tau by Geyer's initial positive sequence.
///   tau = -1 + 2 sum_{m=0}^{M} Gamma_m / gamma_0,  Gamma_m = gamma_2m + gamma_2m+1,
///   M the last m before the first Gamma_m <= 0                      [Geyer 1992, section 3.3]
/// For a reversible chain Gamma_m is positive, decreasing and convex, and the estimate is
/// consistent from above. Sweeps such as T_h T_v are not reversible: the true Gamma_m of a function
/// of both sides may be negative early, and the sum may then be cut too soon. The autocovariances
/// still decay geometrically, so batch means stay consistent: always cross-check (judge below).
///   standard error: tau sqrt((4 window + 2) / samples)     [Madras & Sokal 1988, eq. 2.19],
/// or the jackknife over chains (5 or more) where that is larger; the interval is symmetric in log
/// tau. A sum that noise made negative is replaced by that noise, sqrt((4 window + 2) / samples).
/// Accuracy  noise in the cut adds about 5 % to tau at 250 tau, 2 % at 2000 tau; the 95 % interval
/// covers 96-98 % on positively correlated chains, 88-93 % on antithetic ones (both measured)
/// Throws  InvalidArgument if steps < 4, or the series is constant or not finite
SequenceTime geyer_time(const Eigen::Ref<const Eigen::MatrixXd>& chains);

/// The estimate by batch means, and the batches.
struct BatchTime : TimeEstimate {
  Eigen::Index batch_size = 0;
  Eigen::Index batches = 0;  ///< of all chains
};

/// Estimates tau by the variance of the means of batches, which needs no reversibility.
///   tau = b s^2(batch means) / s^2(samples); its interval is chi-squared with batches-1 degrees
/// The relative bias is about -tau / (2 b): at b = 20 tau, -2.5 %.
/// Throws  InvalidArgument if there are fewer than 2 batches or the series is constant
BatchTime batch_means_time(const Eigen::Ref<const Eigen::MatrixXd>& chains,
                           Eigen::Index batch_size);

/// Whether the estimators agree well enough to judge a claim on tau.
enum class TimeStatus {
  agreed,
  ar_order_at_maximum,  ///< the autoregressive model saturates
  disagreement,         ///< Geyer's and batch means differ by more than 2 standard errors
  too_short,            ///< fewer than 20 batches of about 25 tau
  constant              ///< the series does not move: tau is infinite or undefined
};

/// The autocorrelation time that claims are judged on (Geyer's), and its cross-checks.
struct JudgedTime {
  TimeStatus status = TimeStatus::constant;
  SequenceTime geyer;
  BatchTime batch_means;   ///< batches of at least 20 tau; zero where too short
  ArTime ar;               ///< fills the paper's column only
  double discrepancy = 0;  ///< |log tau_geyer - log tau_batch| in standard errors of the difference
  bool supported = false;  ///< batch means exist and agree, whatever order the AR model would take
  bool decided() const { return status == TimeStatus::agreed; }
};

/// Estimates tau in three ways and refuses to decide when they do not support each other.
/// A sound series is refused as `disagreement` with probability about 0.02.
/// Throws  InvalidArgument if steps < 4 or a value is not finite; never for a constant series
JudgedTime judge_autocorrelation_time(const Eigen::Ref<const Eigen::MatrixXd>& chains);

/// Names a status in a few words, for tables.
std::string describe(TimeStatus status);

}  // namespace boltzmark
