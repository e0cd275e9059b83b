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
  const Draws* draws = nullptr;  ///< unused by the probabilities kernel
  std::uint64_t sweep = 0;
  const float* inverse_temperatures =
      nullptr;  ///< [blocks x kChainBlock], or null for 1 everywhere
  Rule rule = Rule::gibbs();
};

/// Draws the layer's next states from the rule's law.
void update_layer(const LayerUpdate& job);

/// Replaces the layer's states by their probabilities of being on.
void fill_probabilities(const LayerUpdate& job);

}  // namespace boltzmark
