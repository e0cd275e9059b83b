#pragma once

#include <cstdint>
#include <span>

#include "boltzmark/random/key.hpp"
#include "experiments/kit/statistics/interval.hpp"

namespace boltzmark {

/// Computes exactly how often binomial_test of p0 rejects at `alpha` when the probability is p1.
/// Two-sided counts both rejection regions of 2 min(P(<=), P(>=)).
/// Throws  InvalidArgument if trials = 0, or a probability or alpha is outside [0, 1]
double binomial_power(std::uint64_t trials, double p0, double p1, double alpha,
                      Alternative alternative);

/// Computes how often a t test of n normal differences rejects (non-central t).
///   effect = mean / standard deviation
/// Throws  InvalidArgument if differences < 2 or alpha is outside (0, 1)
double mean_difference_power(std::uint64_t differences, double effect, double alpha,
                             Alternative alternative);

/// Settings of a power found by simulation.
struct SimulatedPower {
  StreamKey key;
  int replicates = 2000;
};

/// Estimates how often the signed-rank test of n normal differences rejects, with its Monte Carlo
/// interval.   effect = mean / standard deviation
/// Randomness  replicate r draws from Stream(key, Purpose::test, r)
/// Throws  InvalidArgument if differences = 0, replicates < 1 or alpha is outside (0, 1)
Interval signed_rank_power(std::uint64_t differences, double effect, double alpha,
                           Alternative alternative, const SimulatedPower& simulation);

/// Estimates how often share_trend finds a rise when the true shares are given.
/// Shapes  shares, scores [cells]; the same number of trials in each
/// Randomness, Throws  as above
Interval share_trend_power(std::span<const double> shares, std::span<const double> scores,
                           std::uint64_t trials, double alpha, const SimulatedPower& simulation);

/// Computes how often a test with a normal statistic of the given mean (in
/// standard deviations) rejects: P(N(mean, 1) beyond the quantile).
double normal_power(double mean, double alpha, Alternative alternative);

}  // namespace boltzmark
