#pragma once

#include <span>

namespace boltzmark::cli {

/// What a product of a minibatch takes, on a core with AVX-512 or, times two, AVX2; in seconds.
inline constexpr double kTrainingProduct = 2e-11;

/// What a training run takes beside its cases and its sampler's chains.
struct TrainingCost {
  double seconds = 0, bytes = 0;
};

/// How much a training run does.
struct TrainingWork {
  double chain_sweeps = 0;  ///< of an update: chains times sweeps of them
  int batch = 1;
  int mean_field = 0;  ///< updates of the means of deep models
  int updates = 0;
};

/// Foretells the seconds of all updates on the threads in use, and the bytes of the trainer.
/// Shapes  sizes [layers], the visible layer first
TrainingCost training_cost(std::span<const int> sizes, const TrainingWork& work);

}  // namespace boltzmark::cli
