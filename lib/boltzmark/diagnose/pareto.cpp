#include "boltzmark/diagnose/pareto.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/numeric.hpp"

namespace boltzmark {
namespace {

constexpr std::size_t kLeastTail = 5;

// The shape that maximises the likelihood at a fixed ratio theta = -shape / scale.
double profile_shape(const std::vector<double>& x, double theta) {
  double sum = 0;
  for (const double value : x) sum += std::log1p(-theta * value);
  return sum / static_cast<double>(x.size());
}

// The log likelihood of one exceedance at (theta, profile_shape(theta)).
double profile_log_likelihood(const std::vector<double>& x, double theta) {
  const double shape = profile_shape(x, theta);
  return std::log(-theta / shape) - shape - 1;
}

// The grid that stands for the prior of theta.                 [Zhang and Stephens 2009, Eq. 2.5]
std::vector<double> theta_grid(const std::vector<double>& sorted) {
  const double n = static_cast<double>(sorted.size());
  const int points = 30 + static_cast<int>(std::sqrt(n));
  const double quartile = sorted[static_cast<std::size_t>(std::floor(n / 4 + 0.5)) - 1];
  std::vector<double> grid(points);
  for (int j = 0; j < points; ++j)
    grid[j] = 1 / sorted.back() + (1 - std::sqrt(points / (j + 0.5))) / (3 * quartile);
  return grid;
}

}  // namespace

GeneralisedPareto fit_generalised_pareto(std::span<const double> exceedances) {
  if (exceedances.size() < kLeastTail)
    throw InvalidArgument(
        fmt::format("exceedances = {} (must be at least {})", exceedances.size(), kLeastTail));
  std::vector<double> x(exceedances.begin(), exceedances.end());
  for (const double value : x)
    if (!std::isfinite(value) || value <= 0)
      throw InvalidArgument(fmt::format("exceedance = {} (must be finite and positive)", value));
  std::sort(x.begin(), x.end());
  // Posterior mean of theta under weights that are the likelihoods.
  double theta = 0;
  LogSum total;
  const std::vector<double> grid = theta_grid(x);
  std::vector<double> log_likelihood;
  for (const double point : grid) {
    log_likelihood.push_back(static_cast<double>(x.size()) * profile_log_likelihood(x, point));
    total.add(log_likelihood.back());
  }
  for (std::size_t j = 0; j < grid.size(); ++j)
    theta += grid[j] * std::exp(log_likelihood[j] - total.log());
  const double shape = profile_shape(x, theta);
  return {shape, -shape / theta};
}

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// The number of the largest of n weights that are the tail.
std::size_t tail_of(double n) {
  return static_cast<std::size_t>(std::ceil(std::min(n / 5, 3 * std::sqrt(n))));
}

// Of the tail and the largest weight below it, descending.
double shape_of_tail(std::span<const double> top) {
  const std::size_t tail = top.size() - 1;
  // Relative to the largest weight, so that nothing overflows.
  const double cut = std::exp(top[tail] - top[0]);
  std::vector<double> exceedances;
  for (std::size_t i = 0; i < tail; ++i)
    if (const double above = std::exp(top[i] - top[0]) - cut; above > 0)
      exceedances.push_back(above);
  if (exceedances.size() < kLeastTail) return kNone;
  const double m = static_cast<double>(exceedances.size());
  return (m * fit_generalised_pareto(exceedances).shape + 5) / (m + 10);
}

}  // namespace

double pareto_shape(std::span<const double> log_weights) {
  for (const double w : log_weights)
    if (std::isnan(w) || w == std::numeric_limits<double>::infinity())
      throw InvalidArgument(fmt::format("log weight = {} (must be finite)", w));
  const std::size_t tail = tail_of(static_cast<double>(log_weights.size()));
  if (tail < kLeastTail) return kNone;
  std::vector<double> top(log_weights.begin(), log_weights.end());
  std::partial_sort(top.begin(), top.begin() + static_cast<std::ptrdiff_t>(tail) + 1, top.end(),
                    std::greater<>());
  return shape_of_tail({top.data(), tail + 1});
}

double pareto_shape_of_numbers(const std::map<std::int64_t, std::int64_t>& numbers) {
  double n = 0;
  for (const auto& [weight, number] : numbers) {
    if (weight < 0 || number < 0)
      throw InvalidArgument(
          fmt::format("weight {} of number {} (must not be negative)", weight, number));
    n += static_cast<double>(number);
  }
  const std::size_t tail = tail_of(n);
  if (tail < kLeastTail) return kNone;
  std::vector<double> top;
  for (auto at = numbers.rbegin(); at != numbers.rend() && top.size() <= tail; ++at)
    top.insert(top.end(), std::min(static_cast<std::size_t>(at->second), tail + 1 - top.size()),
               std::log(static_cast<double>(at->first)));
  return shape_of_tail(top);
}

}  // namespace boltzmark
