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
  few_effective_samples,  ///< too few of them, or weights with Pareto k above 0.5
  not_converged,   ///< too few round trips, a failed solver, or refuted by what is known beside
  unvisited_rung,  ///< a rung was never visited; there may be no number
  below_bound      ///< below a certified lower bound of log Z, by its limits or by five errors
};
inline constexpr double kFewEffectiveSamples = 50;

/// Names a status as JSON does: "ok", "unvisited_rung", ...
std::string_view name(Status status);

/// An estimate of log Z with its error. NaN stands for a number that does not exist.
struct Estimate {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  double log_z = kNone;      ///< nats
  double std_error = kNone;  ///< of log_z by its samples, discretisation included
  double lower = kNone;      ///< 95 %
  double upper = kNone;
  double effective_samples = 0;
  Status status = Status::ok;
  std::vector<std::string> warnings = {};
  /// What the samples tell to be missing from Z, in parts of it, where few of them hold much: no part of
  /// std_error, which is of the samples, until all is held against that.
  double missing = 0;
  /// Nats by which a rule may be off since something rises between two rungs alone, as a standard error;
  /// likewise no part of std_error until then.
  double steps = 0;
  Eigen::VectorXd log_z_rungs = {};  ///< log Z of every rung, first 0; empty if not estimated

  /// Keeps the graver of two statuses (the later one of the enumeration) and says why.
  void refuse(Status reason, std::string warning);
  /// Adds what is missing from Z, in parts of it, to the error:
  ///   e = log(1 + more);  std_error <- sqrt(std_error^2 + e^2), upper <- upper + 1.96 e
  /// Returns  whether e is the greater part of the error
  bool add_missing(double more);
};

/// What the influence values of all samples sum to. An estimator is, to first order, log Z + the
/// mean of its influence values over the samples.
struct InfluenceSums {
  Eigen::VectorXd groups;  ///< sums over the batches of consecutive sweeps of each chain in turn
  int batches = 1;         ///< per chain
  double samples = 0;
  double mean_square = 0;  ///< of single samples
};

/// Turns influence values into a standard error and a 95 % interval.
///   SE^2 = G / (G - 1) sum_g (sum of group g)^2 / N^2,  N = all samples; the interval is Student's
///   with G - 1 degrees of freedom; effective_samples = mean square / SE^2, or all where SE is
///   below 1e-9 nats, which is rounding
/// Groups count as independent. Chains are; batches of one are nearly so if they are long, SE^2
/// being too small by the relaxation time over their length. So neighbouring batches are joined
/// until each holds twelve effective samples, or there would be fewer than five groups.
/// Status  few_effective_samples if these are below kFewEffectiveSamples, or below twelve a batch
/// Throws  InvalidArgument if there is only one group
void set_error(Estimate& estimate, InfluenceSums sums);

/// Sets the error of an estimate from the influence value of every sample: values are summed over
/// batches of consecutive sweeps, as many as RungSums has, of lengths that differ by one at most.
/// Shapes  influences [sweeps x chains], of mean 0; so many consecutive chains, which may depend on
///   each other, make one group
/// An influence that is not finite leaves no error, which `closed` refuses.
/// Throws  InvalidArgument if there is only one group, or the chains are not whole bundles
void set_error(Estimate& estimate, const Eigen::MatrixXd& influences, Eigen::Index bundle = 1);

/// What log importance weights say of the mean weight.
struct WeightSummary {
  double log_mean = 0;           ///< log (1/n) sum_i w_i
  double std_error = 0;          ///< of log_mean, by the jackknife
  double effective_samples = 0;  ///< (sum w)^2 / sum w^2
  double pareto_k = 0;           ///< see pareto_shape; NaN if there is no tail to fit
  int count = 0;                 ///< of the weights
  /// 97.5 % limit of log E[w] if the upper half of the log weights is a normal law's.
  double normal_limit = -std::numeric_limits<double>::infinity();
};

/// Summarises independent log weights. The jackknife follows the curvature of the logarithm, which
/// the delta method leaves out.
///   SE^2 = (n - 1) / n sum_i (l_i - mean l)^2,  l_i = log mean of the weights without w_i
///   normal_limit = m + q/2 + t sqrt(pi q / (2 n) + q^2 / n),  m the median of log w, q the mean
///   square of what the upper half exceeds it by, t Student's quantile
/// Shapes  [n >= 2]
/// Throws  InvalidArgument if there are fewer than 2 or one is not finite
WeightSummary summarise(const Eigen::VectorXd& log_weights);

/// Summarises independent pairs of a log weight and how often it counts: the mean is
/// sum n_i w_i / sum n_i, the jackknife leaves pairs out, and the rest is that of the n_i w_i.
/// Shapes  [n >= 2], counts > 0
/// Throws  InvalidArgument as above, or if shapes differ or a count is not positive
WeightSummary summarise(const Eigen::VectorXd& log_weights, const Eigen::VectorXd& counts);

/// On which side of log Z an estimate falls: E[log mean w] is at most log E[w] (Jensen).
enum class Bound {
  lower,  ///< log Z = log mean w: the estimate falls below log Z in the mean
  upper   ///< log Z = -log mean w: above
};

/// Makes an estimate of log Z from independent weights with mean Z (lower) or 1/Z (upper).
/// The interval is Student's, but never reaches further than log 40 on the side that Markov's
/// inequality bounds:  P(mean w >= 40 E[w]) <= 1/40. On the other side it reaches normal_limit: a
/// sample that misses the tail has a low mean and a small error, and so passes for a good one, but
/// the width of its upper half tells. Log weights are nearly normal where many rungs add to them;
/// of normal ones of 100 chains, trusted intervals cover 94 % or more up to a variance of 1, which
/// verification/statistical/log_weights.cpp holds.
/// Status  few_effective_samples if the effective samples are below kFewEffectiveSamples or the
///   weights' Pareto k is above 1/2
Estimate estimate_from_weights(const WeightSummary& summary, Bound bound);

/// Joins an estimate that falls below log Z with one that falls above (AIS and RAISE, the forward
/// and the backward stepping stones):  [lower of the one, upper of the other] holds log Z.
/// log_z is the middle; its std_error has both errors and a gap that is taken as uniform. The
/// errors count as fully correlated, since both sides may read the same samples, as stepping stones
/// do.
///   SE^2 = ((SE_l + SE_u) / 2)^2 + gap^2 / 12,  gap = max(0, upper log_z - lower log_z)
/// Status  the graver of the two; not_converged if the lower limit exceeds the upper one
Estimate sandwich(const Estimate& below, const Estimate& above);

}  // namespace boltzmark
