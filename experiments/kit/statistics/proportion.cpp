#include "experiments/kit/statistics/proportion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <numeric>

#include "boltzmark/core/error.hpp"

namespace boltzmark {
namespace {

// Outcomes equally likely up to rounding count as equally likely.
constexpr double likelihood_slack = 1 + 1e-7;

void check(Count count) {
  if (count.trials == 0) throw InvalidArgument("trials = 0 (must be positive)");
  if (count.successes > count.trials)
    throw InvalidArgument(
        fmt::format("successes = {} (must be at most {})", count.successes, count.trials));
}

void check_tables(std::span<const Count> first, std::span<const Count> second) {
  if (first.empty() || first.size() != second.size())
    throw InvalidArgument(
        fmt::format("cells = {} and {} (must be equal and positive)", first.size(), second.size()));
  for (const Count count : first) check(count);
  for (const Count count : second) check(count);
}

// p-value of the outcome at `seen` in a law over first, first + 1, ...
double p_value(const std::vector<double>& law, std::size_t seen, Alternative alternative) {
  double p = 0;
  for (std::size_t k = 0; k < law.size(); ++k) {
    const bool extreme = alternative == Alternative::less ? k <= seen
                         : alternative == Alternative::greater
                             ? k >= seen
                             : law[k] <= law[seen] * likelihood_slack;
    if (extreme) p += law[k];
  }
  return std::min(p, 1.0);
}

double log_choose(std::uint64_t n, std::uint64_t k) {
  const auto a = static_cast<double>(n), b = static_cast<double>(k);
  return std::lgamma(a + 1) - std::lgamma(b + 1) - std::lgamma(a - b + 1);
}

double variance_of_share(Count count) {
  const double n = static_cast<double>(count.trials);
  const double p = (static_cast<double>(count.successes) + 1) / (n + 2);
  return p * (1 - p) / n;
}

double share(Count count) {
  return static_cast<double>(count.successes) / static_cast<double>(count.trials);
}

}  // namespace

double binomial_test(Count count, double p0, Alternative alternative) {
  check(count);
  if (!(p0 >= 0 && p0 <= 1)) throw InvalidArgument(fmt::format("p0 = {} (must be in 0..1)", p0));
  const boost::math::binomial law(static_cast<double>(count.trials), p0);
  std::vector<double> probabilities(count.trials + 1);
  for (std::size_t k = 0; k <= count.trials; ++k)
    probabilities[k] = pdf(law, static_cast<double>(k));
  return p_value(probabilities, count.successes, alternative);
}

double fisher_test(Count first, Count second, Alternative alternative) {
  check(first);
  check(second);
  const std::uint64_t successes = first.successes + second.successes;
  const std::uint64_t lowest = successes > second.trials ? successes - second.trials : 0;
  const std::uint64_t highest = std::min(successes, first.trials);
  const double normaliser = log_choose(first.trials + second.trials, successes);
  std::vector<double> law;
  for (std::uint64_t k = lowest; k <= highest; ++k)
    law.push_back(std::exp(log_choose(first.trials, k) + log_choose(second.trials, successes - k) -
                           normaliser));
  return p_value(law, first.successes - lowest, alternative);
}

std::vector<double> holm(std::span<const double> p_values) {
  for (const double p : p_values)
    if (!(p >= 0 && p <= 1)) throw InvalidArgument(fmt::format("p = {} (must be in 0..1)", p));
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return p_values[a] < p_values[b]; });
  std::vector<double> adjusted(p_values.size());
  double largest = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    largest = std::max(largest, static_cast<double>(order.size() - i) * p_values[order[i]]);
    adjusted[order[i]] = std::min(1.0, largest);
  }
  return adjusted;
}

Agreement test_agreement(std::span<const Count> ours, std::span<const Count> theirs,
                         double family_level) {
  check_tables(ours, theirs);
  std::vector<double> p(ours.size());
  for (std::size_t i = 0; i < ours.size(); ++i)
    p[i] = fisher_test(ours[i], theirs[i], Alternative::two_sided);
  Agreement result;
  result.adjusted_p = holm(p);
  result.smallest_p = *std::min_element(result.adjusted_p.begin(), result.adjusted_p.end());
  result.agrees = result.smallest_p > family_level;
  return result;
}

StratifiedDifference stratified_difference(std::span<const Count> first,
                                           std::span<const Count> second, double level) {
  check_tables(first, second);
  check_inside("level", level);
  double difference = 0, variance = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    difference += share(first[i]) - share(second[i]);
    variance += variance_of_share(first[i]) + variance_of_share(second[i]);
  }
  const double strata = static_cast<double>(first.size());
  const double error = std::sqrt(variance) / strata;
  const boost::math::normal law;
  const double half = quantile(complement(law, (1 - level) / 2)) * error;
  StratifiedDifference result;
  result.estimate = difference / strata;
  result.lower = result.estimate - half;
  result.upper = result.estimate + half;
  result.p_greater = cdf(complement(law, result.estimate / error));
  return result;
}

}  // namespace boltzmark
