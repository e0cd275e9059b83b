#pragma once

#include <cstddef>
#include <vector>

namespace boltzmark::experiments {

// Errors recorded at times of which each is twice the one before.

/// Lists the times.
std::vector<double> doubling_times(double first, std::size_t records);

/// Computes the least squares slope of the log of an error against the log of time, of each curve.
std::vector<double> log_slopes(const std::vector<std::vector<double>>& curves);

}  // namespace boltzmark::experiments
