#pragma once

#include <cstddef>
#include <vector>

#include "boltzmark/core/numeric.hpp"

namespace boltzmark {

/// log of a sum over bits along a line of any length, of which only the last few are told apart: where
/// the next one comes, the one at its place is summed out.                    [Kramers, Wannier 1941]
class TransferSum {
 public:
  /// Starts with bits that nothing holds, each of which has two values.
  /// Cost  2^width numbers here, and as many steps of each call     Invariant  width >= 1
  explicit TransferSum(int width) : log_weights_(std::size_t{1} << width, 0) {}

  /// Replaces the bit at a place by the next one there. The old one is summed out: `coupling` is added
  /// where both are alike, and taken away where not.
  /// Accuracy  some six roundings of the size of a log weight
  void replace(int place, double coupling);

  /// Lets change(bits, log_weight) change the log weight of each state of the bits.
  template <class Change>
  void each(const Change& change) {
    for (std::size_t bits = 0; bits < log_weights_.size(); ++bits) change(bits, log_weights_[bits]);
  }

  /// Takes out what all states share, so that roundings are of the size of what tells them apart.
  /// Returns  how far apart the log weights are
  double rescale();

  /// Returns the log of the sum.     Accuracy  a rounding for each state
  double log_sum() const;

 private:
  std::vector<double> log_weights_;
  CompensatedSum taken_out_;
};

}  // namespace boltzmark
