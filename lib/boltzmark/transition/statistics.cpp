#include "boltzmark/transition/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boltzmark/transition/statistics.cpp"
#include <hwy/foreach_target.h>
// Highway wants its own header after foreach_target.
#include <hwy/highway.h>

#include "boltzmark/transition/kernels/table_kernels.hpp"

namespace boltzmark {
#ifndef BOLTZMARK_STATISTICS_ROWS
#define BOLTZMARK_STATISTICS_ROWS
// States of some chains as rows: [chain][unit], units padded with zeros to whole blocks.
struct StateRows {
  int units = 0;
  int stride = 0;
  std::vector<float> values;
};
constexpr int kUnitBlock = kChainBlock;  // divides every stride
constexpr int kRun = 256;                // chains summed in float32 before a sum becomes double

// out (column-major, lower.units x upper.units) += rate * lower' upper, of some chains.
struct Correlation {
  const StateRows& lower;
  const StateRows& upper;
  int chains;
  double rate;
  double* out;
  Unit unit = Unit::bernoulli();        // of the lower layer
  const std::uint32_t* bits = nullptr;  // the lower states, if they are two-valued: see pack_bits
};
#endif
}  // namespace boltzmark

HWY_BEFORE_NAMESPACE();
namespace boltzmark::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::CappedTag<float, kUnitBlock>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(Floats()));
constexpr int kVectors = kUnitBlock / kLanes;
constexpr int kColumns = std::max(8 / kVectors, 2);  // accumulators that hide the latency

// Adds a block [columns][kUnitBlock] whose first pair is (i0, j0).
HWY_INLINE void add_block(const Correlation& job, const float* HWY_RESTRICT block, int i0, int j0,
                          int columns) {
  const int rows = std::min(kUnitBlock, job.lower.units - i0);
  for (int j = 0; j < columns; ++j, block += kUnitBlock) {
    double* HWY_RESTRICT column = job.out + static_cast<std::size_t>(j0 + j) * job.lower.units + i0;
    for (int i = 0; i < rows; ++i) column[i] += job.rate * static_cast<double>(block[i]);
  }
}

// A block of lower' upper: kUnitBlock lower units x kColumns upper units, summed over all chains.
HWY_INLINE void correlate_block(const Correlation& job, int i0, int j0, float* HWY_RESTRICT block) {
  const Floats d;
  hn::Vec<Floats> sums[kColumns][kVectors];
  for (auto& column : sums)
    for (auto& sum : column) sum = hn::Zero(d);
  for (int c = 0; c < job.chains; ++c) {
    const float* HWY_RESTRICT x =
        job.lower.values.data() + static_cast<std::size_t>(c) * job.lower.stride + i0;
    const float* HWY_RESTRICT y =
        job.upper.values.data() + static_cast<std::size_t>(c) * job.upper.stride + j0;
    hn::Vec<Floats> states[kVectors];
    for (int v = 0; v < kVectors; ++v) states[v] = hn::LoadU(d, x + v * kLanes);
    for (int j = 0; j < kColumns; ++j) {
      const auto other = hn::Set(d, y[j]);
      for (int v = 0; v < kVectors; ++v) sums[j][v] = hn::MulAdd(states[v], other, sums[j][v]);
    }
  }
  for (int j = 0; j < kColumns; ++j)
    for (int v = 0; v < kVectors; ++v)
      hn::StoreU(sums[j][v], d, block + j * kUnitBlock + v * kLanes);
}

#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
// Packs the states of a two-valued layer into bits, 32 chains in each word of each unit, [word]
// [unit padded to the stride], if all of them are values and tables are worth their making.
bool pack_bits(const StateRows& rows, Unit unit, int chains, std::vector<std::uint32_t>& bits) {
  constexpr int kFewUnits = 2 * kUnitBlock;  // tables made for fewer cost more than they save
  if (!unit.is_two_valued() || rows.units <= kFewUnits) return false;
  const Floats d;
  const kernels::Words w;
  const auto low = kernels::set(static_cast<float>(unit.value(0))),
             high = kernels::set(static_cast<float>(unit.value(1)));
  bits.assign(static_cast<std::size_t>((chains + 31) / 32) * rows.stride, 0);
  auto others = kernels::no_lane();
  for (int c = 0; c < chains; ++c) {
    const float* states = rows.values.data() + static_cast<std::size_t>(c) * rows.stride;
    std::uint32_t* out = bits.data() + static_cast<std::size_t>(c / 32) * rows.stride;
    for (int u = 0; u < rows.units; u += kUnitBlock) {
      const auto state = hn::LoadU(d, states + u);
      const auto on = hn::Eq(state, high), off = hn::Eq(state, low);
      const auto unit_there = hn::FirstN(d, static_cast<std::size_t>(rows.units - u));
      others = hn::Or(others, hn::AndNot(hn::Or(on, off), unit_there));
      const auto bit = hn::IfThenElseZero(hn::RebindMask(w, on), hn::Set(w, 1U << c % 32));
      hn::StoreU(hn::Or(hn::LoadU(w, out + u), bit), w, out + u);
    }
  }
  return hn::AllFalse(d, others);
}

