#include "experiments/kit/statistics/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "boltzmark/core/error.hpp"

namespace boltzmark {

double area_under_roc(std::span<const double> first, std::span<const double> second) {
  const auto is_nan = [](double score) { return std::isnan(score); };
  if (first.empty() || second.empty() || std::any_of(first.begin(), first.end(), is_nan) ||
      std::any_of(second.begin(), second.end(), is_nan))
    throw InvalidArgument("scores (must be numbers, some of either class)");
  std::vector<double> sorted(second.begin(), second.end());
  std::sort(sorted.begin(), sorted.end());
  double twice = 0;  // the pairs that are won, ties once
  for (const double score : first) {
    const auto [low, high] = std::equal_range(sorted.begin(), sorted.end(), score);
    twice += static_cast<double>((low - sorted.begin()) + (high - sorted.begin()));
  }
  return twice / (2 * static_cast<double>(first.size()) * static_cast<double>(second.size()));
}

}  // namespace boltzmark
