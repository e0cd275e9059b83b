#include "experiments/salakhutdinov2010/support/curves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

namespace boltzmark::experiments {
namespace {

std::span<const double> late_part(const std::vector<double>& curve) {
  return std::span(curve).last((curve.size() + 4) / 5);
}

/// The least squares line through equally spaced values.
struct Line {
  double mean = 0;
  double slope = 0;    ///< from one value to the next
  double squares = 0;  ///< of the residuals, summed
};

Line fit_line(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  Line line{.mean = std::accumulate(values.begin(), values.end(), 0.0) / n};
  double cross = 0, square = 0, total = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double x = static_cast<double>(i) - (n - 1) / 2, y = values[i] - line.mean;
    cross += x * y;
    square += x * x;
    total += y * y;
  }
  line.slope = cross / square;
  line.squares = total - cross * line.slope;
  return line;
}

double square_of(const std::vector<double>& errors, std::size_t record) {
  return errors.empty() ? 0.0 : errors[record] * errors[record];
}

template <class Of>
ByRepeat combined(const ByRepeat& a, const ByRepeat& b, const Of& of) {
  ByRepeat both;
  for (const auto& [repeat, value] : a)
    if (const auto other = b.find(repeat); other != b.end())
      both[repeat] = of(value, other->second);
  return both;
}

}  // namespace

double late_mean(const std::vector<double>& curve) {
  const std::span<const double> late = late_part(curve);
  return std::accumulate(late.begin(), late.end(), 0.0) / static_cast<double>(late.size());
}

double late_mean_error(const std::vector<double>& errors) {
  double squares = 0;
  const std::span<const double> late = late_part(errors);
  for (const double error : late) squares += error * error;
  return std::sqrt(squares) / static_cast<double>(late.size());
}

double late_deviation(const std::vector<double>& curve, const std::vector<double>& errors) {
  const std::span<const double> late = late_part(curve);
  if (late.size() < 3) return NAN;
  double noise = 0;
  for (std::size_t i = curve.size() - late.size(); i < curve.size(); ++i)
    noise += square_of(errors, i) / static_cast<double>(late.size());
  const double variance = fit_line(late).squares / static_cast<double>(late.size() - 2);
  return std::sqrt(std::max(0.0, variance - noise));
}

double last_half_trend(const std::vector<double>& curve) {
  const std::span<const double> half = std::span(curve).last(curve.size() - curve.size() / 2);
  return fit_line(half).slope * static_cast<double>(half.size() - 1);  // steps between records
}

double share_not_falling(const std::vector<double>& curve, const std::vector<double>& errors) {
  std::size_t count = 0;
  for (std::size_t i = 1; i < curve.size(); ++i)
    count +=
        curve[i] - curve[i - 1] >= -2 * std::sqrt(square_of(errors, i) + square_of(errors, i - 1));
  return static_cast<double>(count) / static_cast<double>(curve.size() - 1);
}

void add_difference(const About& about, const ByRepeat& ours, const ByRepeat& theirs,
                    Summary& summary, std::size_t least, const Uncertainty& known) {
  constexpr double kNormal95 = 1.96;
  const std::vector<double> differences = differences_of(ours, theirs);
  if (differences.size() < least) return;
  Measure measure = mean_measure(about, differences);
  double squares = 0;
  for (const auto& [repeat, error] : known.errors) squares += error * error;
  const double half = kNormal95 * std::sqrt(squares) / static_cast<double>(differences.size());
  if (half > measure.upper - measure.estimate) {
    measure.lower = measure.estimate - half;
    measure.upper = measure.estimate + half;
    measure.note += "; the interval is that of log Z's errors, wider than the spread over seeds";
  }
  if (!known.shifts.empty()) {
    double sum = 0;
    for (const auto& [repeat, shift] : known.shifts) sum += shift;
    const double wider = std::abs(sum) / static_cast<double>(known.shifts.size());
    measure.lower -= wider;
    measure.upper += wider;
    measure.note += fmt::format(
        ", widened by {:.2f} nats, what a longer estimate of log Z changes in the difference",
        wider);
  }
  summary.add(std::move(measure));
}

ByRepeat hypot_of(const ByRepeat& a, const ByRepeat& b) {
  return combined(a, b, [](double x, double y) { return std::hypot(x, y); });
}

ByRepeat minus(const ByRepeat& a, const ByRepeat& b) {
  return combined(a, b, [](double x, double y) { return x - y; });
}

void add_ratio(const About& about, const ByRepeat& ours, const ByRepeat& theirs, Summary& summary,
               std::size_t least) {
  std::vector<double> logs;
  for (const auto& [first, second] : pairs_of(ours, theirs))
    logs.push_back(std::log(first / second));
  if (logs.size() < least) return;
  if (!std::all_of(logs.begin(), logs.end(), [](double value) { return std::isfinite(value); })) {
    Measure measure = start_measure(about, logs.size());
    leave_undecided(measure);
    return summary.add(std::move(measure));
  }
  Measure measure = mean_measure(about, logs);
  for (double* value : {&measure.estimate, &measure.lower, &measure.upper})
    *value = std::exp(*value);
  summary.add(std::move(measure));
}

double overlap_time(const Json& outputs) {
  const double time = number(outputs.at("overlap_time"));
  return std::isnan(time) ? HUGE_VAL : time;
}

void add_time_ratio(const About& about, const std::vector<const Trial*>& ours,
                    const std::vector<const Trial*>& theirs, Summary& summary, std::size_t least) {
  About told = about;
  int runs = 0, supported = 0, untold = 0;
  for (const auto* side : {&ours, &theirs})
    for (const Trial* run : *side) {
      ++runs;
      untold += run->outputs.contains("overlap_supported") ? 0 : 1;
      supported += run->outputs.value("overlap_supported", false) ? 1 : 0;
    }
  told.decidable = supported == runs;
  told.note += fmt::format(
      "; batch means support {} of {} times, and must support all for a decision", supported, runs);
  if (untold > 0)
    told.note += fmt::format("; {} of them {} of runs older than this test", untold,
                             untold == 1 ? "is" : "are");
  const auto time = [](const Trial& run) { return overlap_time(run.outputs); };
  add_ratio(told, by_repeat(ours, "seed", time), by_repeat(theirs, "seed", time), summary, least);
}

}  // namespace boltzmark::experiments
