// How the SIMD kernels sum the inputs of a panel's units. Included once per SIMD target: the guard
// toggles, as Highway wants of such headers.
//
// Four ways. Products: each packed weight times the states of a block of chains. Tables: for each
// chain, one of the 16 sums that the weights of four neighbours can make (table_kernels.hpp).
// Tiles: AMX's products of tiles of weights and states (tile_products.hpp). Rows: for each chain,
// the rows of weights of the neighbours that are not 0.

#if defined(BOLTZMARK_TRANSITION_INPUT_KERNELS) == defined(HWY_TARGET_TOGGLE)
#ifdef BOLTZMARK_TRANSITION_INPUT_KERNELS
#undef BOLTZMARK_TRANSITION_INPUT_KERNELS
#else
#define BOLTZMARK_TRANSITION_INPUT_KERNELS
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "boltzmark/core/aligned.hpp"
#include "boltzmark/core/error.hpp"
#include "boltzmark/core/simd.hpp"
#include "boltzmark/transition/kernels/layer_update.hpp"
#include "boltzmark/transition/kernels/panel.hpp"
#include "boltzmark/transition/kernels/table_kernels.hpp"
#include "boltzmark/transition/kernels/tile_products.hpp"
#include "boltzmark/transition/kernels/unit_kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace boltzmark::HWY_NAMESPACE::kernels {

constexpr int kVectors = kChainBlock / kLanes;              // per unit of a panel
constexpr int kRows = std::clamp(8 / kVectors, 1, kPanel);  // accumulators that fit the registers

