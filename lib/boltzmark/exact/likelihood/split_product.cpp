#include "boltzmark/exact/likelihood/split_product.hpp"

#include <algorithm>
#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boltzmark/exact/likelihood/split_product.cpp"
// clang-format off
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// clang-format on

#include "boltzmark/core/simd.hpp"

HWY_BEFORE_NAMESPACE();
namespace boltzmark {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int kCachedColumns = 256;  // 32 KiB of w, which stays in cache while the rows pass

void split_product(const double* c, int row_groups, int columns, const double* u, const double* w,
                   double* out) {
  const hn::CappedTag<double, kSplitCases / 2> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  for (int k = 0; k < kSplitCases; k += 2 * lanes) {
    auto total0 = hn::Zero(d), total1 = hn::Zero(d);
    for (int first = 0; first < columns; first += kCachedColumns) {
      const int end = std::min(first + kCachedColumns, columns);
      for (int group = 0; group < row_groups; ++group) {
        const double* entry = c + static_cast<std::ptrdiff_t>(group) * columns * kSplitRows;
        auto a0 = hn::Zero(d), a1 = a0, b0 = a0, b1 = a0, c0 = a0, c1 = a0, e0 = a0, e1 = a0;
        for (int column = first; column < end; ++column) {
          const double* x = entry + column * kSplitRows;
          const auto w0 = hn::Load(d, w + column * kSplitCases + k);
          const auto w1 = hn::Load(d, w + column * kSplitCases + k + lanes);
          const auto x0 = hn::Set(d, x[0]), x1 = hn::Set(d, x[1]);
          const auto x2 = hn::Set(d, x[2]), x3 = hn::Set(d, x[3]);
          a0 = hn::MulAdd(x0, w0, a0);
          a1 = hn::MulAdd(x0, w1, a1);
          b0 = hn::MulAdd(x1, w0, b0);
          b1 = hn::MulAdd(x1, w1, b1);
          c0 = hn::MulAdd(x2, w0, c0);
          c1 = hn::MulAdd(x2, w1, c1);
          e0 = hn::MulAdd(x3, w0, e0);
          e1 = hn::MulAdd(x3, w1, e1);
        }
        const auto take = [&](int row, auto sum0, auto sum1) HWY_ATTR {
          const double* at = u + (group * kSplitRows + row) * kSplitCases + k;
          total0 = hn::MulAdd(hn::Load(d, at), sum0, total0);
          total1 = hn::MulAdd(hn::Load(d, at + lanes), sum1, total1);
        };
        take(0, a0, a1);
        take(1, b0, b1);
        take(2, c0, c1);
        take(3, e0, e1);
      }
    }
    hn::Store(total0, d, out + k);
    hn::Store(total1, d, out + k + lanes);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace boltzmark
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace boltzmark {
HWY_EXPORT(split_product);

void split_product(const double* c, int row_groups, int columns, const double* u, const double* w,
                   double* out) {
  simd_path();  // settles BOLTZMARK_SIMD before the first kernel
  HWY_DYNAMIC_DISPATCH(split_product)(c, row_groups, columns, u, w, out);
}

}  // namespace boltzmark
#endif
