#include "boltzmark/exact/enumeration/scaled.hpp"

#include <algorithm>
#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boltzmark/exact/enumeration/scaled.cpp"
// clang-format off
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "hwy/contrib/math/math-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace boltzmark {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void exp_scaled_array(const double* x, int count, double* mantissa, std::int32_t* exponent) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<std::int32_t, decltype(d)> d32;
  constexpr double kLn2High = 0x1.62e42fep-1, kLn2Low = 0xf.a39ef35793c7673p-33;
  const std::size_t lanes = hn::Lanes(d);
  HWY_ALIGN double in[HWY_MAX_BYTES / sizeof(double)] = {}, out[HWY_MAX_BYTES / sizeof(double)];
  HWY_ALIGN std::int32_t whole[HWY_MAX_BYTES / sizeof(double)];
  for (std::size_t k = 0, n = static_cast<std::size_t>(count); k < n; k += lanes) {
    const std::size_t some = std::min(lanes, n - k);
    std::copy(x + k, x + k + some, in);
    const auto v = hn::Load(d, in);
    const auto e = hn::Round(hn::Mul(v, hn::Set(d, 0x1.71547652b82fep+0)));
    auto r = hn::NegMulAdd(e, hn::Set(d, kLn2High), v);
    r = hn::NegMulAdd(e, hn::Set(d, kLn2Low), r);
    hn::Store(hn::Exp(d, r), d, out);
    hn::Store(hn::DemoteTo(d32, e), d32, whole);
    std::copy(out, out + some, mantissa + k);
    std::copy(whole, whole + some, exponent + k);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace boltzmark
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace boltzmark {
HWY_EXPORT(exp_scaled_array);

void exp_scaled(const double* x, int count, double* mantissa, std::int32_t* exponent) {
  HWY_DYNAMIC_DISPATCH(exp_scaled_array)(x, count, mantissa, exponent);
}
}  // namespace boltzmark
#endif