// Inputs of kRows units x kChainBlock chains. Each is one sequential sum over the neighbours; where
// products are exact, as with states 0 and +-1, it does not depend on the SIMD path or on how units
// are grouped.
HWY_INLINE void sum_products(const PackedModel::PackedLayer& layer, const Chains& chains, int block,
                             int first_unit, float* HWY_RESTRICT inputs) {
  const Floats d;
  Vector sums[kRows][kVectors];
  for (int r = 0; r < kRows; ++r)
    for (int v = 0; v < kVectors; ++v) sums[r][v] = hn::Set(d, layer.bias[first_unit + r]);
  for (const PackedModel::Coupling& coupling : layer.couplings) {
    const float* HWY_RESTRICT states = chains.block(coupling.neighbour, block);
    const float* HWY_RESTRICT weights =
        coupling.weights.data() +
        static_cast<std::size_t>(first_unit / kPanel) * coupling.neighbour_size * kPanel +
        first_unit % kPanel;
    for (int j = 0; j < coupling.neighbour_size; ++j, weights += kPanel, states += kChainBlock) {
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

// The neighbours of a chain that are not 0, with their states as stored.
struct Active {
  std::size_t count = 0;
  std::vector<int> units;
  std::vector<float> states;
};

// Without branches: which units are active is anybody's guess.
HWY_INLINE void find_active(const Chains& chains, int layer, int chain, Active& active) {
  const int size = chains.size(layer);
  active.units.resize(size);
  active.states.resize(size);
  active.count = 0;
  const float* states = chains.block(layer, chain / kChainBlock) + chain % kChainBlock;
  for (int j = 0; j < size; ++j) {
    const float state = states[static_cast<std::size_t>(j) * kChainBlock];
    active.units[active.count] = j;
    active.states[active.count] = state;
    active.count += state != 0 ? 1 : 0;
  }
}

// Adds the active rows to the inputs of kVectorsAtOnce vectors of units, in the order of
// neighbours: the sums of the products' form.
template <int kVectorsAtOnce>
HWY_INLINE void add_rows(const PackedModel::Coupling& coupling, int stride, const Active& active,
                         float* HWY_RESTRICT inputs, int first) {
  const Floats d;
  Vector sums[kVectorsAtOnce];
  for (int v = 0; v < kVectorsAtOnce; ++v) sums[v] = hn::LoadU(d, inputs + first + v * kLanes);
  for (std::size_t k = 0; k < active.count; ++k) {
    const float* HWY_RESTRICT row =
        coupling.weights.data() + static_cast<std::size_t>(active.units[k]) * stride + first;
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
  for (const PackedModel::Coupling& coupling : layer.couplings) {
    find_active(chains, coupling.neighbour, chain, active);
    int first = 0;
    for (; first + kWide * kLanes <= stride; first += kWide * kLanes)
      add_rows<kWide>(coupling, stride, active, inputs, first);
    for (; first < stride; first += kLanes) add_rows<1>(coupling, stride, active, inputs, first);
  }
}

#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
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

// A layer's states as tiles of bf16 numbers: [block][tile][pair of units][kChainBlock], 0 beyond
// the layer.
HWY_INLINE void pack_pairs(const Chains& chains, int layer, int first_block, int last_block,
                           std::uint32_t* HWY_RESTRICT out) {
  const Words w;
  const int size = chains.size(layer), padded = tiles_of(size) * kTileTerms;
  for (int block = first_block; block < last_block; ++block) {
    const float* states = chains.block(layer, block);
    const auto bits = [&](int unit) HWY_ATTR {
      if (unit >= size) return hn::Zero(w);
      return hn::BitCast(w, hn::LoadU(Floats(), states + unit * kChainBlock));
    };
    for (int u = 0; u < padded; u += 2, out += kChainBlock) {
      const auto high = hn::And(bits(u + 1), hn::Set(w, 0xffff0000U));
      hn::StoreU(hn::Or(high, hn::ShiftRight<16>(bits(u))), w, out);
    }
  }
}
#endif

// The inputs of one layer's units, in the form that the model was packed in.
class Inputs {
 public:
  using Form = PackedModel::Form;
  explicit Inputs(const LayerInputs& job)
      : job_(job), layer_(job.model->layer(job.layer)), form_(layer_.form) {
    if (by_tables() || form_ == Form::tiles) pack();
    if (form_ == Form::rows) sum_chains();
  }

  // How many panels are summed at once.
  int stripe() const { return form_ == Form::tiles ? kTileUnits / kPanel : 1; }

  // Writes the inputs of a stripe of panels for all blocks of the job.
  // Shapes  out [blocks][stripe][kPanelSize]
  void sum(int panel, float* HWY_RESTRICT out) const {
    if (by_tables()) return sum_tables(panel, out);
    if (form_ == Form::tiles) return sum_tiles(panel, out);
    for (int block = job_.first_block; block < job_.last_block; ++block, out += kPanelSize) {
      if (form_ == Form::rows)
        spread(panel, block, out);
      else
        for (int r = 0; r < kPanel; r += kRows)
          sum_products(layer_, *job_.chains, block, panel * kPanel + r, out + r * kChainBlock);
    }
  }

  // The inputs of one chain, of a model in rows.  Shapes  [units padded to row_stride]
  const float* chain(int c) const {
    return inputs_.data() + static_cast<std::size_t>(c - first_chain()) * row_stride(layer_.size);
  }

 private:
  bool by_tables() const { return form_ == Form::tables || form_ == Form::fresh_tables; }

#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  void pack() {
    const bool tiles = form_ == Form::tiles;
    if (tiles && !takes_tiles()) refuse("AMX");
    const auto blocks = static_cast<std::size_t>(job_.last_block - job_.first_block);
    for (const PackedModel::Coupling& coupling : layer_.couplings) {
      const int size = coupling.neighbour_size;
      const auto words = static_cast<std::size_t>(tiles ? tiles_of(size) * kStateTile
                                                        : (size + 31) / 32 * kChainBlock);
      states_.emplace_back(words * blocks);
      (tiles ? pack_pairs : pack_bits)(*job_.chains, coupling.neighbour, job_.first_block,
                                       job_.last_block, states_.back().data());
    }
  }

  void start_from_bias(int panel, int blocks, float* HWY_RESTRICT out) const {
    const int units = stripe() * kPanel;
    for (int c = 0; c < blocks; ++c)
      for (int u = 0; u < units; ++u, out += kChainBlock)
        hn::StoreU(set(layer_.bias[panel * kPanel + u]), Floats(), out);
  }

  void sum_tables(int panel, float* HWY_RESTRICT out) const {
    const int blocks = job_.last_block - job_.first_block;
    start_from_bias(panel, blocks, out);
    for (std::size_t i = 0; i < layer_.couplings.size(); ++i)
      add_coupling(layer_.couplings[i], panel, states_[i].data(), blocks, out);
  }

  void sum_tiles(int panel, float* HWY_RESTRICT out) const {
    const int blocks = job_.last_block - job_.first_block;
    start_from_bias(panel, blocks, out);
    for (std::size_t i = 0; i < layer_.couplings.size(); ++i) {
      const int tiles = tiles_of(layer_.couplings[i].neighbour_size);
      const std::size_t stripes_before = static_cast<std::size_t>(panel / stripe());
      add_tile_products({.weights = layer_.couplings[i].tiles.data() +
                                    stripes_before * tiles * kWeightParts * kWeightTile,
                         .states = states_[i].data(),
                         .tiles = tiles,
                         .blocks = blocks,
                         .inputs = out});
    }
  }

  void add_coupling(const PackedModel::Coupling& coupling, int panel, const std::uint32_t* bits,
                    int blocks, float* HWY_RESTRICT out) const {
    const auto stride = static_cast<std::size_t>(blocks) * kChainBlock;
    if (form_ == Form::fresh_tables) {
      const float* weights = coupling.weights.data() +
                             static_cast<std::size_t>(panel) * coupling.neighbour_size * kPanel;
      const Levels levels(job_.chains->unit(coupling.neighbour));
      return add_products(weights, coupling.neighbour_size, levels, bits, blocks, stride, out);
    }
    const int groups = table_groups(coupling.neighbour_size);
    const float* tables =
        coupling.weights.data() + static_cast<std::size_t>(panel) * groups * kGroupTables;
    add_entries(tables, groups, bits, blocks, stride, out);
  }
#else
  [[noreturn]] void pack() { refuse(form_ == Form::tiles ? "AMX" : "AVX-512"); }
  void sum_tables(int, float*) const {}
  void sum_tiles(int, float*) const {}
#endif

  [[noreturn]] static void refuse(const char* path) {
    throw InvalidArgument(std::string("model = packed for ") + path +
                          " (must be packed on the path that sweeps)");
  }

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
  // Tables and tiles: the states of each coupling's neighbours.
  std::vector<AlignedVector<std::uint32_t>> states_;
  std::vector<float> inputs_;  // rows: [chain][unit]
};

}  // namespace boltzmark::HWY_NAMESPACE::kernels
HWY_AFTER_NAMESPACE();

#endif
