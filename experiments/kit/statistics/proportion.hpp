#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "experiments/kit/statistics/interval.hpp"

namespace boltzmark {

/// A number of successes in a number of trials.
struct Count {
  std::uint64_t successes = 0;
  std::uint64_t trials = 0;
};

/// Tests exactly whether a probability is p0.
/// Two-sided as R's binom.test: the sum over all outcomes no likelier than the one seen.
/// Throws  InvalidArgument if trials = 0, successes > trials, or p0 is outside [0, 1]
double binomial_test(Count count, double p0, Alternative alternative);

/// Tests exactly whether two probabilities are equal, given the margins (Fisher).
/// `greater` looks for first > second; two-sided as R's fisher.test.
/// Throws  InvalidArgument if a count has no trials or more successes than trials
double fisher_test(Count first, Count second, Alternative alternative);

/// Adjusts p-values for their number (Holm 1979): adjusted values below a level control the
/// family-wise error at that level.
/// Shapes  result in the order of the argument
/// Throws  InvalidArgument if a p is outside [0, 1]
std::vector<double> holm(std::span<const double> p_values);

/// Whether two tables of counts agree cell by cell.
struct Agreement {
  bool agrees = false;
  std::vector<double> adjusted_p;  ///< per cell, Fisher's two-sided p after Holm
  double smallest_p = 1;           ///< of adjusted_p
};

/// Tests whether two tables of counts come from the same probabilities, at a family-wise level
/// (such as 1e-3 over the 30 cells of bruegge2013, Fig. 3, top).
/// Throws  InvalidArgument if sizes differ, are 0, or a count has no trials
Agreement test_agreement(std::span<const Count> ours, std::span<const Count> theirs,
                         double family_level = 1e-3);

/// The average difference of proportions over strata.
struct StratifiedDifference : Interval {
  double p_greater = 1;  ///< against first > second
};

/// Compares two tables of counts by their average share: mean_c (p1_c - p2_c), normal interval.
///   variance = 1/C^2 sum_c [p1(1-p1)/n1 + p2(1-p2)/n2], with (x+1)/(n+2) for p in the variance
/// Throws  InvalidArgument if sizes differ, are 0, or a count has no trials
StratifiedDifference stratified_difference(std::span<const Count> first,
                                           std::span<const Count> second, double level = 0.95);

}  // namespace boltzmark
