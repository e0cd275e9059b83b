// How the SIMD kernels pack a layer's states: as bits for tables, as pairs of bf16 numbers for
// tiles. Included once per SIMD target: the guard toggles, as Highway wants of such headers.

#if defined(BOLTZMARK_TRANSITION_STATE_KERNELS) == defined(HWY_TARGET_TOGGLE)
#ifdef BOLTZMARK_TRANSITION_STATE_KERNELS
#undef BOLTZMARK_TRANSITION_STATE_KERNELS
#else
#define BOLTZMARK_TRANSITION_STATE_KERNELS
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "boltzmark/transition/chains.hpp"
#include "boltzmark/transition/kernels/kernel_draws.hpp"
#include "boltzmark/transition/kernels/tile_products.hpp"

HWY_BEFORE_NAMESPACE();
namespace boltzmark::HWY_NAMESPACE::kernels {

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

}  // namespace boltzmark::HWY_NAMESPACE::kernels
HWY_AFTER_NAMESPACE();

#endif
