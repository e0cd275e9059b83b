#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "boltzmark/random/key.hpp"

namespace boltzmark {

/// Divides the cases into minibatches: a fresh permutation each epoch, each case once per epoch.
/// The last minibatch of an epoch is smaller when the batch does not divide the cases.
class Minibatches {
 public:
  /// Throws  InvalidArgument unless 1 <= batch <= cases
  Minibatches(int cases, int batch, StreamKey key);

  int per_epoch() const { return (cases_ + batch_ - 1) / batch_; }
  bool is_whole() const { return batch_ == cases_; }
  /// Returns the cases of one update; valid until the next call.
  /// Randomness  key, Purpose::minibatch, the epoch; cases in their own order if batch = cases
  std::span<const int> cases(std::uint64_t update);

 private:
  void permute(std::uint64_t epoch);

  int cases_;
  int batch_;
  StreamKey key_;
  std::uint64_t epoch_;
  std::vector<int> order_;
};

}  // namespace boltzmark
