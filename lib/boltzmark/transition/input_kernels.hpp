// How the SIMD kernels sum the inputs of a panel's units. Included once per SIMD target: the guard
// toggles, as Highway wants of such headers.
//
// Two forms. Products: each packed weight times the states of a block of chains. Tables: a
// permutation by the bits of four neighbours' states picks, for each of 16 chains, one of the 16
// sums that their weights can make: 64 multiply-adds in two instructions.

#if defined(BOLTZMARK_TRANSITION_INPUT_KERNELS) == defined(HWY_TARGET_TOGGLE)
#ifdef BOLTZMARK_TRANSITION_INPUT_KERNELS
#undef BOLTZMARK_TRANSITION_INPUT_KERNELS
#else
#define BOLTZMARK_TRANSITION_INPUT_KERNELS
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/transition/layer_update.hpp"
#include "boltzmark/transition/panel.hpp"
#include "boltzmark/transition/unit_kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace boltzmark::HWY_NAMESPACE::kernels {

constexpr int kVectors = kChainBlock / kLanes;              // per row of a tile
constexpr int kRows = std::clamp(8 / kVectors, 1, kPanel);  // accumulators that fit the registers

// Inputs of kRows units x kChainBlock chains. Each is one sequential sum over the neighbours; where
// products are exact, as with states 0 and +-1, it does not depend on the SIMD path or on how tiles
// are grouped.
HWY_INLINE void sum_products(const PackedModel::PackedLayer& layer, const Chains& chains, int block,
                             int first_unit, float* HWY_RESTRICT inputs) {
  const Floats d;
  Vector sums[kRows][kVectors];
  for (int r = 0; r < kRows; ++r)
    for (int v = 0; v < kVectors; ++v) sums[r][v] = hn::Set(d, layer.bias[first_unit + r]);
  for (const PackedModel::Inlet& inlet : layer.inlets) {
    const float* HWY_RESTRICT states = chains.block(inlet.neighbour, block);
    const float* HWY_RESTRICT weights =
        inlet.panels.data() +
        static_cast<std::size_t>(first_unit / kPanel) * inlet.neighbour_size * kPanel +
        first_unit % kPanel;
    for (int j = 0; j < inlet.neighbour_size; ++j, weights += kPanel, states += kChainBlock) {
      Vector state[kVectors];
      for (int v = 0; v < kVectors; ++v) state[v] = hn::LoadU(d, states + v * kLanes);
      for (int r = 0; r < kRows; ++r) {
        const Vector weight = hn::Set(d, weights[r]);
        for (int v = 0; v < kVectors; ++v) sums[r][v] = hn::MulAdd(weight, state[v], sums[r][v]);
      }
    }
  }
  for (int r = 0; r < kRows; ++r)
    for (int v = 0; v < kVectors; ++v)
      hn::StoreU(sums[r][v], d, inputs + r * kChainBlock + v * kLanes);
}

#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
constexpr int kTogether = 3;  // blocks: 8 x 3 accumulators of the 32 registers

// The bits of a layer's states, 32 units in each word of each chain: [word][block][kChainBlock].
HWY_INLINE void pack_bits(const Chains& chains, int layer, int first_block, int last_block,
                          std::uint32_t* HWY_RESTRICT out) {
  const Floats d;
  const Words w;
  for (int first = 0; first < chains.size(layer); first += 32)
    for (int block = first_block; block < last_block; ++block, out += kChainBlock) {
      const float* states =
          chains.block(layer, block) + static_cast<std::size_t>(first) * kChainBlock;
      auto bits = hn::Zero(w);
      const int units = std::min(32, chains.size(layer) - first);
      for (int u = 0; u < units; ++u) {
        const Mask on = hn::Gt(hn::LoadU(d, states + u * kChainBlock), hn::Zero(d));
        bits = hn::Or(bits, hn::IfThenElseZero(hn::RebindMask(w, on), hn::Set(w, 1U << u)));
      }
      hn::StoreU(bits, w, out);
    }
}

