#include "experiments/kit/paired.hpp"

#include <fmt/format.h>

#include <cmath>

#include "experiments/kit/statistics/power.hpp"
#include "experiments/kit/statistics/wilcoxon.hpp"

namespace boltzmark::experiments {
namespace {

constexpr double kPairedLevel = 0.05;

/// Tells whether n differences can have a p-value below the level at all.
bool can_decide(std::size_t n) { return std::exp2(-static_cast<double>(n)) < kPairedLevel; }

double power(std::size_t n, double effect) {
  if (!can_decide(n)) return 0;
  return signed_rank_power(n, effect, kPairedLevel, Alternative::greater,
                           {.key = make_key(1, "yokoyama2019/paired", "power"), .replicates = 1000})
      .estimate;
}

}  // namespace

std::vector<double> values_of(const ByRepeat& numbers) {
  std::vector<double> values;
  for (const auto& [repeat, value] : numbers) values.push_back(value);
  return values;
}

std::vector<std::pair<double, double>> pairs_of(const ByRepeat& a, const ByRepeat& b) {
  std::vector<std::pair<double, double>> pairs;
  for (const auto& [repeat, value] : a)
    if (const auto other = b.find(repeat); other != b.end())
      pairs.emplace_back(value, other->second);
  return pairs;
}

std::vector<double> differences_of(const ByRepeat& a, const ByRepeat& b) {
  std::vector<double> differences;
  for (const auto& [first, second] : pairs_of(a, b)) differences.push_back(first - second);
  return differences;
}

Measure paired_measure(const std::string& claim, const std::string& part,
                       const std::vector<double>& a, const std::vector<double>& b, bool greater,
                       const std::string& note, double effect) {
  std::vector<double> differences;
  for (std::size_t i = 0; i < a.size(); ++i) differences.push_back(a[i] - b[i]);
  const SignedRank test = signed_rank_test(differences);
  return {.claim = claim,
          .part = part,
          .estimate = test.shift.estimate,
          .lower = test.shift.lower,
          .upper = test.shift.upper,
          .interval = "95 %, Hodges–Lehmann",
          .p_value = greater ? test.p_greater : test.p_less,
          .p_opposite = greater ? test.p_less : test.p_greater,
          .n = static_cast<std::int64_t>(differences.size()),
          .power = power(test.differences, effect),
          .power_against = fmt::format(
              "a shift of {} standard deviations of the {} differences{}", effect, test.differences,
              test.differences < differences.size() ? " that are not 0" : ""),
          .power_of_n = true,
          .post_hoc = test.differences < differences.size(),
          .decidable = can_decide(test.differences),
          .note = note};
}

Measure paired_measure(const std::string& claim, const std::string& part, const ByRepeat& a,
                       const ByRepeat& b, bool greater, const std::string& note) {
  std::vector<double> ours, theirs;
  for (const auto& [first, second] : pairs_of(a, b)) {
    ours.push_back(first);
    theirs.push_back(second);
  }
  return paired_measure(claim, part, ours, theirs, greater, note);
}

}  // namespace boltzmark::experiments