// The sums over chains as sums of inputs: upper states for weights, lower units for chains.
void correlate_bits(const Correlation& job, int first, int last) {
  constexpr int kBlocks = 3;
  const kernels::Levels levels(job.unit);
  HWY_ALIGN float tables[kRun / kTableUnits * kernels::kGroupTables];
  HWY_ALIGN float sums[kBlocks * kPanelSize];
  const int groups = table_groups(job.chains), stride = job.lower.stride;
  for (int j0 = first; j0 < last; j0 += kPanel) {
    kernels::fill_tables(job.upper.values.data() + j0, job.upper.stride, job.chains, levels,
                         tables);
    for (int i0 = 0; i0 < stride; i0 += kBlocks * kUnitBlock) {
      const int blocks = std::min(kBlocks, (stride - i0) / kUnitBlock);
      std::fill_n(sums, blocks * kPanelSize, 0.0F);
      kernels::add_entries(tables, groups, job.bits + i0, blocks, stride, sums);
      for (int t = 0; t < blocks; ++t)
        add_block(job, sums + t * kPanelSize, i0 + t * kUnitBlock, j0, std::min(kPanel, last - j0));
    }
  }
}
#else
bool pack_bits(const StateRows&, Unit, int, std::vector<std::uint32_t>&) { return false; }
void correlate_bits(const Correlation&, int, int) {}
#endif

// Columns first..last-1, first a multiple of kUnitBlock.
void correlate(const Correlation& job, int first, int last) {
  if (job.bits != nullptr) return correlate_bits(job, first, last);
  HWY_ALIGN float block[kUnitBlock * kColumns];
  for (int i0 = 0; i0 < job.lower.units; i0 += kUnitBlock)
    for (int j0 = first; j0 < last; j0 += kColumns) {
      correlate_block(job, i0, j0, block);
      add_block(job, block, i0, j0, std::min(kColumns, last - j0));
    }
}

