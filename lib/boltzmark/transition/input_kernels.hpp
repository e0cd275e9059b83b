// How the SIMD kernels sum the inputs of a panel's units. Included once per SIMD target: the guard
// toggles, as Highway wants of such headers.
//
// Three forms. Products: each packed weight times the states of a block of chains. Tables: a
// permutation by the bits of four neighbours' states picks, for each of 16 chains, one of the 16
// sums that their weights can make: 64 multiply-adds in two instructions. Rows: for each chain, the
// rows of weights of the neighbours that are not 0.

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
        inlet.weights.data() +
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
      inlet.weights.data() + static_cast<std::size_t>(panel) * groups * kPanel * kTableEntries;
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

// The neighbours of a chain that are not 0, with their states as stored.
struct Active {
  std::vector<int> units;
  std::vector<float> states;
};

HWY_INLINE void find_active(const Chains& chains, int layer, int chain, Active& active) {
  active.units.clear();
  active.states.clear();
  const float* states = chains.block(layer, chain / kChainBlock) + chain % kChainBlock;
  for (int j = 0; j < chains.size(layer); ++j)
    if (const float state = states[static_cast<std::size_t>(j) * kChainBlock]; state != 0) {
      active.units.push_back(j);
      active.states.push_back(state);
    }
}

// Adds the active rows to the inputs of kVectorsAtOnce vectors of units, in the order of
// neighbours: the sums of the products' form.
template <int kVectorsAtOnce>
HWY_INLINE void add_rows(const PackedModel::Inlet& inlet, int stride, const Active& active,
                         float* HWY_RESTRICT inputs, int first) {
  const Floats d;
  Vector sums[kVectorsAtOnce];
  for (int v = 0; v < kVectorsAtOnce; ++v) sums[v] = hn::LoadU(d, inputs + first + v * kLanes);
  for (std::size_t k = 0; k < active.units.size(); ++k) {
    const float* HWY_RESTRICT row =
        inlet.weights.data() + static_cast<std::size_t>(active.units[k]) * stride + first;
    const Vector state = set(active.states[k]);
    for (int v = 0; v < kVectorsAtOnce; ++v)
      sums[v] = hn::MulAdd(hn::LoadU(d, row + v * kLanes), state, sums[v]);
  }
  for (int v = 0; v < kVectorsAtOnce; ++v) hn::StoreU(sums[v], d, inputs + first + v * kLanes);
}

// Inputs of all units of one chain, padded to row_stride.
HWY_INLINE void sum_rows(const PackedModel::PackedLayer& layer, const Chains& chains, int chain,
                         Active& active, float* HWY_RESTRICT inputs) {
  const int stride = row_stride(layer.size);
  std::fill_n(inputs, stride, 0.0F);
  std::copy_n(layer.bias.data(), layer.size, inputs);
  constexpr int kWide = 8;  // vectors: sums that hide an addition's latency
  for (const PackedModel::Inlet& inlet : layer.inlets) {
    find_active(chains, inlet.neighbour, chain, active);
    int first = 0;
    for (; first + kWide * kLanes <= stride; first += kWide * kLanes)
      add_rows<kWide>(inlet, stride, active, inputs, first);
    for (; first < stride; first += kLanes) add_rows<1>(inlet, stride, active, inputs, first);
  }
}

// The inputs of one layer's units, in the form that the model was packed in.
class Inputs {
 public:
  using Form = PackedModel::Form;
  explicit Inputs(const LayerInputs& job)
      : job_(job), layer_(job.model->layer(job.layer)), form_(layer_.form) {
    if (form_ == Form::tables) pack();
    if (form_ == Form::rows) sum_chains();
  }

  // How many blocks to sum at once from this one on.
  int together(int block) const {
    return form_ == Form::tables ? std::min(kTogether, job_.last_block - block) : 1;
  }

  // Writes the inputs of a panel.  Shapes  out [blocks][kTile], blocks <= together(block)
  void sum(int panel, int block, int blocks, float* HWY_RESTRICT out) const {
    if (form_ == Form::tables) return sum_tables(panel, block, blocks, out);
    if (form_ == Form::rows) return spread(panel, block, out);
    for (int r = 0; r < kPanel; r += kRows)
      sum_products(layer_, *job_.chains, block, panel * kPanel + r, out + r * kChainBlock);
  }

 private:
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  void pack() {
    const auto blocks = static_cast<std::size_t>(job_.last_block - job_.first_block);
    for (const PackedModel::Inlet& inlet : layer_.inlets) {
      const auto words = static_cast<std::size_t>((inlet.neighbour_size + 31) / 32);
      bits_.emplace_back(words * blocks * kChainBlock);
      pack_bits(*job_.chains, inlet.neighbour, job_.first_block, job_.last_block,
                bits_.back().data());
    }
  }

  void sum_tables(int panel, int block, int blocks, float* HWY_RESTRICT out) const {
    switch (blocks) {
      case 1:
        return sum_entries<1>(panel, block, out);
      case 2:
        return sum_entries<2>(panel, block, out);
      default:
        return sum_entries<3>(panel, block, out);
    }
  }

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
#else
  [[noreturn]] void pack() {
    throw InvalidArgument("model = packed for AVX-512 (must be packed on the path that sweeps)");
  }
  void sum_tables(int, int, int, float*) const {}
#endif

  int first_chain() const { return job_.first_block * kChainBlock; }
  int chains() const {
    return std::min(job_.chains->chains(), job_.last_block * kChainBlock) - first_chain();
  }

  void sum_chains() {
    const auto stride = static_cast<std::size_t>(row_stride(layer_.size));
    inputs_.resize(static_cast<std::size_t>(chains()) * stride);
    Active active;
    for (int c = 0; c < chains(); ++c)
      sum_rows(layer_, *job_.chains, first_chain() + c, active,
               inputs_.data() + static_cast<std::size_t>(c) * stride);
  }

  // Padding chains get the last chain's inputs: what they draw is never read.
  void spread(int panel, int block, float* HWY_RESTRICT out) const {
    const auto stride = static_cast<std::size_t>(row_stride(layer_.size));
    const int first = (block - job_.first_block) * kChainBlock;
    const int last = std::min(first + kChainBlock, chains()) - 1;
    const auto from = [&](int chain) {
      return inputs_.data() + static_cast<std::size_t>(chain) * stride + panel * kPanel;
    };
    for (int r = 0; r < kPanel; ++r)
      for (int v = 0; v < kVectors; ++v)
        hn::StoreU(set(from(last)[r]), Floats(), out + r * kChainBlock + v * kLanes);
    for (int chain = first; chain < last; ++chain)
      for (int r = 0; r < kPanel; ++r) out[r * kChainBlock + chain - first] = from(chain)[r];
  }

  LayerInputs job_;
  const PackedModel::PackedLayer& layer_;
  Form form_;
  std::vector<std::vector<std::uint32_t>> bits_;  // tables: the states of each inlet's neighbours
  std::vector<float> inputs_;                     // rows: [chain][unit]
};

}  // namespace boltzmark::HWY_NAMESPACE::kernels
HWY_AFTER_NAMESPACE();

#endif
