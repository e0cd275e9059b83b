#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <vector>

#include "boltzmark/model/layered.hpp"
#include "boltzmark/random/key.hpp"

namespace boltzmark {

/// Chains are swept in blocks of this many, whatever the threads and the SIMD width.
inline constexpr int kChainBlock = 16;

/// The states of many chains of one model.
/// Storage per layer: [block][unit][chain in block] float32, so that a block is contiguous; the
/// last block is padded with chains that are swept like the others and never read.
class Chains {
 public:
  /// Makes chains in the all-zero state.  Throws  InvalidArgument if chains < 1
  Chains(const Layered& model, int chains);

  int chains() const { return chains_; }
  int blocks() const { return (chains_ + kChainBlock - 1) / kChainBlock; }
  int layers() const { return static_cast<int>(sizes_.size()); }
  int size(int layer) const { return sizes_[layer]; }

  float get(int layer, int unit, int chain) const {
    return values_[layer][offset(layer, unit, chain)];
  }
  void set(int layer, int unit, int chain, float value) {
    values_[layer][offset(layer, unit, chain)] = value;
  }

  /// Points to one block of a layer: [units][kChainBlock].
  float* block(int layer, int b) { return values_[layer].data() + block_offset(layer, b); }
  const float* block(int layer, int b) const {
    return values_[layer].data() + block_offset(layer, b);
  }

  /// Copies a layer in or out.  Shapes  [units x chains]
  void set_layer(int layer, const Eigen::Ref<const Eigen::MatrixXf>& states);
  Eigen::MatrixXf get_layer(int layer) const;
  /// Copies one chain out.
  State get_chain(int chain) const;
  /// Exchanges the states of two chains in every layer.
  void exchange(int first, int second);

  /// Draws every unit of every chain uniformly from {0, 1} (Bernoulli models).
  void randomise(StreamKey key);

 private:
  std::size_t block_offset(int layer, int b) const {
    return static_cast<std::size_t>(b) * sizes_[layer] * kChainBlock;
  }
  std::size_t offset(int layer, int unit, int chain) const {
    return block_offset(layer, chain / kChainBlock) + static_cast<std::size_t>(unit) * kChainBlock +
           chain % kChainBlock;
  }
  int chains_;
  std::vector<int> sizes_;
  std::vector<std::vector<float>> values_;
};

}  // namespace boltzmark