// out += rate * sum of the rows.
void add_rows(const StateRows& rows, int chains, double rate, double* HWY_RESTRICT out) {
  const Floats d;
  HWY_ALIGN float block[kUnitBlock];
  for (int u0 = 0; u0 < rows.units; u0 += kUnitBlock) {
    hn::Vec<Floats> sums[kVectors];
    for (auto& sum : sums) sum = hn::Zero(d);
    for (int c = 0; c < chains; ++c)
      for (int v = 0; v < kVectors; ++v)
        sums[v] = hn::Add(
            sums[v], hn::LoadU(d, rows.values.data() + static_cast<std::size_t>(c) * rows.stride +
                                      u0 + v * kLanes));
    for (int v = 0; v < kVectors; ++v) hn::StoreU(sums[v], d, block + v * kLanes);
    for (int u = 0; u < std::min(kUnitBlock, rows.units - u0); ++u)
      out[u0 + u] += rate * static_cast<double>(block[u]);
  }
}

}  // namespace boltzmark::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace boltzmark {
namespace {
HWY_EXPORT(pack_bits);
HWY_EXPORT(correlate);
HWY_EXPORT(add_rows);

// Splits the columns among threads, in whole blocks.
void correlate_all(Correlation job) {
  thread_local std::vector<std::uint32_t> bits;
  if (HWY_DYNAMIC_DISPATCH(pack_bits)(job.lower, job.unit, job.chains, bits))
    job.bits = bits.data();
  const int groups = threads_worth(1.0 * job.lower.units * job.upper.units * job.chains);
  const int blocks = job.upper.stride / kUnitBlock;
  const auto edge = [&](std::size_t g) {
    return std::min(job.upper.units, static_cast<int>(g) * blocks / groups * kUnitBlock);
  };
  parallel_for(static_cast<std::size_t>(groups), [&](std::size_t g) {
    const int last = static_cast<int>(g) + 1 == groups ? job.upper.units : edge(g + 1);
    HWY_DYNAMIC_DISPATCH(correlate)(job, edge(g), last);
  });
}

// Turns blocks of [unit][chain] around, kUnitBlock units at a time so that both sides stay in
// cache.
void gather(const Chains& chains, int layer, int first, int last, StateRows& rows) {
  rows.units = chains.size(layer);
  rows.stride = (rows.units + kUnitBlock - 1) / kUnitBlock * kUnitBlock;
  rows.values.resize(static_cast<std::size_t>(last - first) * rows.stride);
  for (int c0 = first; c0 < last; c0 += kChainBlock) {
    const float* block = chains.block(layer, c0 / kChainBlock);
    float* row = rows.values.data() + static_cast<std::size_t>(c0 - first) * rows.stride;
    const int count = std::min(kChainBlock, last - c0);
    for (int u0 = 0; u0 < rows.stride; u0 += kUnitBlock)
      for (int c = 0; c < count; ++c)
        for (int u = u0; u < u0 + kUnitBlock; ++u)
          row[static_cast<std::size_t>(c) * rows.stride + u] =
              u < rows.units ? block[static_cast<std::size_t>(u) * kChainBlock + c] : 0.0F;
  }
}

// The rows times their chains' weights, in `weighed` if there are weights.
const StateRows& weigh(const StateRows& rows, std::span<const float> weights, StateRows& weighed) {
  if (weights.empty()) return rows;
  weighed = rows;
  for (std::size_t c = 0; c < weights.size(); ++c)
    for (int u = 0; u < rows.stride; ++u) weighed.values[c * rows.stride + u] *= weights[c];
  return weighed;
}

void check(const Chains& chains, std::span<const float> weights, const Parameters& sum) {
  const auto count = static_cast<std::size_t>(chains.chains());
  if (!weights.empty() && weights.size() != count)
    throw InvalidArgument(
        fmt::format("chain_weights = {} values (must be {})", weights.size(), count));
  bool same = static_cast<int>(sum.biases.size()) == chains.layers() &&
              sum.weights.size() + 1 == sum.biases.size();
  for (int l = 0; same && l < chains.layers(); ++l)
    same = sum.biases[l].size() == chains.size(l) &&
           (l + 1 == chains.layers() || (sum.weights[l].rows() == chains.size(l) &&
                                         sum.weights[l].cols() == chains.size(l + 1)));
  if (!same) throw InvalidArgument("sum (must have the chains' layers and sizes)");
}

}  // namespace

void add_statistics(const Chains& chains, std::span<const float> chain_weights, double rate,
                    Parameters& sum) {
  simd_path();
  check(chains, chain_weights, sum);
  // Kept between calls: a training step must not map and clear fresh pages each time.
  thread_local StateRows lower, upper, weighed;
  for (int first = 0; first < chains.chains(); first += kRun) {
    const int count = std::min(kRun, chains.chains() - first);
    const auto weights =
        chain_weights.empty() ? chain_weights : chain_weights.subspan(first, count);
    // Sums of stored states are exact; their scales come out at the end.
    const auto scale = [&](int l) { return static_cast<double>(chains.unit(l).state_scale()); };
    const auto add_biases = [&](int l, const StateRows& rows) {
      HWY_DYNAMIC_DISPATCH(add_rows)(rows, count, rate / scale(l), sum.biases[l].data());
    };
    gather(chains, 0, first, first + count, lower);
    add_biases(0, weigh(lower, weights, weighed));
    for (int l = 0; l + 1 < chains.layers(); ++l) {
      gather(chains, l + 1, first, first + count, upper);
      const StateRows& weighed_upper = weigh(upper, weights, weighed);
      add_biases(l + 1, weighed_upper);
      correlate_all({.lower = lower,
                     .upper = weighed_upper,
                     .chains = count,
                     .rate = rate / scale(l) / scale(l + 1),
                     .out = sum.weights[l].data(),
                     .unit = chains.unit(l)});
      std::swap(lower, upper);
    }
  }
}

}  // namespace boltzmark
#endif
