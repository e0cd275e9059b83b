#pragma once

#include <Eigen/Core>
#include <limits>

#include "boltzmark/sample/estimate.hpp"

namespace boltzmark {

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