// Adds the table entries of one inlet for kPanel units x blocks of chains. Each input is one
// sequential sum over the groups of four, whatever the blocks that are summed together.
template <int kBlocks>
HWY_INLINE void add_entries(const PackedModel::Inlet& inlet, int panel, const std::uint32_t* bits,
                            std::size_t stride, Vector (&sums)[kBlocks][kPanel]) {
  const Floats d;
  const Words w;
  const int groups = table_groups(inlet.neighbour_size);
  const float* HWY_RESTRICT table =
      inlet.tables.data() + static_cast<std::size_t>(panel) * groups * kPanel * kTableEntries;
  for (int first = 0; first < groups; first += 8, bits += stride) {
    hn::Vec<Words> index[kBlocks];
    for (int c = 0; c < kBlocks; ++c) index[c] = hn::LoadU(w, bits + c * kChainBlock);
    const int last = std::min(first + 8, groups);
#pragma GCC unroll 1
    for (int g = first; g < last; ++g) {
      for (int r = 0; r < kPanel; ++r, table += kTableEntries) {
        const Vector entries = hn::Load(d, table);
        for (int c = 0; c < kBlocks; ++c)  // the permutation reads the low four bits only
          sums[c][r] =
              hn::Add(sums[c][r], Vector{_mm512_permutexvar_ps(index[c].raw, entries.raw)});
      }
      for (int c = 0; c < kBlocks; ++c) index[c] = hn::ShiftRight<4>(index[c]);
    }
  }
}
#else
constexpr int kTogether = 1;
#endif

// The inputs of one layer's units, in the form that the model was packed in.
class Inputs {
 public:
  explicit Inputs(const LayerUpdate& job) : job_(job), layer_(job.model->layer(job.layer)) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
    if (!layer_.has_tables) return;
    const auto blocks = static_cast<std::size_t>(job.last_block - job.first_block);
    for (const PackedModel::Inlet& inlet : layer_.inlets) {
      const auto words = static_cast<std::size_t>((inlet.neighbour_size + 31) / 32);
      bits_.emplace_back(words * blocks * kChainBlock);
      pack_bits(*job.chains, inlet.neighbour, job.first_block, job.last_block, bits_.back().data());
    }
#else
    if (layer_.has_tables)
      throw InvalidArgument("model = packed for AVX-512 (must be packed on the path that sweeps)");
#endif
  }

  // How many blocks to sum at once from this one on.
  int together(int block) const {
    return bits_.empty() ? 1 : std::min(kTogether, job_.last_block - block);
  }

  // Writes the inputs of a panel.  Shapes  out [blocks][kTile], blocks <= together(block)
  void sum(int panel, int block, int blocks, float* HWY_RESTRICT out) const {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
    if (!bits_.empty()) {
      switch (blocks) {
        case 1:
          return sum_entries<1>(panel, block, out);
        case 2:
          return sum_entries<2>(panel, block, out);
        default:
          return sum_entries<3>(panel, block, out);
      }
    }
#endif
    for (int b = 0; b < blocks; ++b)
      for (int r = 0; r < kPanel; r += kRows)
        sum_products(layer_, *job_.chains, block + b, panel * kPanel + r,
                     out + b * kTile + r * kChainBlock);
  }

 private:
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  template <int kBlocks>
  void sum_entries(int panel, int block, float* HWY_RESTRICT out) const {
    const Floats d;
    Vector sums[kBlocks][kPanel];
    for (int c = 0; c < kBlocks; ++c)
      for (int r = 0; r < kPanel; ++r) sums[c][r] = set(layer_.bias[panel * kPanel + r]);
    const auto stride = static_cast<std::size_t>(job_.last_block - job_.first_block) * kChainBlock;
    for (std::size_t i = 0; i < layer_.inlets.size(); ++i)
      add_entries<kBlocks>(layer_.inlets[i], panel,
                           bits_[i].data() + (block - job_.first_block) * kChainBlock, stride,
                           sums);
    for (int c = 0; c < kBlocks; ++c)
      for (int r = 0; r < kPanel; ++r) hn::StoreU(sums[c][r], d, out + c * kTile + r * kChainBlock);
  }
#endif

  const LayerUpdate& job_;
  const PackedModel::PackedLayer& layer_;
  std::vector<std::vector<std::uint32_t>> bits_;  // per inlet; empty: the sums are of products
};

}  // namespace boltzmark::HWY_NAMESPACE::kernels
HWY_AFTER_NAMESPACE();

#endif
