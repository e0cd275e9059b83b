#include "boltzmark/transition/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/simd.hpp"
#include "boltzmark/transition/threads.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boltzmark/transition/statistics.cpp"
#include <hwy/foreach_target.h>
// Highway wants its own header after foreach_target.
#include <hwy/highway.h>

namespace boltzmark {
#ifndef BOLTZMARK_STATISTICS_ROWS
#define BOLTZMARK_STATISTICS_ROWS
// States of some chains as rows: [chain][unit], units padded with zeros to whole tiles.
struct Rows {
  int units = 0;
  int stride = 0;
  std::vector<float> values;
};
constexpr int kUnitTile = 16;  // divides every stride
#endif
}  // namespace boltzmark

HWY_BEFORE_NAMESPACE();
namespace boltzmark::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::CappedTag<float, kUnitTile>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(Floats()));
constexpr int kVectors = kUnitTile / kLanes;
constexpr int kColumns = std::max(8 / kVectors, 2);  // accumulators that hide the latency

// A tile of lower' upper: kUnitTile lower units x kColumns upper units, summed over all chains.
HWY_INLINE void correlate_tile(const Rows& lower, const Rows& upper, int chains, int i0, int j0,
                               float* HWY_RESTRICT tile) {
  const Floats d;
  hn::Vec<Floats> sums[kColumns][kVectors];
  for (auto& column : sums)
    for (auto& sum : column) sum = hn::Zero(d);
  for (int c = 0; c < chains; ++c) {
    const float* HWY_RESTRICT x =
        lower.values.data() + static_cast<std::size_t>(c) * lower.stride + i0;
    const float* HWY_RESTRICT y =
        upper.values.data() + static_cast<std::size_t>(c) * upper.stride + j0;
    hn::Vec<Floats> states[kVectors];
    for (int v = 0; v < kVectors; ++v) states[v] = hn::LoadU(d, x + v * kLanes);
    for (int j = 0; j < kColumns; ++j) {
      const auto other = hn::Set(d, y[j]);
      for (int v = 0; v < kVectors; ++v) sums[j][v] = hn::MulAdd(states[v], other, sums[j][v]);
    }
  }
  for (int j = 0; j < kColumns; ++j)
    for (int v = 0; v < kVectors; ++v) hn::StoreU(sums[j][v], d, tile + j * kUnitTile + v * kLanes);
}

// Columns first..last-1 of out (column-major, lower.units x upper.units) += rate * lower' upper.
void correlate(const Rows& lower, const Rows& upper, int chains, double rate, int first, int last,
               double* HWY_RESTRICT out) {
  HWY_ALIGN float tile[kUnitTile * kColumns];
  for (int i0 = 0; i0 < lower.units; i0 += kUnitTile) {
    const int rows = std::min(kUnitTile, lower.units - i0);
    for (int j0 = first; j0 < last; j0 += kColumns) {
      correlate_tile(lower, upper, chains, i0, j0, tile);
      for (int j = 0; j < std::min(kColumns, last - j0); ++j) {
        double* HWY_RESTRICT column = out + static_cast<std::size_t>(j0 + j) * lower.units + i0;
        for (int i = 0; i < rows; ++i)
          column[i] += rate * static_cast<double>(tile[j * kUnitTile + i]);
      }
    }
  }
}

// out += rate * sum of the rows.
void add_rows(const Rows& rows, int chains, double rate, double* HWY_RESTRICT out) {
  const Floats d;
  HWY_ALIGN float tile[kUnitTile];
  for (int u0 = 0; u0 < rows.units; u0 += kUnitTile) {
    hn::Vec<Floats> sums[kVectors];
    for (auto& sum : sums) sum = hn::Zero(d);
    for (int c = 0; c < chains; ++c)
      for (int v = 0; v < kVectors; ++v)
        sums[v] = hn::Add(
            sums[v], hn::LoadU(d, rows.values.data() + static_cast<std::size_t>(c) * rows.stride +
                                      u0 + v * kLanes));
    for (int v = 0; v < kVectors; ++v) hn::StoreU(sums[v], d, tile + v * kLanes);
    for (int u = 0; u < std::min(kUnitTile, rows.units - u0); ++u)
      out[u0 + u] += rate * static_cast<double>(tile[u]);
  }
}

}  // namespace boltzmark::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace boltzmark {
namespace {
HWY_EXPORT(correlate);
HWY_EXPORT(add_rows);

constexpr int kRun = 256;  // chains summed in float32 before a sum becomes double

// Splits the columns among threads, in whole tiles.
void correlate_all(const Rows& lower, const Rows& upper, int chains, double rate, double* out) {
  const int groups = threads_worth(1.0 * lower.units * upper.units * chains);
  const int tiles = upper.stride / kUnitTile;
  const auto edge = [&](std::size_t g) {
    return std::min(upper.units, static_cast<int>(g) * tiles / groups * kUnitTile);
  };
  parallel_for(static_cast<std::size_t>(groups), [&](std::size_t g) {
    const int last = static_cast<int>(g) + 1 == groups ? upper.units : edge(g + 1);
    HWY_DYNAMIC_DISPATCH(correlate)(lower, upper, chains, rate, edge(g), last, out);
  });
}

// Turns blocks of [unit][chain] around, a tile of units at a time so that both sides stay in cache.
void gather(const Chains& chains, int layer, int first, int last, Rows& rows) {
  rows.units = chains.size(layer);
  rows.stride = (rows.units + kUnitTile - 1) / kUnitTile * kUnitTile;
  rows.values.resize(static_cast<std::size_t>(last - first) * rows.stride);
  for (int c0 = first; c0 < last; c0 += kChainBlock) {
    const float* block = chains.block(layer, c0 / kChainBlock);
    float* row = rows.values.data() + static_cast<std::size_t>(c0 - first) * rows.stride;
    const int count = std::min(kChainBlock, last - c0);
    for (int u0 = 0; u0 < rows.stride; u0 += kUnitTile)
      for (int c = 0; c < count; ++c)
        for (int u = u0; u < u0 + kUnitTile; ++u)
          row[static_cast<std::size_t>(c) * rows.stride + u] =
              u < rows.units ? block[static_cast<std::size_t>(u) * kChainBlock + c] : 0.0F;
  }
}

void weigh(Rows& rows, std::span<const float> weights) {
  for (std::size_t c = 0; c < weights.size(); ++c)
    for (int u = 0; u < rows.stride; ++u) rows.values[c * rows.stride + u] *= weights[c];
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
  thread_local Rows lower, upper, weighed;
  for (int first = 0; first < chains.chains(); first += kRun) {
    const int count = std::min(kRun, chains.chains() - first);
    const auto weights =
        chain_weights.empty() ? chain_weights : chain_weights.subspan(first, count);
    gather(chains, 0, first, first + count, lower);
    for (int l = 0; l < chains.layers(); ++l) {
      // Sums of stored states are exact; their scales come out at the end.
      const double layer_rate = rate / static_cast<double>(state_scale(chains.unit(l)));
      if (!weights.empty()) {
        weighed = lower;
        weigh(weighed, weights);
      }
      const Rows& rows = weights.empty() ? lower : weighed;
      HWY_DYNAMIC_DISPATCH(add_rows)(rows, count, layer_rate, sum.biases[l].data());
      if (l + 1 == chains.layers()) break;
      gather(chains, l + 1, first, first + count, upper);
      const double pair_rate = layer_rate / static_cast<double>(state_scale(chains.unit(l + 1)));
      correlate_all(rows, upper, count, pair_rate, sum.weights[l].data());
      std::swap(lower, upper);
    }
  }
}

}  // namespace boltzmark
#endif
