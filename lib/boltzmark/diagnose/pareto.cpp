#include "boltzmark/diagnose/pareto.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/numeric.hpp"

namespace boltzmark {
namespace {

constexpr std::size_t kLeastTail = 5;

// Exceedances, and others that are known to be at least so large.
struct Tail {
  std::vector<double> exact, at_least;
};

double sum_of_logs(const std::vector<double>& x, double theta) {
  double sum = 0;
  for (const double value : x) sum += std::log1p(-theta * value);
  return sum;
}

// The shape that maximises the likelihood at a fixed ratio theta = -shape / scale.
double profile_shape(const Tail& x, double theta) {
  return (sum_of_logs(x.exact, theta) + sum_of_logs(x.at_least, theta)) /
         static_cast<double>(x.exact.size());
}

// The scale that goes with it; at theta = 0 that of the exponential law.
double profile_scale(const Tail& x, double theta) {
  if (theta != 0) return -profile_shape(x, theta) / theta;
  const auto sum = [](const std::vector<double>& of) {
    return std::accumulate(of.begin(), of.end(), 0.0);
  };
  return (sum(x.exact) + sum(x.at_least)) / static_cast<double>(x.exact.size());
}

// The log likelihood at theta, where sums over all are shape x exact.size():
//   sum of exact log density + sum of at_least log P(> x)
double profile_log_likelihood(const Tail& x, double theta) {
  return static_cast<double>(x.exact.size()) * (-std::log(profile_scale(x, theta)) - 1) -
         sum_of_logs(x.exact, theta);
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

GeneralisedPareto fit_generalised_pareto(std::span<const double> exceedances,
                                         std::span<const double> at_least) {
  if (exceedances.size() < kLeastTail)
    throw InvalidArgument(
        fmt::format("exceedances = {} (must be at least {})", exceedances.size(), kLeastTail));
  const Tail x{{exceedances.begin(), exceedances.end()}, {at_least.begin(), at_least.end()}};
  std::vector<double> sorted = x.exact;
  sorted.insert(sorted.end(), at_least.begin(), at_least.end());
  for (const double value : sorted)
    if (!std::isfinite(value) || value <= 0)
      throw InvalidArgument(fmt::format("exceedance = {} (must be finite and positive)", value));
  std::sort(sorted.begin(), sorted.end());
  // Posterior mean of theta under weights that are the likelihoods.
  double theta = 0;
  LogSum total;
  const std::vector<double> grid = theta_grid(sorted);
  std::vector<double> log_likelihood;
  for (const double point : grid) {
    log_likelihood.push_back(profile_log_likelihood(x, point));
    total.add(log_likelihood.back());
  }
  for (std::size_t j = 0; j < grid.size(); ++j)
    theta += grid[j] * std::exp(log_likelihood[j] - total.log());
  return {profile_shape(x, theta), profile_scale(x, theta)};
}

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// The number of the largest of n weights that are the tail.
std::size_t tail_of(double n) {
  return static_cast<std::size_t>(std::ceil(std::min(n / 5, 3 * std::sqrt(n))));
}

// A shape fitted to so many weights, pulled to 1/2.
double regularised(double shape, double m) { return (m * shape + 5) / (m + 10); }

using Numbers = std::map<std::int64_t, std::int64_t>;

// The largest weight that is not among the largest `tail` ones.
std::int64_t weight_below(const Numbers& numbers, std::size_t tail) {
  std::size_t above = 0;
  auto at = numbers.rbegin();
  while ((above += static_cast<std::size_t>(at->second)) <= tail) ++at;
  return at->first;
}

std::vector<double> exceedances_of(const Numbers& numbers, std::int64_t below) {
  std::vector<double> exceedances;
  for (auto at = numbers.upper_bound(below); at != numbers.end(); ++at)
    exceedances.insert(exceedances.end(), static_cast<std::size_t>(at->second),
                       static_cast<double>(at->first - below));
  return exceedances;
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
  // Relative to the largest weight, so that nothing overflows.
  const double below = std::exp(top[tail] - top[0]);
  std::vector<double> exceedances;
  for (std::size_t i = 0; i < tail; ++i)
    if (const double above = std::exp(top[i] - top[0]) - below; above > 0)
      exceedances.push_back(above);
  // Weights that are alike, or all but a few so far below the largest as to be 0.
  if (exceedances.size() < kLeastTail) {
    const bool apart = top[kLeastTail - 1] > top[tail];
    return apart ? std::numeric_limits<double>::infinity() : kNone;
  }
  return regularised(fit_generalised_pareto(exceedances).shape,
                     static_cast<double>(exceedances.size()));
}

namespace {

// P(exceedance > x)
double survival(const GeneralisedPareto& law, double x) {
  constexpr double kExponential = 1e-9;
  const double z = x / law.scale;
  if (std::abs(law.shape) < kExponential) return std::exp(-z);
  return law.shape * z > -1 ? std::exp(-std::log1p(law.shape * z) / law.shape) : 0;
}

// E[(below + x) 1{x > above}] of an exceedance x.
double mean_above(const GeneralisedPareto& law, double below, double above) {
  constexpr double kNear = 1e-7;  // to the shape of 1, at which the mean is infinite
  const GeneralisedPareto finite{std::abs(law.shape - 1) < kNear ? 1 - kNear : law.shape,
                                 law.scale};
  const double survives = survival(finite, above);
  if (survives == 0) return 0;
  const double mean = below + above + (finite.scale + finite.shape * above) / (1 - finite.shape);
  return mean * survives;
}

// The tail of numbers, and the law of what is above `below`.
struct TailOfNumbers {
  double below, exact, size;  // what is above it, known exactly and in all
  double largest;             // of the exceedances
  GeneralisedPareto law;
};

double count_of(const Numbers& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0, [](double n, const auto& weight) {
    return n + static_cast<double>(weight.second);
  });
}

double sum_of(const Numbers& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0, [](double sum, const auto& weight) {
    return sum + static_cast<double>(weight.first) * static_cast<double>(weight.second);
  });
}

void check(const Numbers& numbers) {
  for (const auto& [weight, number] : numbers)
    if (weight < 0 || number < 0)
      throw InvalidArgument(
          fmt::format("weight {} of number {} (must not be negative)", weight, number));
}

// Halved while the largest is too large for the law of the rest: of a mixture of laws the tail is that
// of the last one alone.
std::optional<TailOfNumbers> fit_tail(const Numbers& numbers, const Numbers& at_least) {
  constexpr double kUnlikely = 0.1;  // numbers above the largest that the law expects
  check(numbers);
  check(at_least);
  Numbers all = numbers;
  for (const auto& [weight, number] : at_least) all[weight] += number;
  std::optional<TailOfNumbers> found;
  for (std::size_t tail = tail_of(count_of(all)); tail >= kLeastTail; tail /= 2) {
    const std::int64_t below = weight_below(all, tail);
    const Tail x{exceedances_of(numbers, below), exceedances_of(at_least, below)};
    if (x.exact.size() < kLeastTail) break;
    const auto exact = static_cast<double>(x.exact.size());
    found = {.below = static_cast<double>(below),
             .exact = exact,
             .size = exact + static_cast<double>(x.at_least.size()),
             .largest = static_cast<double>(all.rbegin()->first - below),
             .law = fit_generalised_pareto(x.exact, x.at_least)};
    if (found->size * survival(found->law, found->largest) > kUnlikely) break;
  }
  return found;
}

}  // namespace

double pareto_shape_of_numbers(const Numbers& numbers, const Numbers& at_least) {
  const auto tail = fit_tail(numbers, at_least);
  return tail ? regularised(tail->law.shape, tail->exact) : kNone;
}

double sum_above_largest(const Numbers& numbers, const Numbers& at_least) {
  constexpr double kTimes = 10;
  const auto tail = fit_tail(numbers, at_least);
  if (!tail) return 0;
  const double mean =
      mean_above(tail->law, tail->below, tail->largest) -
      mean_above(tail->law, tail->below, kTimes * (tail->below + tail->largest) - tail->below);
  return tail->size * mean / (sum_of(numbers) + sum_of(at_least));
}

}  // namespace boltzmark
