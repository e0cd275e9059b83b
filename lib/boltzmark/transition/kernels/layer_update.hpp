#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "boltzmark/random/draws.hpp"
#include "boltzmark/transition/chains.hpp"
#include "boltzmark/transition/kernels/panel.hpp"
#include "boltzmark/transition/sweep.hpp"

namespace boltzmark {

/// Stands for the end of a layer's panels.
inline constexpr int kAllPanels = std::numeric_limits<int>::max();

/// What the SIMD kernels read of one layer's neighbours, for some blocks of chains and some panels
/// of units, from an even one on. Chains of a model in rows are updated whole.
struct LayerInputs {
  const PackedModel* model = nullptr;
  int layer = 0;
  const Chains* chains = nullptr;
  int first_block = 0;
  int last_block = 0;
  int first_panel = 0;
  int last_panel = kAllPanels;
};

/// One layer's update for some blocks of chains and panels of units: what the SIMD kernels write.
struct LayerUpdate {
  const PackedModel* model = nullptr;
  int layer = 0;
  Chains* chains = nullptr;
  int first_block = 0;
  int last_block = 0;
  int first_panel = 0;
  int last_panel = kAllPanels;
  const Draws* draws = nullptr;  ///< unused by the means kernel
  std::uint64_t sweep = 0;
  /// [blocks x kChainBlock], or null for 1 everywhere.
  const float* inverse_temperatures = nullptr;
  Rule rule = Rule::gibbs();
  int first_chain = 0;  ///< number of chain 0 in the draws' count
  /// The layer's inputs if they are known, as fill_inputs writes them; null: compute them.
  const float* inputs = nullptr;

  LayerInputs reads() const {
    return {model, layer, chains, first_block, last_block, first_panel, last_panel};
  }
};

/// Draws the layer's next states from the rule's law.
void update_layer(const LayerUpdate& job);

/// Replaces the layer's states by their means.
void fill_means(const LayerUpdate& job);

/// The numbers of a layer's inputs by one block of chains.
inline std::size_t block_inputs(const PackedModel& model, int layer) {
  return static_cast<std::size_t>(panels_of(model.size(layer))) * kPanelSize;
}

/// Writes the layer's inputs, bias included, before tempering.
/// Shapes  out [blocks][units padded to whole panels][kChainBlock]
void fill_inputs(const LayerInputs& job, float* out);

}  // namespace boltzmark
