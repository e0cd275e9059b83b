#include "experiments/kit/statistics/interval.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "boltzmark/core/error.hpp"

namespace boltzmark {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void check_count(std::uint64_t successes, std::uint64_t trials) {
  if (trials == 0) throw InvalidArgument("trials = 0 (must be positive)");
  if (successes > trials)
    throw InvalidArgument(fmt::format("successes = {} (must be at most {})", successes, trials));
}

// The covariance of two paired means.
double mean_covariance(std::span<const double> a, std::span<const double> b) {
  const double mean_a = mean_of(a), mean_b = mean_of(b), n = static_cast<double>(a.size());
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - mean_a) * (b[i] - mean_b);
  return sum / (n - 1) / n;
}

void check_values(std::span<const double> values) {
  if (values.size() < 2)
    throw InvalidArgument(fmt::format("number of values = {} (must be at least 2)", values.size()));
  for (const double v : values)
    if (!std::isfinite(v)) throw InvalidArgument(fmt::format("value = {} (must be finite)", v));
}

double student_quantile(std::size_t values, double level) {
  const boost::math::students_t law(static_cast<double>(values - 1));
  return quantile(complement(law, (1 - level) / 2));
}

std::vector<double> sorted(std::span<const double> values) {
  if (values.empty()) throw InvalidArgument("values = none (must hold at least one)");
  std::vector<double> copy(values.begin(), values.end());
  for (const double v : copy)
    if (std::isnan(v)) throw InvalidArgument("value = nan (must be a number)");
  std::sort(copy.begin(), copy.end());
  return copy;
}

// Between two order statistics: anywhere before one that is infinite is infinite, too.
double between(double low, double high, double share) {
  if (low == high || share == 0 || std::isinf(low)) return low;
  return low + share * (high - low);
}

}  // namespace

void check_inside(const char* name, double level) {
  if (!(level > 0 && level < 1))
    throw InvalidArgument(fmt::format("{} = {} (must be inside 0..1)", name, level));
}

double mean_of(std::span<const double> values) {
  double sum = 0;
  for (const double v : values) sum += v;
  return sum / static_cast<double>(values.size());
}

double mean_std_error(std::span<const double> values) {
  check_values(values);
  return std::sqrt(mean_covariance(values, values));
}

Interval mean_interval(std::span<const double> values, double level) {
  check_inside("level", level);
  const double error = mean_std_error(values),
               half = student_quantile(values.size(), level) * error;
  const double mean = mean_of(values);
  return {mean, mean - half, mean + half};
}

double median(std::span<const double> values) { return quantile(values, 0.5); }

double quantile(std::span<const double> values, double probability) {
  if (!(probability >= 0 && probability <= 1))
    throw InvalidArgument(fmt::format("probability = {} (must be in 0..1)", probability));
  const std::vector<double> ordered = sorted(values);
  const double position = probability * static_cast<double>(ordered.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, ordered.size() - 1);
  return between(ordered[below], ordered[above], position - static_cast<double>(below));
}

Interval median_interval(std::span<const double> values, double level) {
  check_inside("level", level);
  const std::vector<double> ordered = sorted(values);
  const boost::math::binomial law(static_cast<double>(ordered.size()), 0.5);
  std::size_t k = 0;
  while (cdf(law, static_cast<double>(k)) <= (1 - level) / 2) ++k;
  if (k == 0) return {median(values), -kInfinity, kInfinity};
  return {median(values), ordered[k - 1], ordered[ordered.size() - k]};
}

Interval proportion_interval(std::uint64_t successes, std::uint64_t trials, double level) {
  using Law = boost::math::binomial;
  check_count(successes, trials);
  check_inside("level", level);
  const double x = static_cast<double>(successes), n = static_cast<double>(trials);
  const double tail = (1 - level) / 2;
  return {x / n, successes == 0 ? 0.0 : Law::find_lower_bound_on_p(n, x, tail),
          successes == trials ? 1.0 : Law::find_upper_bound_on_p(n, x, tail)};
}

Interval paired_ratio_interval(std::span<const double> numerator,
                               std::span<const double> denominator, double level) {
  check_values(numerator);
  check_values(denominator);
  check_inside("level", level);
  if (numerator.size() != denominator.size())
    throw InvalidArgument(fmt::format("number of denominators = {} (must be {})",
                                      denominator.size(), numerator.size()));
  const double below = mean_of(denominator);
  if (below == 0) throw InvalidArgument("mean of the denominators = 0 (must not be 0)");
  const double t = student_quantile(numerator.size(), level);
  const double aa = mean_covariance(numerator, numerator);
  const double bb = mean_covariance(denominator, denominator);
  const double ab = mean_covariance(numerator, denominator);
  const double ratio = mean_of(numerator) / below;
  const double scale = t * t / (below * below);
  const double g = scale * bb;
  if (g >= 1) return {ratio, -kInfinity, kInfinity};
  const double inside = aa - 2 * ratio * ab + ratio * ratio * bb - scale * (aa * bb - ab * ab);
  const double half = t / std::abs(below) * std::sqrt(std::max(0.0, inside));
  const double centre = ratio - scale * ab;
  return {ratio, (centre - half) / (1 - g), (centre + half) / (1 - g)};
}

}  // namespace boltzmark
