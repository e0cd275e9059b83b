#pragma once

#include <cstdint>
#include <span>

namespace boltzmark {

/// What a test looks for against its null hypothesis.
enum class Alternative { two_sided, less, greater };

/// An estimate between its confidence limits.
struct Interval {
  double estimate = 0;
  double lower = 0;
  double upper = 0;
};

/// Throws  InvalidArgument unless a level of this name is inside 0..1
void check_inside(const char* name, double level);

/// Computes the arithmetic mean: NaN of no value.
double mean_of(std::span<const double> values);

/// Computes the standard error of a mean.  Throws  InvalidArgument as mean_interval
double mean_std_error(std::span<const double> values);

/// Computes Student's t interval of a mean.
/// Throws  InvalidArgument if there are fewer than 2 values, one is not finite, or level is outside
/// (0, 1)
Interval mean_interval(std::span<const double> values, double level = 0.95);

/// Computes the median: the middle value, or the mean of the two middle ones.
/// Infinite values are allowed (a censored time is +infinity).
/// Throws  InvalidArgument if there is no value or one is NaN
double median(std::span<const double> values);

/// Computes a quantile by linear interpolation between order statistics (Hyndman-Fan type 7, as R).
/// Throws  InvalidArgument as median does, or if probability is outside [0, 1]
double quantile(std::span<const double> values, double probability);

/// Computes the exact, distribution-free interval of a median between order statistics.
///   [x_(k), x_(n+1-k)], k largest with P(Binomial(n, 1/2) < k) <= (1 - level) / 2
/// With n too small for the level the limits are infinite. Infinite values are allowed.
/// Throws  InvalidArgument as median does, or if level is outside (0, 1)
Interval median_interval(std::span<const double> values, double level = 0.95);

/// Computes the exact interval of a proportion (Clopper and Pearson 1934).
/// Throws  InvalidArgument if trials = 0, successes > trials or level is outside (0, 1)
Interval proportion_interval(std::uint64_t successes, std::uint64_t trials, double level = 0.95);

/// Computes the interval of a ratio of paired means, mean(numerator) / mean(denominator) (Fieller
/// 1954). It is unbounded (limits -inf, +inf) when the denominator's mean is not resolved from 0.
/// Throws  InvalidArgument if sizes differ or are below 2, the denominators' mean is 0, or level is
/// outside (0, 1)
Interval paired_ratio_interval(std::span<const double> numerator,
                               std::span<const double> denominator, double level = 0.95);

}  // namespace boltzmark
