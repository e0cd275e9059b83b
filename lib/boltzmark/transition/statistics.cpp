#include "boltzmark/transition/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/simd.hpp"

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
constexpr int kColumns = 4;

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

// out (column-major, lower.units x upper.units) += rate * lower' upper.
void correlate(const Rows& lower, const Rows& upper, int chains, double rate,
               double* HWY_RESTRICT out) {
  HWY_ALIGN float tile[kUnitTile * kColumns];
  for (int i0 = 0; i0 < lower.units; i0 += kUnitTile) {
    const int rows = std::min(kUnitTile, lower.units - i0);
    for (int j0 = 0; j0 < upper.units; j0 += kColumns) {
      correlate_tile(lower, upper, chains, i0, j0, tile);
      for (int j = 0; j < std::min(kColumns, upper.units - j0); ++j) {
        double* HWY_RESTRICT column = out + static_cast<std::size_t>(j0 + j) * lower.units + i0;
        for (int i = 0; i < rows; ++i)
          column[i] += rate * static_cast<double>(tile[j * kUnitTile + i]);
      }
    }
  }
}

}  // namespace boltzmark::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace boltzmark {
namespace {
HWY_EXPORT(correlate);

constexpr int kRun = 256;  // chains summed in float32 before a sum becomes double

void gather(const Chains& chains, int layer, int first, int last, Rows& rows) {
  rows.units = chains.size(layer);
  rows.stride = (rows.units + kUnitTile - 1) / kUnitTile * kUnitTile;
  rows.values.assign(static_cast<std::size_t>(last - first) * rows.stride, 0.0F);
  for (int c = first; c < last; ++c) {
    const float* block = chains.block(layer, c / kChainBlock) + c % kChainBlock;
    float* row = rows.values.data() + static_cast<std::size_t>(c - first) * rows.stride;
    for (int u = 0; u < rows.units; ++u) row[u] = block[static_cast<std::size_t>(u) * kChainBlock];
  }
}

void weigh(Rows& rows, std::span<const float> weights) {
  for (std::size_t c = 0; c < weights.size(); ++c)
    for (int u = 0; u < rows.stride; ++u) rows.values[c * rows.stride + u] *= weights[c];
}

void add_means(const Rows& rows, int chains, double rate, Eigen::VectorXd& sum) {
  for (int c = 0; c < chains; ++c)
    for (int u = 0; u < rows.units; ++u)
      sum[u] +=
          rate * static_cast<double>(rows.values[static_cast<std::size_t>(c) * rows.stride + u]);
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
      add_means(rows, count, layer_rate, sum.biases[l]);
      if (l + 1 == chains.layers()) break;
      gather(chains, l + 1, first, first + count, upper);
      const double pair_rate = layer_rate / static_cast<double>(state_scale(chains.unit(l + 1)));
      HWY_DYNAMIC_DISPATCH(correlate)(rows, upper, count, pair_rate, sum.weights[l].data());
      std::swap(lower, upper);
    }
  }
}

}  // namespace boltzmark
#endif
