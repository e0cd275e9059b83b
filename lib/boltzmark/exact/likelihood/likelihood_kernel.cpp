#include "boltzmark/exact/likelihood/likelihood_kernel.hpp"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boltzmark/exact/likelihood/likelihood_kernel.cpp"
// clang-format off
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "hwy/contrib/math/math-inl.h"
// clang-format on

#include "boltzmark/core/simd.hpp"

HWY_BEFORE_NAMESPACE();
namespace boltzmark {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Computes one block's terms of one case.  Shapes  rows [visible + 1][kBlockUnits]
template <class D>
HWY_INLINE double block_terms(D d, const double* rows, const double* bias,
                              const std::uint32_t* units, std::size_t count, const float* values) {
  const std::size_t lanes = hn::Lanes(d);
  const auto zero = hn::Zero(d), one = hn::Set(d, 1.0);
  auto linear = zero, product = one;
  const auto take = [&](auto x) HWY_ATTR {
    linear = hn::Add(linear, hn::Max(x, zero));
    product = hn::Mul(product, hn::Add(one, hn::Exp(d, hn::Neg(hn::Abs(x)))));
  };
  for (std::size_t j = 0; j < kBlockUnits; j += 4 * lanes) {
    auto x0 = hn::Load(d, bias + j), x1 = hn::Load(d, bias + j + lanes);
    auto x2 = hn::Load(d, bias + j + 2 * lanes), x3 = hn::Load(d, bias + j + 3 * lanes);
    for (std::size_t k = 0; k < count; ++k) {
      const double* row = rows + units[k] * kBlockUnits + j;
      const auto v = values == nullptr ? one : hn::Set(d, static_cast<double>(values[k]));
      x0 = hn::Add(x0, hn::Mul(v, hn::Load(d, row)));
      x1 = hn::Add(x1, hn::Mul(v, hn::Load(d, row + lanes)));
      x2 = hn::Add(x2, hn::Mul(v, hn::Load(d, row + 2 * lanes)));
      x3 = hn::Add(x3, hn::Mul(v, hn::Load(d, row + 3 * lanes)));
    }
    take(x0);
    take(x1);
    take(x2);
    take(x3);
  }
  // All 16 factors are in (1, 2].
  HWY_ALIGN double lane[kBlockUnits];
  hn::Store(product, d, lane);
  double all = 1;
  for (std::size_t k = 0; k < lanes; ++k) all *= lane[k];
  return std::log(all) + hn::GetLane(hn::SumOfLanes(d, linear));
}

void add_block(const double* rows, const double* bias, const Cases& cases, std::size_t first,
               std::size_t count, double* out) {
  const hn::CappedTag<double, kBlockUnits / 4> d;
  for (std::size_t k = 0; k < count; ++k) {
    const std::uint32_t* units = cases.begin(first + k);
    const auto on = static_cast<std::size_t>(cases.end(first + k) - units);
    out[k] += block_terms(d, rows, bias, units, on, cases.values(first + k));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace boltzmark
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace boltzmark {
HWY_EXPORT(add_block);

FreeEnergyTable::FreeEnergyTable(const Eigen::MatrixXd& weights, const Eigen::VectorXd& hidden_bias)
    : visible_(static_cast<std::size_t>(weights.rows())),
      blocks_((static_cast<std::size_t>(weights.cols()) + kBlockUnits - 1) / kBlockUnits),
      rows_(hwy::AllocateAligned<double>(blocks_ * (visible_ + 1) * kBlockUnits)) {
  constexpr double kOff = -1e9;  // e^-1e9 is 0, so a padding unit adds log(1 + 0)
  simd_path();                   // settles BOLTZMARK_SIMD before the first kernel
  const auto hidden = static_cast<std::size_t>(weights.cols());
  for (std::size_t j = 0; j < blocks_ * kBlockUnits; ++j) {
    double* out = rows_.get() + j / kBlockUnits * (visible_ + 1) * kBlockUnits + j % kBlockUnits;
    for (std::size_t i = 0; i < visible_; ++i) {
      out[i * kBlockUnits] = j < hidden ? weights(i, j) : 0.0;
    }
    out[visible_ * kBlockUnits] = j < hidden ? hidden_bias[j] : kOff;
  }
}

void FreeEnergyTable::add_hidden_terms(const Cases& cases, std::size_t first, std::size_t count,
                                       double* out) const {
  for (std::size_t b = 0; b < blocks_; ++b) {
    const double* rows = rows_.get() + b * (visible_ + 1) * kBlockUnits;
    const double* bias = rows + visible_ * kBlockUnits;
    HWY_DYNAMIC_DISPATCH(add_block)(rows, bias, cases, first, count, out);
  }
}

}  // namespace boltzmark
#endif
