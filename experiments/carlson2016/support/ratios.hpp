#pragma once

#include <span>
#include <string>

#include "experiments/kit/errors.hpp"
#include "experiments/kit/statistics/bootstrap.hpp"
#include "experiments/kit/summary.hpp"

namespace boltzmark::experiments {

/// Which claim a ratio decides, and the ratio that the power is stated for.
struct RatioClaim {
  std::string claim;
  std::string part = {};
  double threshold = 1;
  double against = 1;
};

/// Measures a positive statistic of paired repeats by the percentile bootstrap over them.
/// The power is that of the 95 % interval of the logarithm, taken as normal, with the relative
/// standard error found, to exclude the threshold. It is not decidable, as its note says, where a limit
/// is as near to the threshold as it may be to that of another key of the bootstrap.
/// Throws  InvalidArgument if there are fewer than 2 repeats or the statistic is not finite
Measure ratio_measure(const RatioClaim& claim, std::size_t repeats, const RowStatistic& statistic);

/// The same of a statistic of several independent strata of `sizes` rows, by bootstrap_strata; n is
/// the size of the smallest.
Measure ratio_measure(const RatioClaim& claim, std::span<const std::size_t> sizes,
                      const StrataStatistic& statistic);

/// RMSE of the errors of some repeats.
double rmse_of(std::span<const double> errors, std::span<const std::size_t> repeats);

}  // namespace boltzmark::experiments
