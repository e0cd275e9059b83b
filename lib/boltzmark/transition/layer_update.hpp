#pragma once

#include <cstdint>

#include "boltzmark/random/draws.hpp"
#include "boltzmark/transition/chains.hpp"
#include "boltzmark/transition/sweep.hpp"

namespace boltzmark {

/// One layer's update for some blocks of chains: what the SIMD kernels take.
struct LayerUpdate {
  const PackedModel* model = nullptr;
  int layer = 0;
  Chains* chains = nullptr;
  int first_block = 0;
  int last_block = 0;
  const Draws* draws = nullptr;  ///< unused by the means kernel
  std::uint64_t sweep = 0;
  /// [blocks x kChainBlock], or null for 1 everywhere.
  const float* inverse_temperatures = nullptr;
  Rule rule = Rule::gibbs();
  int first_chain = 0;  ///< number of chain 0 in the draws' count
  /// The layer's inputs if they are known, as fill_inputs writes them; null: compute them.
  const float* inputs = nullptr;
};

/// Draws the layer's next states from the rule's law.
void update_layer(const LayerUpdate& job);

/// Replaces the layer's states by their means.
void fill_means(const LayerUpdate& job);

/// Writes the layer's inputs, bias included, before tempering.
/// Shapes  out [blocks][units padded to whole panels][kChainBlock]
void fill_inputs(const LayerUpdate& job, float* out);

}  // namespace boltzmark
