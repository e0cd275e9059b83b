#pragma once

#include <Eigen/Core>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace boltzmark {

/// Whether an estimate can be trusted.
enum class Status {
  ok,
  few_effective_samples,  ///< below kFewEffectiveSamples, or weights with Pareto k above 0.5
  not_converged,  ///< too few round trips between the ends of the ladder, or a failed solver
  unvisited_rung  ///< a rung was never visited; there may be no number
};
inline constexpr double kFewEffectiveSamples = 50;

/// Names a status as JSON does: "ok", "unvisited_rung", ...
std::string_view name(Status status);

/// An estimate of log Z with its error. NaN stands for a number that does not exist.
struct Estimate {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  double log_z = kNone;      ///< nats
  double std_error = kNone;  ///< of log_z, discretisation included
  double lower = kNone;      ///< 95 %
  double upper = kNone;
  double effective_samples = 0;
  Status status = Status::ok;
  std::vector<std::string> warnings = {};
  Eigen::VectorXd log_z_rungs = {};  ///< log Z of every rung, first 0; empty if not estimated

  /// Keeps the graver of two statuses (the later one of the enumeration) and says why.
  void refuse(Status reason, std::string warning);
};

/// Turns influence values into a standard error and a 95 % interval.
/// An estimator is, to first order, log Z + the mean of its influence values over the samples.
/// Values are summed over groups that are taken as independent: chains, or long batches of them.
///   SE^2 = G / (G - 1) sum_g (sum of group g)^2 / N^2,  N = all samples; the interval is Student's
///   with G - 1 degrees of freedom; effective_samples = (mean square of the values) / SE^2
/// Shapes  group_sums [groups >= 2]; mean_square over single samples
void set_error(Estimate& estimate, const Eigen::VectorXd& group_sums, double samples,
               double mean_square);

}  // namespace boltzmark
