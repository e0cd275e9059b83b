// Sums of weights times two-valued states, four terms at a time: a permutation by the bits of four
// states picks, in each of 16 lanes, one of the 16 sums that their weights can make: 64
// multiply-adds in two instructions. Included once per SIMD target: the guard toggles, as Highway
// wants of such headers.

#if defined(BOLTZMARK_TRANSITION_TABLE_KERNELS) == defined(HWY_TARGET_TOGGLE)
#ifdef BOLTZMARK_TRANSITION_TABLE_KERNELS
#undef BOLTZMARK_TRANSITION_TABLE_KERNELS
#else
#define BOLTZMARK_TRANSITION_TABLE_KERNELS
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "boltzmark/transition/kernels/kernel_draws.hpp"
#include "boltzmark/transition/kernels/panel.hpp"

HWY_BEFORE_NAMESPACE();
namespace boltzmark::HWY_NAMESPACE::kernels {

#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
constexpr int kGroupTables = kPanel * kTableEntries;  // floats in the tables of four terms

// What a term's weight is multiplied with in each entry: the first of four units is the lowest bit.
struct Levels {
  Vector level[kTableUnits];

  explicit Levels(Unit unit) {
    const Floats d;
    const auto low = static_cast<float>(unit.value(0)), high = static_cast<float>(unit.value(1));
    for (int k = 0; k < kTableUnits; ++k) {
      HWY_ALIGN float values[kTableEntries];
      for (int e = 0; e < kTableEntries; ++e) values[e] = (e >> k & 1) != 0 ? high : low;
      level[k] = hn::Load(d, values);
    }
  }
};

// Tables of four rows of a panel's weights.
HWY_INLINE void fill_group(const float* HWY_RESTRICT weights, int stride, const Levels& levels,
                           float* HWY_RESTRICT table) {
  for (int r = 0; r < kPanel; ++r, table += kTableEntries) {
    Vector sum = hn::Mul(set(weights[r]), levels.level[0]);
    for (int k = 1; k < kTableUnits; ++k)
      sum = hn::MulAdd(set(weights[k * stride + r]), levels.level[k], sum);
    hn::Store(sum, Floats(), table);
  }
}

// Tables of a panel's weights [terms][stride]: [group of four terms][unit in panel][kTableEntries].
HWY_INLINE void fill_tables(const float* HWY_RESTRICT weights, int stride, int terms,
                            const Levels& levels, float* HWY_RESTRICT tables) {
  for (; terms >= kTableUnits; terms -= kTableUnits) {
    fill_group(weights, stride, levels, tables);
    weights += static_cast<std::size_t>(kTableUnits) * stride;
    tables += kGroupTables;
  }
  if (terms == 0) return;
  float rest[kTableUnits * kPanel] = {};
  for (int k = 0; k < terms; ++k)
    std::copy_n(weights + static_cast<std::size_t>(k) * stride, kPanel, rest + k * kPanel);
  fill_group(rest, kPanel, levels, tables);
}

// Adds the entries of a panel's tables to sums [block][unit in panel][lane]. Each is one sequential
// sum over the groups, whatever the blocks that are summed together.
// bits  the states of 32 terms in each word of each lane: a word's blocks are `stride` from the
// next word's
template <int kBlocks>
HWY_INLINE void add_entries(const float* HWY_RESTRICT tables, int groups, const std::uint32_t* bits,
                            std::size_t stride, float* HWY_RESTRICT out) {
  const Floats d;
  const Words w;
  const Vector one = set(1);
  Vector sums[kBlocks][kPanel];
  for (int c = 0; c < kBlocks; ++c)
    for (int r = 0; r < kPanel; ++r)
      sums[c][r] = hn::LoadU(d, out + c * kPanelSize + r * kChainBlock);
  for (int first = 0; first < groups; first += 8) {
    const std::uint32_t* word = bits + static_cast<std::size_t>(first / 8) * stride;
    hn::Vec<Words> index[kBlocks];
    for (int c = 0; c < kBlocks; ++c) index[c] = hn::LoadU(w, word + c * kChainBlock);
    const int last = std::min(first + 8, groups);
#pragma GCC unroll 1
    for (int g = first; g < last; ++g) {
      for (int r = 0; r < kPanel; ++r, tables += kTableEntries) {
        const Vector entries = hn::Load(d, tables);
        for (int c = 0; c < kBlocks; ++c) {
          // The permutation reads the low four bits only.
          const Vector entry{_mm512_permutexvar_ps(index[c].raw, entries.raw)};
          // Half of the sums by multiply-adds: other units of the CPU than an addition's.
          sums[c][r] = r % 2 == 0 ? hn::MulAdd(entry, one, sums[c][r]) : hn::Add(sums[c][r], entry);
        }
      }
      for (int c = 0; c < kBlocks; ++c) index[c] = hn::ShiftRight<4>(index[c]);
    }
  }
  for (int c = 0; c < kBlocks; ++c)
    for (int r = 0; r < kPanel; ++r)
      hn::StoreU(sums[c][r], d, out + c * kPanelSize + r * kChainBlock);
}

// The same for any number of blocks.
HWY_INLINE void add_entries(const float* tables, int groups, const std::uint32_t* bits, int blocks,
                            std::size_t stride, float* HWY_RESTRICT out) {
  for (; blocks >= 3; blocks -= 3, bits += 3 * kChainBlock, out += 3 * kPanelSize)
    add_entries<3>(tables, groups, bits, stride, out);
  if (blocks == 2) add_entries<2>(tables, groups, bits, stride, out);
  if (blocks == 1) add_entries<1>(tables, groups, bits, stride, out);
}

// Adds the products of a panel's weights [terms][unit in panel] and states, by tables made for it:
// a chunk of terms at a time, whose 16 KB stay in the first cache for all blocks.
HWY_INLINE void add_products(const float* HWY_RESTRICT weights, int terms, const Levels& levels,
                             const std::uint32_t* bits, int blocks, std::size_t stride,
                             float* HWY_RESTRICT out) {
  constexpr int kChunk = 128;
  HWY_ALIGN float tables[kChunk / kTableUnits * kGroupTables];
  for (int first = 0; first < terms; first += kChunk) {
    const int count = std::min(kChunk, terms - first);
    fill_tables(weights + static_cast<std::size_t>(first) * kPanel, kPanel, count, levels, tables);
    add_entries(tables, table_groups(count), bits + static_cast<std::size_t>(first / 32) * stride,
                blocks, stride, out);
  }
}
#endif

}  // namespace boltzmark::HWY_NAMESPACE::kernels
HWY_AFTER_NAMESPACE();

#endif
