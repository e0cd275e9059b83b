#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "boltzmark/exact/state_space.hpp"
#include "boltzmark/model/base.hpp"
#include "boltzmark/transition/rule.hpp"
#include "boltzmark/transition/sweep.hpp"

namespace boltzmark {

/// The law of the production sweep, recovered without randomness: every state of a small model is a
/// chain, scripted draws replace Philox, and 33 half sweeps bisect each threshold of every decision
/// (a unit has its k-th value or a higher one if draw < its k-th threshold, in [0, 2^32]).
///   Cost  66 half sweeps of as many chains as states, times the most values of a unit less 1
class RecoveredSweep {
 public:
  /// The packing chooses the form of the model that is swept.
  /// Throws  InvalidArgument as StateSpace, PackedModel and sweep do
  RecoveredSweep(const Layered& model, const Base& base, const Rule& rule,
                 float inverse_temperature = 1, const Packing& packing = {});

  const StateSpace& space() const { return space_; }
  /// Returns the k-th threshold, k = 1..values - 1, of a unit's decision when its model is in a
  /// state.
  std::uint64_t threshold(int unit, std::size_t state, int k = 1) const {
    return thresholds_[unit][static_cast<std::size_t>(k - 1) * space_.states() + state];
  }
  /// Returns the probability that the unit has its k-th value or a higher one next.
  double tail(int unit, std::size_t state, int k = 1) const {
    return static_cast<double>(threshold(unit, state, k)) * 0x1p-32;
  }
  /// Returns the probability that the unit has its k-th value next.
  double probability(int unit, std::size_t state, int k) const;
  /// Makes the dense recovered T_h (parity 1) or T_v (parity 0); T = T_h T_v.
  Eigen::MatrixXd side_matrix(int parity) const;

 private:
  StateSpace space_;
  std::vector<std::vector<std::uint64_t>> thresholds_;  // of each unit [values - 1 x states]
};

}  // namespace boltzmark
