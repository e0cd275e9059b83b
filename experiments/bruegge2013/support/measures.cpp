#include "experiments/bruegge2013/support/measures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "boltzmark/random/stream.hpp"
#include "experiments/kit/statistics/power.hpp"
#include "experiments/kit/statistics/trend.hpp"
#include "experiments/kit/statistics/wilcoxon.hpp"

namespace boltzmark::experiments {
namespace {

constexpr double kLevel = 0.05;
constexpr int kReplicates = 300;

/// The share of pairs from different groups in which the later group's value is larger.
double later_is_larger(const std::vector<std::vector<double>>& groups) {
  double pairs = 0, before = 0;
  for (const auto& group : groups) {
    pairs += before * static_cast<double>(group.size());
    before += static_cast<double>(group.size());
  }
  return jonckheere_test(groups).statistic / pairs;
}

std::vector<std::vector<double>> resample(const std::vector<std::vector<double>>& groups,
                                          Stream& stream) {
  std::vector<std::vector<double>> drawn;
  for (const auto& group : groups) {
    auto& values = drawn.emplace_back();
    for (std::size_t i = 0; i < group.size(); ++i)
      values.push_back(group[stream.below(group.size())]);
  }
  return drawn;
}

}  // namespace

void add_paired(const About& about, const std::vector<double>& differences, Alternative direction,
                Summary& summary) {
  const std::size_t n = differences.size();
  if (n < 2) return;
  const SignedRank test = signed_rank_test(differences);
  Measure measure = start_measure(about, n);
  measure.estimate = test.shift.estimate;
  measure.lower = test.shift.lower;
  measure.upper = test.shift.upper;
  measure.interval = "95 %, Hodges–Lehmann";
  if (!std::isfinite(measure.lower)) {
    const Interval students = mean_interval(differences);
    measure.interval = "95 %, Student's";
    measure.lower = students.lower;
    measure.upper = students.upper;
    measure.note += std::string(measure.note.empty() ? "" : "; ") +
                    "too few pairs for the signed-rank interval: Student's is given, and the "
                    "signed-rank test still decides";
  }
  if (test.zeros > 0)
    measure.note += fmt::format(
        "{}{} of {} differences are 0: the test drops them, the shift and its interval count them",
        measure.note.empty() ? "" : "; ", test.zeros, n);
  measure.p_value = test.p(direction);
  measure.p_opposite =
      test.p(direction == Alternative::greater ? Alternative::less : Alternative::greater);
  const bool too_few = std::exp2(-static_cast<double>(test.differences)) >= kLevel;
  measure.power =
      too_few || !about.decidable
          ? 0
          : signed_rank_power(test.differences, 1, kLevel, Alternative::greater,
                              {.key = make_key(1, about.claim, "power"), .replicates = 1000})
                .estimate;
  measure.power_against = "a shift of one standard deviation of the differences";
  measure.power_of_n = about.decidable;
  measure.post_hoc = !about.decidable || test.differences < n;
  summary.add(std::move(measure));
}

void add_unpaired(const About& about, const std::vector<double>& first,
                  const std::vector<double>& second, Alternative direction, Summary& summary) {
  if (first.size() < 2 || second.size() < 2) return;
  const Interval a = median_interval(first), b = median_interval(second);
  // Jonckheere's test of two groups is the rank-sum test.
  const Trend ranks = jonckheere_test(std::vector<std::vector<double>>{second, first});
  Measure measure = start_measure(about, first.size() + second.size());
  measure.estimate = a.estimate - b.estimate;
  measure.lower = a.lower - b.upper;
  measure.upper = a.upper - b.lower;
  measure.interval = "between the limits of both medians, 95 % each";
  measure.p_value = direction == Alternative::greater ? ranks.p_increasing : ranks.p_decreasing;
  const auto n = static_cast<double>(first.size()), m = static_cast<double>(second.size());
  // A shift of one standard deviation: the rank sum's asymptotic efficiency to the t test is 3/pi.
  measure.power = normal_power(std::sqrt(3 / M_PI * n * m / (n + m)), kLevel, Alternative::greater);
  measure.power_against = "a shift of one standard deviation";
  measure.power_of_n = true;
  summary.add(std::move(measure));
}

void add_trend(const About& about, const std::vector<std::vector<double>>& groups,
               Summary& summary) {
  if (groups.size() < 2) return;
  std::size_t total = 0;
  double pairs = 0, squares = 0;
  for (const auto& group : groups) {
    const auto size = static_cast<double>(group.size());
    pairs += static_cast<double>(total) * size;
    squares += size * size * (2 * size + 3);
    total += group.size();
  }
  std::vector<double> replicates;
  for (int r = 0; r < kReplicates; ++r) {
    Stream stream(make_key(1, about.claim, about.part), Purpose::bootstrap,
                  static_cast<std::uint64_t>(r));
    replicates.push_back(later_is_larger(resample(groups, stream)) - 0.5);
  }
  Measure measure = start_measure(about, total);
  measure.estimate = later_is_larger(groups) - 0.5;
  measure.lower = quantile(replicates, 0.025);
  measure.upper = quantile(replicates, 0.975);
  measure.p_value = jonckheere_test(groups).p_increasing;
  const auto n = static_cast<double>(total);
  const double null_sd = std::sqrt((n * n * (2 * n + 3) - squares) / 72) / pairs;
  measure.power = normal_power(0.1 / null_sd, kLevel, Alternative::greater);
  measure.power_against = "a probability of 0.6 that the later value is larger";
  summary.add(std::move(measure));
}

}  // namespace boltzmark::experiments
