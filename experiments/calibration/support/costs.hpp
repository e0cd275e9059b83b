#pragma once

#include <map>
#include <string>
#include <vector>

#include "experiments/calibration/support/outcomes.hpp"

namespace boltzmark::experiments {

/// Fewer sweeps are no run, and count as so many.
inline constexpr double kLeastSweeps = 100;

/// What methods take for a standard error of 0.1 nats on one model of the zoo: sweeps of all attempts times the
/// square of the stated error, over 0.1^2, and at least 100. Sweeps, not seconds: what a method
/// makes of its samples is not in them.
struct ModelCosts {
  const ZooModel* model = nullptr;
  /// Geometric mean over seeds, in sweeps, of each method that was ok with all of them.
  std::map<std::string, double> sweeps = {};

  /// Infinite if the method was refused.
  double of(const std::string& method) const;
  /// The method that was cheapest, as only hindsight tells; empty if none was ok.
  std::string best() const;
  /// By how much a method is dearer than the cheapest; infinite if it was refused and another was not, NaN if
  /// all were.
  double excess(const std::string& method) const;
};

/// Finds the costs of all models that outcomes are of, in the zoo's order.
std::vector<ModelCosts> costs_of(const std::vector<ZooOutcome>& outcomes);

}  // namespace boltzmark::experiments
