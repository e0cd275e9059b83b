#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "experiments/kit/results.hpp"
#include "experiments/kit/summary.hpp"

namespace boltzmark::experiments {

/// A number of every repeat, or seed, that has one.
using ByRepeat = std::map<std::int64_t, double>;

/// Calls a statistic of each trial, by the repeat that `key` names among its inputs.
template <class Statistic>
ByRepeat by_repeat(const std::vector<const Trial*>& trials, const char* key,
                   const Statistic& statistic) {
  ByRepeat values;
  for (const Trial* trial : trials)
    values[trial->inputs.at(key).get<std::int64_t>()] = statistic(*trial);
  return values;
}

/// Lists the numbers in the order of the repeats.
std::vector<double> values_of(const ByRepeat& numbers);

/// Pairs the numbers of the repeats that both have, in their order: a run that is missing takes its
/// pair with it, and no other.
std::vector<std::pair<double, double>> pairs_of(const ByRepeat& a, const ByRepeat& b);
/// Takes a - b of these pairs.
std::vector<double> differences_of(const ByRepeat& a, const ByRepeat& b);

/// Compares two numbers of every repeat by the signed-rank test of a - b, which the claim promises
/// to be above 0 or below: the Hodges-Lehmann shift with its interval, the p-values of both sides,
/// and the test's power against a shift of `effect` standard deviations, which is post hoc where differences of
/// 0 are dropped.
/// Fewer than five non-zero differences decide nothing: their least p-value is 2^-4.
Measure paired_measure(const std::string& claim, const std::string& part,
                       const std::vector<double>& a, const std::vector<double>& b, bool greater,
                       const std::string& note, double effect = 0.5);
/// The same of the repeats that both have.
Measure paired_measure(const std::string& claim, const std::string& part, const ByRepeat& a,
                       const ByRepeat& b, bool greater, const std::string& note);

}  // namespace boltzmark::experiments
