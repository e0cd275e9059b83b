#include "boltzmark/exact/likelihood_kernel.hpp"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boltzmark/exact/likelihood_kernel.cpp"
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

constexpr std::size_t kPad = 16;  // hidden units are padded to a multiple of this

double hidden_terms(const double* rows, const double* bias, std::size_t stride,
                    const std::uint32_t* units, std::size_t count, const float* values) {
  const hn::CappedTag<double, kPad / 2> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto zero = hn::Zero(d), one = hn::Set(d, 1.0);
  auto linear = zero, product = one;
  double logs = 0;
  int factors = 0;
  const auto take = [&](auto x) HWY_ATTR {
    linear = hn::Add(linear, hn::Max(x, zero));
    product = hn::Mul(product, hn::Add(one, hn::Exp(d, hn::Neg(hn::Abs(x)))));
  };
  // 96 factors of at most 2 in each of at most 8 lanes stay below 2^1023.
  const auto flush = [&]() HWY_ATTR {
    HWY_ALIGN double lane[kPad];
    hn::Store(product, d, lane);
    double all = 1;
    for (std::size_t k = 0; k < lanes; ++k) all *= lane[k];
    logs += std::log(all);
    product = one;
    factors = 0;
  };
  for (std::size_t j = 0; j < stride; j += 2 * lanes) {
    auto x = hn::LoadU(d, bias + j), y = hn::LoadU(d, bias + j + lanes);
    for (std::size_t k = 0; k < count; ++k) {
      const double* row = rows + units[k] * stride + j;
      if (values == nullptr) {
        x = hn::Add(x, hn::LoadU(d, row));
        y = hn::Add(y, hn::LoadU(d, row + lanes));
      } else {
        const auto v = hn::Set(d, static_cast<double>(values[k]));
        x = hn::MulAdd(v, hn::LoadU(d, row), x);
        y = hn::MulAdd(v, hn::LoadU(d, row + lanes), y);
      }
    }
    take(x);
    take(y);
    if ((factors += 2) == 96) flush();
  }
  flush();
  return logs + hn::GetLane(hn::SumOfLanes(d, linear));
}

}  // namespace HWY_NAMESPACE
}  // namespace boltzmark
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace boltzmark {
HWY_EXPORT(hidden_terms);

FreeEnergyTable::FreeEnergyTable(const Eigen::MatrixXd& weights,
                                 const Eigen::VectorXd& hidden_bias) {
  constexpr std::size_t kPad = 16;
  constexpr double kOff = -1e9;  // e^-1e9 is 0, so a padding unit adds log(1 + 0)
  simd_path();                   // settles BOLTZMARK_SIMD before the first kernel
  const auto visible = static_cast<std::size_t>(weights.rows());
  const auto hidden = static_cast<std::size_t>(weights.cols());
  stride_ = (hidden + kPad - 1) / kPad * kPad;
  rows_.assign((visible + 1) * stride_, 0.0);
  for (std::size_t j = 0; j < hidden; ++j) {
    for (std::size_t i = 0; i < visible; ++i) rows_[i * stride_ + j] = weights(i, j);
  }
  double* bias = rows_.data() + visible * stride_;
  std::fill(bias, bias + stride_, kOff);
  std::copy(hidden_bias.data(), hidden_bias.data() + hidden, bias);
}

double FreeEnergyTable::hidden_terms(const std::uint32_t* units, std::size_t count,
                                     const float* values) const {
  const double* bias = rows_.data() + rows_.size() - stride_;
  return HWY_DYNAMIC_DISPATCH(hidden_terms)(rows_.data(), bias, stride_, units, count, values);
}

}  // namespace boltzmark
#endif
