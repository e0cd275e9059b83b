#pragma once

#include <cstdint>
#include <map>
#include <span>

namespace boltzmark {

/// A generalised Pareto law of exceedances, density (1 + shape x / scale)^(-1/shape - 1) / scale:
/// moments of order 1/shape and above are infinite.
struct GeneralisedPareto {
  double shape = 0;
  double scale = 0;
};

/// Fits a generalised Pareto law to exceedances by the profile likelihood averaged over a
/// data-driven prior.                                           [Zhang and Stephens 2009, Sec. 2]
/// `at_least` holds others of which only a lower limit is known: P(exceedance > limit) is their part of
/// the likelihood.
/// Throws  InvalidArgument if there are fewer than 5 exceedances, or one is not finite or not positive
GeneralisedPareto fit_generalised_pareto(std::span<const double> exceedances,
                                         std::span<const double> at_least = {});

/// Computes the shape k of the upper tail of importance weights: above 1/2 their variance is
/// infinite as far as the tail tells, so the error of their mean is not to be trusted.
/// The tail is the largest min(n / 5, 3 sqrt(n)) weights; the fit is pulled to 1/2 with the weight
/// of ten of them:
///   k = (M k_fit + 5) / (M + 10)                        [Vehtari et al. 2024, Sec. 3.2, App. G]
/// Returns  NaN where fewer than 5 weights lie above the rest: there is no tail to fit; infinity where so many
///   do, but fewer are more than 0 beside the largest
/// Throws   InvalidArgument if a log weight is NaN or plus infinity
double pareto_shape(std::span<const double> log_weights);
/// Computes it of weights that are whole numbers, of which each is given with how often it occurs; M counts
/// those in the tail, which `at_least`, weights of which only a lower limit is known, only lengthen. The tail
/// is halved while its law expects fewer than a tenth of a number above the largest: a few that are far
/// larger than all others are of another law, and among many of these they would hardly be seen.
/// Throws   InvalidArgument if a weight or a number is negative
double pareto_shape_of_numbers(const std::map<std::int64_t, std::int64_t>& numbers,
                               const std::map<std::int64_t, std::int64_t>& at_least = {});
/// Computes what numbers that are larger than the largest, up to ten times as large, add to their sum by
/// the law fitted to their tail, in parts of that sum: the larger the shape, the more of a sum is in the
/// few largest numbers of all, of which the largest may be missing.
/// Returns  0 where there is no tail to fit     Throws  as pareto_shape_of_numbers
double sum_above_largest(const std::map<std::int64_t, std::int64_t>& numbers,
                         const std::map<std::int64_t, std::int64_t>& at_least = {});

}  // namespace boltzmark
