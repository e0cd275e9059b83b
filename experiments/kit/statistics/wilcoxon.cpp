#include "experiments/kit/statistics/wilcoxon.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <iterator>
#include <limits>
#include <vector>

#include "boltzmark/core/error.hpp"

namespace boltzmark {
namespace {

struct Ranked {
  std::vector<long> doubled_ranks;  // twice the average rank: an integer, ties or not
  long doubled_sum = 0;             // of the positive differences
  double tie_term = 0;              // sum over ties of t^3 - t
};

// Differences this close, as a part of the largest, are equal: sums of tenths differ by rounding.
constexpr double kTied = 1e-9;

Ranked rank(std::vector<double> nonzero, double tied) {
  std::sort(nonzero.begin(), nonzero.end(),
            [](double a, double b) { return std::abs(a) < std::abs(b); });
  Ranked ranked;
  for (std::size_t first = 0; first < nonzero.size();) {
    std::size_t last = first;
    while (last < nonzero.size() && std::abs(nonzero[last]) - std::abs(nonzero[first]) <= tied)
      ++last;
    const double ties = static_cast<double>(last - first);
    ranked.tie_term += ties * ties * ties - ties;
    for (std::size_t i = first; i < last; ++i) {
      ranked.doubled_ranks.push_back(static_cast<long>(first + last + 1));
      if (nonzero[i] > 0) ranked.doubled_sum += ranked.doubled_ranks.back();
    }
    first = last;
  }
  return ranked;
}

double sum_range(const std::vector<double>& law, long first, long last) {
  double sum = 0;
  for (long s = std::max(first, 0L); s <= std::min<long>(last, law.size() - 1); ++s) sum += law[s];
  return std::min(sum, 1.0);
}

// Largest k with P(W+ < k) <= tail for untied ranks 1..n: the k-th averages bound the shift.
std::size_t critical_rank(std::size_t n, double tail, std::size_t exact_up_to) {
  if (n > exact_up_to) {
    const double count = static_cast<double>(n);
    const double sd = std::sqrt(count * (count + 1) * (2 * count + 1) / 24);
    const double z = boost::math::quantile(boost::math::complement(boost::math::normal(), tail));
    return static_cast<std::size_t>(std::max(0.0, count * (count + 1) / 4 - z * sd));
  }
  std::vector<long> ranks(n);
  for (std::size_t i = 0; i < n; ++i) ranks[i] = static_cast<long>(i + 1);
  const auto law = signed_rank_law(ranks);
  std::size_t k = 0;
  for (double below = law[0]; below <= tail; below += law[k]) ++k;
  return k;
}

Interval hodges_lehmann(std::span<const double> values, const SignedRankOptions& options) {
  std::vector<double> averages;
  averages.reserve(values.size() * (values.size() + 1) / 2);
  for (std::size_t i = 0; i < values.size(); ++i)
    for (std::size_t j = i; j < values.size(); ++j)
      averages.push_back(values[i] + (values[j] - values[i]) / 2);
  std::sort(averages.begin(), averages.end());
  const std::size_t n = averages.size();
  const std::size_t k = critical_rank(values.size(), (1 - options.level) / 2, options.exact_up_to);
  const double middle = averages[(n - 1) / 2] / 2 + averages[n / 2] / 2;
  if (k == 0) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    return {middle, -infinity, infinity};
  }
  return {middle, averages[k - 1], averages[n - k]};
}

void set_exact_p(SignedRank& result, const Ranked& ranked) {
  const auto law = signed_rank_law(ranked.doubled_ranks);
  result.exact = true;
  result.p_less = sum_range(law, 0, ranked.doubled_sum);
  result.p_greater = sum_range(law, ranked.doubled_sum, static_cast<long>(law.size()) - 1);
  result.p_two_sided = std::min(1.0, 2 * std::min(result.p_less, result.p_greater));
}

void set_normal_p(SignedRank& result, const Ranked& ranked) {
  const boost::math::normal law;
  const double n = static_cast<double>(result.differences);
  const double deviation = result.rank_sum - n * (n + 1) / 4;
  const double sd = std::sqrt(n * (n + 1) * (2 * n + 1) / 24 - ranked.tie_term / 48);
  result.p_greater = cdf(complement(law, (deviation - 0.5) / sd));
  result.p_less = cdf(law, (deviation + 0.5) / sd);
  // At a deviation of 0 both tails exceed 1/2 and the two-sided p is 1.
  result.p_two_sided = std::min(1.0, 2 * std::min(result.p_less, result.p_greater));
}

}  // namespace

double SignedRank::p(Alternative alternative) const {
  if (alternative == Alternative::two_sided) return p_two_sided;
  return alternative == Alternative::less ? p_less : p_greater;
}

SignedRank signed_rank_test(std::span<const double> differences, const SignedRankOptions& options) {
  if (differences.empty()) throw InvalidArgument("differences = none (must hold at least one)");
  check_inside("level", options.level);
  double largest = 0;
  for (const double d : differences) {
    if (!std::isfinite(d))
      throw InvalidArgument(fmt::format("difference = {} (must be finite)", d));
    largest = std::max(largest, std::abs(d));
  }
  const double tied = kTied * largest;
  std::vector<double> nonzero;
  std::copy_if(differences.begin(), differences.end(), std::back_inserter(nonzero),
               [&](double d) { return std::abs(d) > tied; });
  SignedRank result;
  result.differences = nonzero.size();
  result.zeros = differences.size() - nonzero.size();
  result.shift = hodges_lehmann(differences, options);
  if (nonzero.empty()) return result;
  const Ranked ranked = rank(std::move(nonzero), tied);
  result.rank_sum = static_cast<double>(ranked.doubled_sum) / 2;
  if (result.differences <= options.exact_up_to)
    set_exact_p(result, ranked);
  else
    set_normal_p(result, ranked);
  return result;
}

std::vector<double> signed_rank_law(std::span<const long> doubled_ranks) {
  std::vector<double> law{1.0};
  for (const long r : doubled_ranks) {
    std::vector<double> next(law.size() + r, 0.0);
    for (std::size_t s = 0; s < law.size(); ++s) {
      next[s] += 0.5 * law[s];
      next[s + r] += 0.5 * law[s];
    }
    law = std::move(next);
  }
  return law;
}

}  // namespace boltzmark
