#pragma once

#include <string>
#include <vector>

#include "experiments/kit/measures.hpp"

namespace boltzmark::experiments {

/// Adds a measure of paired differences: the Hodges-Lehmann shift with its interval, and Wilcoxon's
/// signed-rank p in the claim's direction, which tests that shift. Power: of the same test against
/// a shift of one standard deviation, simulated; 0 where no outcome of so few pairs is significant; post hoc where
/// differences of 0 are dropped, or what was seen makes it undecidable.
/// How many differences are 0 is noted.
/// So few pairs have no signed-rank interval either; Student's is given, and said to be.
void add_paired(const About& about, const std::vector<double>& differences, Alternative direction,
                Summary& summary);

/// Adds a measure of two independent samples: the difference of medians, first - second, within
/// what their exact intervals allow, and the rank-sum p in the claim's direction.
void add_unpaired(const About& about, const std::vector<double>& first,
                  const std::vector<double>& second, Alternative direction, Summary& summary);

/// Adds a measure of a trend over ordered groups: P(a value of a later group is larger) - 1/2, its
/// bootstrap interval, and Jonckheere's p for a rise.
void add_trend(const About& about, const std::vector<std::vector<double>>& groups,
               Summary& summary);

}  // namespace boltzmark::experiments
