#pragma once

#include <string>
#include <vector>

#include "experiments/kit/summary.hpp"

namespace boltzmark::experiments {

/// Compares two numbers of every repeat by the signed-rank test of a - b, which the claim promises
/// to be above 0 or below: the Hodges-Lehmann shift with its interval, the p-values of both sides,
/// and the test's power, zero differences dropped, against a shift of `effect` standard deviations.
/// Fewer than five non-zero differences decide nothing: their least p-value is 2^-4.
Measure paired_measure(const std::string& claim, const std::string& part,
                       const std::vector<double>& a, const std::vector<double>& b, bool greater,
                       const std::string& note, double effect = 0.5);

}  // namespace boltzmark::experiments
