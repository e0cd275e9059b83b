#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <span>
#include <vector>

#include "boltzmark/model/layered.hpp"
#include "boltzmark/random/key.hpp"

namespace boltzmark {

/// Chains are swept in blocks of this many, whatever the threads and the SIMD width.
inline constexpr int kChainBlock = 16;

/// How far from a unit's value a state in float32 may be.
inline constexpr double kStateTolerance = 0x1p-23;

/// Refuses cases that are no states of a unit, within float32's rounding.
/// Shapes  cases [units x cases]
/// Throws  InvalidArgument naming the first such value
void require_states(Unit unit, const Eigen::Ref<const Eigen::MatrixXf>& cases);

/// Refuses cases that are outside a unit's values: neither states nor means.
/// Shapes  cases [units x cases]
/// Throws  InvalidArgument naming the first such value
void require_within(Unit unit, const Eigen::Ref<const Eigen::MatrixXf>& cases);

/// The states of many chains of one model.
/// Storage per layer: [block][unit][chain in block] float32, values times Unit::state_scale, so
/// that a block is contiguous; the last block is padded with chains that are never read.
class Chains {
 public:
  /// Makes chains with every unit at its lowest value, Gaussian ones at 0.  Throws  InvalidArgument if chains < 1
  Chains(const Layered& model, int chains);

  int chains() const { return chains_; }
  int blocks() const { return (chains_ + kChainBlock - 1) / kChainBlock; }
  int layers() const { return static_cast<int>(sizes_.size()); }
  int size(int layer) const { return sizes_[layer]; }
  Unit unit(int layer) const { return units_[layer]; }

  /// Returns or changes a unit's value.
  float get(int layer, int unit, int chain) const {
    return values_[layer][offset(layer, unit, chain)] / units_[layer].state_scale();
  }
  void set(int layer, int unit, int chain, float value) {
    values_[layer][offset(layer, unit, chain)] = units_[layer].stored(value);
  }

  /// Points to one block of a layer's stored states: [units][kChainBlock].
  float* block(int layer, int b) { return values_[layer].data() + block_offset(layer, b); }
  const float* block(int layer, int b) const {
    return values_[layer].data() + block_offset(layer, b);
  }

  /// Throws  InvalidArgument if there is no such layer or chain
  void require_layer(int layer) const;
  void require_chain(int chain) const;

  /// Copies a layer's values in or out.  Shapes  [units x chains]
  /// Throws  InvalidArgument, as do those below, if shapes differ or there is no such layer or chain
  void set_layer(int layer, const Eigen::Ref<const Eigen::MatrixXf>& states);
  Eigen::MatrixXf get_layer(int layer) const;
  /// Copies one chain out.
  State get_chain(int chain) const;
  /// Exchanges the states of two chains in every layer.
  void exchange(int first, int second);
  /// Replaces a chain's states by those of a chain of another group of the same model.
  void copy_chain(int chain, const Chains& from, int source);
  /// Tells whether the layers, sizes and units are those of a model, packed or not.
  template <class Model>
  bool fit(const Model& model) const {
    bool same = model.layers() == layers();
    for (int l = 0; same && l < layers(); ++l)
      same = model.size(l) == sizes_[l] && model.layer(l).unit == units_[l];
    return same;
  }

  /// Draws every unit of every chain uniformly from its values, Gaussian ones from N(a, sigma^2) of
  /// the model that the chains were made for.
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
  std::vector<Unit> units_;
  std::vector<std::vector<float>> values_;
  std::vector<Eigen::VectorXd> means_, scales_;  ///< a and sigma of Gaussian layers; else empty
};

/// Throws  InvalidArgument unless visits are one a chain of all groups, or none
void require_visits(std::span<const Chains> groups, std::span<const double> visits);

}  // namespace boltzmark
