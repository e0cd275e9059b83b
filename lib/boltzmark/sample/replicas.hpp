#pragma once

#include <Eigen/Core>
#include <cstdint>

#include "boltzmark/core/progress.hpp"
#include "boltzmark/random/key.hpp"
#include "boltzmark/sample/sample_store.hpp"
#include "boltzmark/target/target.hpp"

namespace boltzmark {

/// What parallel tempering of a target takes.
struct ReplicaOptions {
  Ladder ladder = Ladder::linear(100);
  int bundles = 4;             ///< independent ladders of one chain a rung
  std::int64_t burn_in = 500;  ///< sweeps before any is kept
  std::int64_t sweeps = 9500;  ///< kept, per chain
  StreamKey key = {};
  Progress progress = {};

  /// Throws  InvalidArgument if bundles < 1, burn_in < 0 or sweeps < 1
  void check() const;
};

/// What parallel tempering of a target gives.
struct ReplicaResult {
  SampleStore samples;  ///< rungs not drawn; chain bundle * rungs + i started at rung i
  /// Share of accepted swaps of each pair of neighbours [rungs - 1].
  Eigen::VectorXd acceptance = {};
};

/// Samples a target at every rung by parallel tempering, from draws of p1. After each sweep
/// neighbours exchange rungs, first the pairs (0,1), (2,3), .., then (1,2), (3,4), ..; D is that of
/// the joint state, recorded with the rung that moved it, before the swaps.
///   accepted with  min(1, exp((b_i - b_j) (D_j - D_i)))
/// Randomness  the target's draws with `key`; swap draws as LadderSwaps'
/// Throws      InvalidArgument as ReplicaOptions::check
ReplicaResult parallel_tempering_samples(const Target& target, const ReplicaOptions& options);

}  // namespace boltzmark
