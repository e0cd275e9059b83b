#pragma once

#include <span>
#include <string>

#include "experiments/kit/statistics/interval.hpp"
#include "experiments/kit/summary.hpp"

namespace boltzmark::experiments {

/// A claim's name and what is said about its measure.
struct About {
  std::string claim;
  std::string part = {};
  std::string note = {};
  std::string likely_reason = {};
  bool decidable = true;
};

/// Starts a measure of n independent repeats: all but its numbers.
Measure start_measure(const About& about, std::size_t n);
/// Makes a measure of a 95 % interval.
Measure interval_measure(const About& about, const Interval& interval, std::size_t n);
/// Says that a measure decides nothing, whatever its numbers: its power is 0 against any effect, post hoc.
void leave_undecided(Measure& measure);
/// Makes a measure of a mean: Student's interval, and its power against a mean of one standard
/// deviation, which is 0, and post hoc, where what was seen makes it undecidable.
/// Throws  InvalidArgument as mean_interval
Measure mean_measure(const About& about, std::span<const double> values);

/// Computes how often an interval of this width and level, normal about the truth, excludes a value
/// that lies `distance` away.
double interval_power(const Interval& interval, double distance, double level = 0.95);

/// Writes an interval as a table's cell shows it.
WithInterval with_interval(const Interval& interval);
/// Writes the mean of values with its interval; "not run" if there are fewer than two.
Cell mean_cell(std::span<const double> values);

}  // namespace boltzmark::experiments
