#include "experiments/kit/measures.hpp"

#include <cmath>

#include "boltzmark/core/quantiles.hpp"
#include "experiments/kit/statistics/power.hpp"

namespace boltzmark::experiments {

Measure start_measure(const About& about, std::size_t n) {
  Measure measure;
  measure.claim = about.claim;
  measure.part = about.part;
  measure.n = static_cast<std::int64_t>(n);
  measure.note = about.note;
  measure.likely_reason = about.likely_reason;
  measure.decidable = about.decidable;
  return measure;
}

Measure interval_measure(const About& about, const Interval& interval, std::size_t n) {
  Measure measure = start_measure(about, n);
  measure.estimate = interval.estimate;
  measure.lower = interval.lower;
  measure.upper = interval.upper;
  return measure;
}

void leave_undecided(Measure& measure) {
  measure.decidable = false;
  measure.power = 0;
  measure.power_against = "any effect, since what it rests on decides nothing";
  measure.power_of_n = false;
  measure.post_hoc = true;
}

Measure mean_measure(const About& about, std::span<const double> values) {
  Measure measure = interval_measure(about, mean_interval(values), values.size());
  measure.power = mean_difference_power(values.size(), 1, 0.05, Alternative::two_sided);
  measure.power_against = "a mean of one standard deviation";
  measure.power_of_n = true;
  if (!about.decidable) leave_undecided(measure);
  return measure;
}

double interval_power(const Interval& interval, double distance, double level) {
  const double half = (interval.upper - interval.lower) / 2;
  if (!std::isfinite(half)) return 0;
  if (half == 0) return 1;
  const double outside = (1 - level) / 2;
  return normal_power(-normal_quantile(outside) * distance / half, outside, Alternative::greater);
}

WithInterval with_interval(const Interval& interval) {
  return {.value = interval.estimate, .lower = interval.lower, .upper = interval.upper};
}

Cell mean_cell(std::span<const double> values) {
  if (values.size() < 2) return NotRun{};
  return with_interval(mean_interval(values));
}

}  // namespace boltzmark::experiments
