#pragma once

#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "boltzmark/sample/estimate.hpp"
#include "experiments/kit/experiment.hpp"
#include "experiments/kit/statistics/interval.hpp"
#include "experiments/kit/summary.hpp"

namespace boltzmark::experiments {

/// Root of the mean of squares.  Shapes  not empty
double rmse(std::span<const double> errors);
/// Degrees of freedom of the chi-squared law of the sum of n squared normal errors: n where they have no
/// bias, the more the larger it is beside their spread, so that limits of an RMSE are Student's of the bias.
///   2 mean^2 / variance of that sum = n (s^2 + m^2)^2 / (s^4 + 2 k s^2 m^2),  at least n
///   m^2 = mean^2 - s^2 / n or 0,  k = (Student's quantile / the normal one)^2     [Satterthwaite 1946]
double squares_freedom(std::span<const double> errors);
/// RMSE with its 95 % interval for normal errors, by that law.
WithInterval rmse_estimate(std::span<const double> errors);

/// One estimate held against the truth. NaN stands for a number that does not exist.
struct Outcome {
  double truth = 0;
  double estimate = std::numeric_limits<double>::quiet_NaN();
  double std_error = std::numeric_limits<double>::quiet_NaN();
  double lower = std::numeric_limits<double>::quiet_NaN();  ///< 95 %
  double upper = std::numeric_limits<double>::quiet_NaN();
  bool ok = true;  ///< its status; otherwise it was refused

  /// Whether the interval holds the truth, but for the rounding of either.
  bool covered() const {
    const double rounding = 1e-12 * (1 + std::abs(truth));
    return lower - rounding <= truth && truth <= upper + rounding;
  }
};

/// Writes an estimate of log Z as a trial's output: log_z, std_error, lower, upper, status.
Json describe_estimate(const Estimate& estimate);
/// Reads back what describe_estimate wrote.
Outcome read_outcome(const Json& output, double truth);

/// The errors of repeated estimates of log Z. Moments are of all estimates that have a number,
/// refused ones included; coverage is of those that are ok.
struct ErrorCell {
  int estimates = 0;
  int refused = 0;             ///< with a status other than ok
  int covered = 0;             ///< ok, and the truth within [lower, upper]
  std::vector<double> errors;  ///< estimate - truth
  double mean = 0;             ///< of the errors
  double std_dev = 0;
  double rmse = 0;
  double lower = 0, upper = 0;  ///< 95 % of the RMSE, for normal errors
  double mean_std_error = 0;
  std::vector<double> scaled;  ///< error / std_error, of those that are ok

  int ok() const { return estimates - refused; }
  /// The mean error with Student's 95 % interval, of width 0 where there is but one error.
  Interval bias() const;
  bool empty() const { return errors.size() < 2; }
  /// The share of ok estimates whose interval holds the truth.    [Clopper and Pearson 1934]
  /// Throws  InvalidArgument if none is ok
  Interval coverage() const;
  /// The standard deviation of the errors of ok estimates in units of their standard errors: 1 if
  /// these are right; NaN if fewer than two are ok.
  double scaled_spread() const;
};

/// Sums outcomes up.
ErrorCell sum_up_errors(std::span<const Outcome> outcomes);

}  // namespace boltzmark::experiments
