#include "experiments/kit/statistics/bootstrap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/random/stream.hpp"
#include "experiments/kit/statistics/interval.hpp"

namespace boltzmark {
namespace {

constexpr int least_replicates = 100;

/// Draws `count` rows of `rows`, with replacement.
std::vector<std::size_t> draw_rows(std::size_t count, std::size_t rows, Stream& stream) {
  std::vector<std::size_t> drawn(count);
  for (auto& row : drawn) row = stream.below(rows);
  return drawn;
}

/// Sorted replicates of what a statistic makes of a draw.
std::vector<double> replicate(const std::function<double(Stream&)>& draw,
                              const BootstrapOptions& options) {
  std::vector<double> replicates(options.replicates);
  parallel_for(replicates.size(), [&](std::size_t r) {
    Stream stream(options.key, Purpose::bootstrap, r);
    replicates[r] = draw(stream);
  });
  for (const double value : replicates)
    if (std::isnan(value))
      throw InvalidArgument("statistic = nan on a resample (must be a number)");
  std::sort(replicates.begin(), replicates.end());
  return replicates;
}

// The acceleration: a sixth of the skewness of the jackknife values (Efron 1987).
double acceleration(std::size_t rows, const RowStatistic& statistic) {
  std::vector<double> left_out(rows);
  parallel_for(rows, [&](std::size_t row) {
    std::vector<std::size_t> kept(rows - 1);
    for (std::size_t i = 0; i + 1 < rows; ++i) kept[i] = i < row ? i : i + 1;
    left_out[row] = statistic(kept);
  });
  const double mean =
      std::accumulate(left_out.begin(), left_out.end(), 0.0) / static_cast<double>(rows);
  double squares = 0, cubes = 0;
  for (const double value : left_out) {
    squares += (mean - value) * (mean - value);
    cubes += (mean - value) * (mean - value) * (mean - value);
  }
  return squares == 0 ? 0 : cubes / (6 * std::pow(squares, 1.5));
}

struct Levels {
  double lower, upper;
};

// The levels at which BCa reads the replicates; none where every replicate lies on one side.
std::optional<Levels> bca_levels(const std::vector<double>& replicates, double estimate,
                                 double speed, double tail) {
  const auto [first, last] = std::equal_range(replicates.begin(), replicates.end(), estimate);
  const double below =
      static_cast<double>(first - replicates.begin()) + 0.5 * static_cast<double>(last - first);
  const double share = below / static_cast<double>(replicates.size());
  if (share <= 0 || share >= 1 || !std::isfinite(speed)) return std::nullopt;
  const boost::math::normal law;
  const double bias = quantile(law, share);
  const auto level = [&](double probability) {
    const double shifted = bias + quantile(law, probability);
    return cdf(law, bias + shifted / (1 - speed * shifted));
  };
  return Levels{level(tail), level(1 - tail)};
}

double standard_deviation(const std::vector<double>& values) {
  const double n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / (n - 1));
}

std::vector<std::size_t> all_rows(std::size_t rows) {
  std::vector<std::size_t> all(rows);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

// The number of replicates below a quantile is binomial.
double noise_at(const std::vector<double>& replicates, double level) {
  const double half =
      1.96 * std::sqrt(level * (1 - level) / static_cast<double>(replicates.size()));
  return (quantile(replicates, std::min(1.0, level + half)) -
          quantile(replicates, std::max(0.0, level - half))) /
         2;
}

BootstrapInterval read_off(double estimate, const std::vector<double>& replicates, Levels levels) {
  BootstrapInterval result;
  result.estimate = estimate;
  result.lower = quantile(replicates, levels.lower);
  result.upper = quantile(replicates, levels.upper);
  result.std_error = standard_deviation(replicates);
  result.lower_noise = noise_at(replicates, levels.lower);
  result.upper_noise = noise_at(replicates, levels.upper);
  return result;
}

double check_finite(double estimate) {
  if (!std::isfinite(estimate))
    throw InvalidArgument(fmt::format("statistic = {} (must be finite)", estimate));
  return estimate;
}

void check(std::size_t rows, const BootstrapOptions& options) {
  if (rows < 2) throw InvalidArgument(fmt::format("rows = {} (must be at least 2)", rows));
  if (options.replicates < least_replicates)
    throw InvalidArgument(
        fmt::format("replicates = {} (must be at least {})", options.replicates, least_replicates));
  check_inside("level", options.level);
}

}  // namespace

BootstrapInterval bootstrap_rows(std::size_t rows, const RowStatistic& statistic,
                                 const BootstrapOptions& options) {
  check(rows, options);
  const double estimate = check_finite(statistic(all_rows(rows)));
  const std::vector<double> replicates =
      replicate([&](Stream& stream) { return statistic(draw_rows(rows, rows, stream)); }, options);
  const double tail = (1 - options.level) / 2;
  Levels levels{tail, 1 - tail};
  if (options.method == BootstrapMethod::bca)
    levels = bca_levels(replicates, estimate, acceleration(rows, statistic), tail).value_or(levels);
  return read_off(estimate, replicates, levels);
}

BootstrapInterval bootstrap_strata(std::span<const std::size_t> sizes,
                                   const StrataStatistic& statistic,
                                   const BootstrapOptions& options) {
  const std::size_t fewest = sizes.empty() ? 0 : *std::min_element(sizes.begin(), sizes.end());
  check(fewest, options);
  Strata all;
  for (const std::size_t rows : sizes) all.push_back(all_rows(rows));
  const double estimate = check_finite(statistic(all));
  if (!(estimate > 0))
    throw InvalidArgument(fmt::format("statistic = {} (must be positive)", estimate));
  const auto draw = [&](Stream& stream) {
    Strata drawn;
    for (const std::size_t rows : sizes) drawn.push_back(draw_rows(rows - 1, rows, stream));
    return statistic(drawn);
  };
  std::vector<double> replicates = replicate(draw, options);
  BootstrapInterval result;
  result.estimate = estimate;
  result.std_error = standard_deviation(replicates);
  for (double& value : replicates) value = std::log(value);
  const boost::math::students_t law(static_cast<double>(fewest - 1));
  const double factor =
      std::exp(quantile(law, (1 + options.level) / 2) * standard_deviation(replicates));
  result.lower = estimate / factor;
  result.upper = estimate * factor;
  // A standard deviation of n replicates is off by one in sqrt(2 n) of it.
  const double noise =
      std::log(factor) * 1.96 / std::sqrt(2.0 * static_cast<double>(replicates.size()));
  result.lower_noise = result.lower * noise;
  result.upper_noise = result.upper * noise;
  return result;
}

BootstrapInterval bootstrap(std::span<const double> values, const Statistic& statistic,
                            const BootstrapOptions& options) {
  const auto of_rows = [&](std::span<const std::size_t> rows) {
    std::vector<double> drawn(rows.size());
    std::transform(rows.begin(), rows.end(), drawn.begin(),
                   [&](std::size_t row) { return values[row]; });
    return statistic(drawn);
  };
  return bootstrap_rows(values.size(), of_rows, options);
}

BootstrapInterval bootstrap_mean(std::span<const double> values, const BootstrapOptions& options) {
  return bootstrap(values, mean_of, options);
}

}  // namespace boltzmark
