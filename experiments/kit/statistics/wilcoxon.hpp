#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "experiments/kit/statistics/interval.hpp"

namespace boltzmark {

/// Settings of the signed-rank test.
struct SignedRankOptions {
  std::size_t exact_up_to = 200;  ///< most non-zero differences for the exact null distribution
  double level = 0.95;            ///< of the interval
};

/// The outcome of a signed-rank test of differences against 0.
struct SignedRank {
  std::size_t differences = 0;  ///< non-zero ones
  std::size_t zeros = 0;        ///< dropped
  double rank_sum = 0;          ///< W+, the sum of the ranks of positive differences
  bool exact = false;
  double p_greater = 1;  ///< against a median above 0
  double p_less = 1;
  double p_two_sided = 1;
  /// Hodges-Lehmann estimate (median of the pairwise averages) of all differences, zeros included;
  /// its limits are order statistics of the averages (infinite where n is too small for the level).
  Interval shift;

  double p(Alternative alternative) const;
};

/// Tests whether differences are symmetric about 0 (Wilcoxon 1945).
/// Zeros are dropped first (Wilcoxon's convention, R's too); ties get the average rank. The null
/// distribution is exact, ties included: every rank has a random sign (dynamic programming over
/// doubled ranks). Beyond `exact_up_to`: the normal law, variance corrected for ties, continuity
/// correction 1/2. Without a non-zero difference every p is 1.
///   p_two_sided = min(1, 2 min(p_greater, p_less))
/// Throws  InvalidArgument if there is no difference, one is not finite, or level is outside (0, 1)
/// Cost    O(n^3) exact, and O(n^2) memory for the interval
SignedRank signed_rank_test(std::span<const double> differences,
                            const SignedRankOptions& options = {});

/// Computes the exact law of twice W+ when every rank has a random sign, ties or not.
/// Shapes  doubled_ranks [n], twice the (average) ranks; result [1 + their sum], P(2 W+ = s)
std::vector<double> signed_rank_law(std::span<const long> doubled_ranks);

}  // namespace boltzmark
