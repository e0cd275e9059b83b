#include "experiments/carlson2016/support/ratios.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/kit/measures.hpp"
#include "experiments/kit/statistics/power.hpp"

namespace boltzmark::experiments {
namespace {

constexpr int kRatioReplicates = 2000;

BootstrapOptions options_of(const RatioClaim& claim) {
  return {.key = make_key(1, claim.claim, claim.part),
          .replicates = kRatioReplicates,
          .method = BootstrapMethod::percentile};
}

Measure measure_of(const RatioClaim& claim, const BootstrapInterval& found, std::size_t n) {
  Measure measure = interval_measure({.claim = claim.claim, .part = claim.part}, found, n);
  const double log_error = found.std_error / std::abs(found.estimate);
  const double effect = std::abs(std::log(claim.against / claim.threshold));
  measure.power = normal_power(effect / log_error, 0.025, Alternative::greater);
  measure.power_against = fmt::format("a ratio of {:.3g}", claim.against);
  measure.post_hoc = true;
  // A verdict that another key of the bootstrap would turn is none.
  if (std::abs(found.lower - claim.threshold) < found.lower_noise ||
      std::abs(found.upper - claim.threshold) < found.upper_noise) {
    measure.decidable = false;
    measure.note =
        fmt::format("; a limit is nearer to {} than it is to those of other keys of the bootstrap",
                    claim.threshold);
  }
  return measure;
}

}  // namespace

double rmse_of(std::span<const double> errors, std::span<const std::size_t> repeats) {
  double squares = 0;
  for (const std::size_t r : repeats) squares += errors[r] * errors[r];
  return std::sqrt(squares / static_cast<double>(repeats.size()));
}

Measure ratio_measure(const RatioClaim& claim, std::size_t repeats, const RowStatistic& statistic) {
  return measure_of(claim, bootstrap_rows(repeats, statistic, options_of(claim)), repeats);
}

Measure ratio_measure(const RatioClaim& claim, std::span<const std::size_t> sizes,
                      const StrataStatistic& statistic) {
  return measure_of(claim, bootstrap_strata(sizes, statistic, options_of(claim)),
                    *std::min_element(sizes.begin(), sizes.end()));
}

}  // namespace boltzmark::experiments
