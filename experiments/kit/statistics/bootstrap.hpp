#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "boltzmark/random/key.hpp"
#include "experiments/kit/statistics/interval.hpp"

namespace boltzmark {

/// How bootstrap limits are read off the replicates (Efron and Tibshirani 1993, chapters 13, 14).
enum class BootstrapMethod {
  percentile,
  bca  ///< bias-corrected and accelerated; falls back on percentile where undefined
};

/// Settings of a bootstrap.
struct BootstrapOptions {
  StreamKey key;
  int replicates = 10000;
  double level = 0.95;
  BootstrapMethod method = BootstrapMethod::bca;
};

/// A bootstrap interval and the standard deviation of the replicates.
struct BootstrapInterval : Interval {
  double std_error = 0;
  /// How far either limit may be, in 95 of 100 keys, from that of endless replicates: half of what lies
  /// between the replicates of so much higher and lower levels.
  double lower_noise = 0, upper_noise = 0;
};

/// A statistic of a sample.
using Statistic = std::function<double(std::span<const double>)>;
/// A statistic of a resample given by row numbers, for pairs, strata and ratios.
using RowStatistic = std::function<double(std::span<const std::size_t>)>;
/// Row numbers, stratum by stratum.
using Strata = std::vector<std::vector<std::size_t>>;
/// A statistic of rows drawn from several strata.
using StrataStatistic = std::function<double(const Strata&)>;

/// Bootstraps a statistic of independent values.
/// Randomness  replicate r draws from Stream(key, Purpose::bootstrap, r)
/// Throws  InvalidArgument if there are fewer than 2 values, replicates < 100, level is outside
/// (0, 1), or the statistic is not finite on the values
BootstrapInterval bootstrap(std::span<const double> values, const Statistic& statistic,
                            const BootstrapOptions& options);

/// Bootstraps a statistic of `rows` independent rows; the statistic gets the numbers of the rows
/// drawn. Replicates run on several threads: the statistic must not write to shared places.
/// Randomness, Throws  as above
BootstrapInterval bootstrap_rows(std::size_t rows, const RowStatistic& statistic,
                                 const BootstrapOptions& options);

/// Bootstraps a positive statistic of independent strata of `sizes` rows each, one less than it has
/// drawn of each: the variance of a stratum's mean is then s^2 / n, however few rows it has, where n
/// of n give (n - 1) / n of that.    [Rao and Wu 1988]
/// The limits are those of the logarithm, its standard error by the replicates times Student's
/// quantile with the smallest stratum's n - 1 degrees of freedom: with four rows percentiles of
/// ratios cover seven to nine times in ten. Options' method is not used; std_error is that of the
/// statistic; threads, Randomness as above
/// Throws  InvalidArgument if there is no stratum or one of fewer than 2 rows, the statistic is not
/// positive, and as above
BootstrapInterval bootstrap_strata(std::span<const std::size_t> sizes,
                                   const StrataStatistic& statistic,
                                   const BootstrapOptions& options);

/// Bootstraps a mean.
BootstrapInterval bootstrap_mean(std::span<const double> values, const BootstrapOptions& options);

}  // namespace boltzmark
