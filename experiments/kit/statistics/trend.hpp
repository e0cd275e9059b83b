#pragma once

#include <span>
#include <vector>

#include "experiments/kit/statistics/interval.hpp"
#include "experiments/kit/statistics/proportion.hpp"

namespace boltzmark {

/// The outcome of a test for a trend; p_increasing is one-sided.
struct Trend {
  double statistic = 0;
  double z = 0;  ///< standardised; 0 when nothing varies
  double p_increasing = 1;
  double p_decreasing = 1;
};

/// The slope of shares over a factor, and the test of no slope.
struct ShareTrend : Trend {
  Interval slope;  ///< least squares slope of the share per unit of score, weighted by trials
};

/// Tests whether shares rise over an ordered factor (Cochran-Armitage).
///   statistic = sum_i t_i (x_i - n_i p), t the scores, p the pooled share; normal
/// Throws  InvalidArgument if sizes differ or are below 2, scores do not increase, or a count has
/// no trials
ShareTrend share_trend(std::span<const Count> counts, std::span<const double> scores,
                       double level = 0.95);

/// Tests whether values rise over ordered groups (Jonckheere-Terpstra), normal with ties corrected.
///   statistic = sum over groups i < j of #{a < b} + #{a = b}/2,  a in group i, b in group j
/// Throws  InvalidArgument if there are fewer than 2 groups, one is empty, or a value is NaN
Trend jonckheere_test(std::span<const std::vector<double>> groups);

}  // namespace boltzmark
