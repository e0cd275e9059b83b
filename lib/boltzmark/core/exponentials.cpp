#include "boltzmark/core/exponentials.hpp"

#include <algorithm>
#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boltzmark/core/exponentials.cpp"
#include <hwy/foreach_target.h>
// Highway wants its own headers after foreach_target.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace boltzmark::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void exponentiate(double* HWY_RESTRICT values, std::size_t count, double shift) {
  constexpr std::size_t kMostLanes = 8;
  const hn::CappedTag<double, kMostLanes> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto place = [&](double* at) HWY_ATTR {
    hn::StoreU(hn::Exp(d, hn::Sub(hn::LoadU(d, at), hn::Set(d, shift))), d, at);
  };
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) place(values + i);
  double rest[kMostLanes] = {};
  std::copy(values + i, values + count, rest);
  place(rest);
  std::copy(rest, rest + (count - i), values + i);
}

}  // namespace boltzmark::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace boltzmark {
HWY_EXPORT(exponentiate);

void exponentiate(std::span<double> values, double shift) {
  HWY_DYNAMIC_DISPATCH(exponentiate)(values.data(), values.size(), shift);
}

}  // namespace boltzmark
#endif
