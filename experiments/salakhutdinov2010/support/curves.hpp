#pragma once

#include <string>
#include <vector>

#include "experiments/kit/measures.hpp"
#include "experiments/kit/paired.hpp"
#include "experiments/kit/summary.hpp"

namespace boltzmark::experiments {

// Curves of training: an objective at equally spaced updates, the start included; one curve a run.

/// Averages a curve over its last fifth.
double late_mean(const std::vector<double>& curve);
/// Computes the standard error of that mean from those of the records, which are independent.
double late_mean_error(const std::vector<double>& errors);
/// Computes the standard deviation of the last fifth of a curve about its least squares line, the
/// mean of the squared errors of these records taken from its square; 0 if they exceed it, NaN of
/// fewer than three records.
/// Shapes  errors [records], or empty for exact values
double late_deviation(const std::vector<double>& curve, const std::vector<double>& errors = {});

/// Computes the rise of the least squares line over the last half of a curve.
double last_half_trend(const std::vector<double>& curve);
/// Computes the share of the records that do not fall short of the one before by more than two
/// standard errors of the difference.
/// Shapes  errors [records], or empty for exact values
double share_not_falling(const std::vector<double>& curve, const std::vector<double>& errors = {});

/// What is known of a difference's own uncertainty, of the seeds that both sides have; empty for
/// exact numbers.
struct Uncertainty {
  ByRepeat errors = {};  ///< standard errors of the differences
  ByRepeat shifts = {};  ///< by how much a longer estimate of log Z raises each
};

/// Adds the measure of a mean difference of two numbers of every seed that both have; none where
/// fewer than `least` have both. The interval is Student's, of the spread over seeds, but never
/// narrower than 1.96 standard errors of the mean by the differences' own errors; then it is
/// widened on both sides by the size of the mean shift.
void add_difference(const About& about, const ByRepeat& ours, const ByRepeat& theirs,
                    Summary& summary, std::size_t least = 2, const Uncertainty& known = {});
/// Computes the errors of differences from those of both numbers, of the seeds that both have.
ByRepeat hypot_of(const ByRepeat& a, const ByRepeat& b);
/// Computes a - b of the seeds that both have.
ByRepeat minus(const ByRepeat& a, const ByRepeat& b);
/// Adds likewise the measure of a geometric mean ratio; undecided where one is not finite and
/// positive, as of a deviation within the errors, or the time of chains that never moved.
void add_ratio(const About& about, const ByRepeat& ours, const ByRepeat& theirs, Summary& summary,
               std::size_t least = 2);

/// Returns the autocorrelation time of a run's overlaps, which its outputs hold as overlap_time: infinite of
/// chains that never moved, which is stored as none.
double overlap_time(const Json& outputs);
/// Adds such a ratio of autocorrelation times of overlaps;
/// undecided where a run's time is not supported by batch means (overlap_supported, of kept trials without it
/// not known).
void add_time_ratio(const About& about, const std::vector<const Trial*>& ours,
                    const std::vector<const Trial*>& theirs, Summary& summary,
                    std::size_t least = 2);

}  // namespace boltzmark::experiments
