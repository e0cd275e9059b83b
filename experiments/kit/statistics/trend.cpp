#include "experiments/kit/statistics/trend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <map>

#include "boltzmark/core/error.hpp"

namespace boltzmark {
namespace {

// Sums of falling products t (t-1) .. over group sizes or ties, as rank variances need them.
struct SizeSums {
  double pairs = 0;    // t (t-1)
  double triples = 0;  // t (t-1) (t-2)
  double spread = 0;   // t (t-1) (2t+5)
  void add(double t) {
    pairs += t * (t - 1);
    triples += t * (t - 1) * (t - 2);
    spread += t * (t - 1) * (2 * t + 5);
  }
};

void set_normal(Trend& trend, double deviation, double variance) {
  if (!(variance > 0)) return;  // nothing varies: no evidence, p = 1
  const boost::math::normal law;
  trend.z = deviation / std::sqrt(variance);
  trend.p_increasing = cdf(complement(law, trend.z));
  trend.p_decreasing = cdf(law, trend.z);
}

SizeSums ties_of(std::span<const double> values) {
  std::map<double, double> sizes;
  for (const double v : values) {
    if (std::isnan(v)) throw InvalidArgument("value = nan (must be a number)");
    ++sizes[v];
  }
  SizeSums sums;
  for (const auto& [value, size] : sizes) sums.add(size);
  return sums;
}

void check_cells(std::span<const Count> counts, std::span<const double> scores) {
  if (counts.size() < 2 || counts.size() != scores.size())
    throw InvalidArgument(fmt::format("counts = {}, scores = {} (must be as many, and at least 2)",
                                      counts.size(), scores.size()));
  for (const Count& count : counts)
    if (count.trials == 0 || count.successes > count.trials)
      throw InvalidArgument(
          fmt::format("count = {} of {} (must have trials, and no more successes)", count.successes,
                      count.trials));
  for (std::size_t i = 0; i + 1 < scores.size(); ++i)
    if (!(scores[i] < scores[i + 1]))
      throw InvalidArgument(
          fmt::format("scores = {}, {} (must increase)", scores[i], scores[i + 1]));
}

}  // namespace

ShareTrend share_trend(std::span<const Count> counts, std::span<const double> scores,
                       double level) {
  check_cells(counts, scores);
  check_inside("level", level);
  double trials = 0, successes = 0, centre = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    trials += static_cast<double>(counts[i].trials);
    successes += static_cast<double>(counts[i].successes);
    centre += static_cast<double>(counts[i].trials) * scores[i];
  }
  const double pooled = successes / trials;
  centre /= trials;
  double spread = 0, variance = 0;
  ShareTrend result;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double n = static_cast<double>(counts[i].trials), offset = scores[i] - centre;
    const double x = static_cast<double>(counts[i].successes), p = (x + 1) / (n + 2);
    result.statistic += offset * (x - n * pooled);
    spread += n * offset * offset;
    variance += n * offset * offset * p * (1 - p);
  }
  set_normal(result, result.statistic, pooled * (1 - pooled) * spread);
  const double slope = result.statistic / spread;
  const boost::math::normal law;
  const double half = quantile(complement(law, (1 - level) / 2)) * std::sqrt(variance) / spread;
  result.slope = {slope, slope - half, slope + half};
  return result;
}

Trend jonckheere_test(std::span<const std::vector<double>> groups) {
  if (groups.size() < 2)
    throw InvalidArgument(fmt::format("groups = {} (must be at least 2)", groups.size()));
  std::vector<double> all;
  SizeSums sizes;
  double squares = 0;
  Trend result;
  for (const auto& group : groups) {
    if (group.empty()) throw InvalidArgument("group = empty (must hold at least one value)");
    for (const double before : all)
      for (const double value : group)
        result.statistic += before < value ? 1.0 : before == value ? 0.5 : 0.0;
    all.insert(all.end(), group.begin(), group.end());
    const double size = static_cast<double>(group.size());
    sizes.add(size);
    squares += size * size;
  }
  const SizeSums ties = ties_of(all);
  SizeSums total;
  const double n = static_cast<double>(all.size());
  total.add(n);
  // Lehmann 1975, appendix; Hollander and Wolfe 1999, eq. 6.19.
  double variance = (total.spread - sizes.spread - ties.spread) / 72;
  if (n > 2) variance += sizes.triples * ties.triples / (36 * total.triples);
  variance += sizes.pairs * ties.pairs / (8 * total.pairs);
  set_normal(result, result.statistic - (n * n - squares) / 4, variance);
  return result;
}

}  // namespace boltzmark
