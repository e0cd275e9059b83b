#include "boltzmark/exact/enumeration/kernel.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boltzmark/exact/enumeration/kernel.cpp"
// clang-format off
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// clang-format on

#include "boltzmark/core/simd.hpp"

HWY_BEFORE_NAMESPACE();
namespace boltzmark {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <typename T>
void scale_rows_of(const PlaneTables<T>& t, const PlaneWork<T>& w) {
  const hn::CappedTag<T, kPlaneRowGroup> d;
  const T* in = t.rows;
  T* out = w.rows;
  for (int g = 0; g < t.row_groups; ++g) {
    for (int j = 0; j < t.units; ++j, in += kPlaneRowGroup, out += kPlaneRowGroup) {
      const auto scale = hn::Set(d, w.row_scale[j]);
      for (std::size_t k = 0; k < kPlaneRowGroup; k += hn::Lanes(d)) {
        hn::Store(hn::Mul(hn::Load(d, in + k), scale), d, out + k);
      }
    }
  }
}

/// Units that are multiplied before the next.
struct UnitBlock {
  int first, size;
  bool take_exponents;  ///< after the last one
};

/// Scales a block of the column table.  Shapes  out [2 lanes of columns][block][2 lanes]
template <typename T, class D>
void scale_columns(D d, const PlaneTables<T>& t, const PlaneWork<T>& w, const double* middle,
                   UnitBlock block) {
  const std::size_t lanes = hn::Lanes(d);
  T* out = w.columns;
  for (std::size_t l = 0; l < kPlaneColumns; l += 2 * lanes) {
    const T* in = t.columns + static_cast<std::size_t>(block.first) * kPlaneColumns + l;
    for (int j = block.first; j < block.first + block.size; ++j) {
      const auto scale = hn::Set(d, static_cast<T>(w.column_scale[j] * middle[j]));
      hn::Store(hn::Mul(hn::Load(d, in), scale), d, out);
      hn::Store(hn::Mul(hn::Load(d, in + lanes), scale), d, out + lanes);
      in += kPlaneColumns;
      out += 2 * lanes;
    }
  }
}

/// Multiplies R^s + R^(s-1) C + ... + C^s into an accumulator.
template <class V>
HWY_INLINE void multiply_factor(V& acc, V row, V column, int steps) {
  V factor = hn::Add(row, column);
  V power = row;
  for (int k = 1; k < steps; ++k) {
    power = hn::Mul(power, row);
    factor = hn::MulAdd(factor, column, power);
  }
  acc = hn::Mul(acc, factor);
}

/// Moves the exponent of an accumulator, bias included, to memory.
template <typename T, class D, class V>
HWY_INLINE void take_exponent(D d, V& acc, ExponentOf<T>* exponent) {
  const hn::RebindToUnsigned<D> du;
  using U = hn::TFromD<decltype(du)>;
  constexpr int kBits = PlaneFormat<T>::kMantissaBits;
  const auto bits = hn::BitCast(du, acc);
  auto* sum = reinterpret_cast<U*>(exponent);
  hn::Store(hn::Add(hn::Load(du, sum), hn::ShiftRight<kBits>(bits)), du, sum);
  const auto fraction = hn::And(bits, hn::Set(du, (U(1) << kBits) - 1));
  acc = hn::BitCast(d, hn::Or(fraction, hn::Set(du, U(PlaneFormat<T>::kBias) << kBits)));
}

/// Rows whose products are kept in registers, two vectors of each.
constexpr int kBlockRows = HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4 ? 4 : kPlaneRowGroup;

/// Multiplies a block's factors into the products of kBlockRows rows by 2 vectors of columns.
template <typename T, class D>
void multiply_block(D d, const PlaneTables<T>& t, const PlaneWork<T>& w, UnitBlock block, int row,
                    std::size_t column) {
  using V = hn::Vec<D>;
  const std::size_t lanes = hn::Lanes(d);
  const auto group = static_cast<std::size_t>(row) / kPlaneRowGroup * kPlaneRowGroup;
  const T* x = w.rows + group * t.units + block.first * kPlaneRowGroup + row % kPlaneRowGroup;
  const T* y = w.columns + column * block.size;
  const std::size_t at = static_cast<std::size_t>(row) * kPlaneColumns + column;
  V acc[kBlockRows][2];
  for (int r = 0; r < kBlockRows; ++r) {
    acc[r][0] = hn::Load(d, w.mantissa + at + r * kPlaneColumns);
    acc[r][1] = hn::Load(d, w.mantissa + at + r * kPlaneColumns + lanes);
  }
  int j = block.first;
  const auto multiply = [&](int end, auto simple) HWY_ATTR {
    for (; j < end; ++j, x += kPlaneRowGroup, y += 2 * lanes) {
      const V y0 = hn::Load(d, y), y1 = hn::Load(d, y + lanes);
      const int steps = decltype(simple)::value ? 1 : t.steps[j];
      HWY_UNROLL(kBlockRows)
      for (int r = 0; r < kBlockRows; ++r) {
        const V xr = hn::Set(d, x[r]);
        multiply_factor(acc[r][0], xr, y0, steps);
        multiply_factor(acc[r][1], xr, y1, steps);
      }
    }
  };
  const int end = block.first + block.size;
  multiply(std::min(end, t.simple_units), std::true_type());
  multiply(end, std::false_type());
  for (int r = 0; r < kBlockRows; ++r) {
    const std::size_t left = at + r * kPlaneColumns, right = left + lanes;
    if (block.take_exponents) {
      take_exponent<T>(d, acc[r][0], w.exponent + left);
      take_exponent<T>(d, acc[r][1], w.exponent + right);
    }
    hn::Store(acc[r][0], d, w.mantissa + left);
    hn::Store(acc[r][1], d, w.mantissa + right);
  }
}

/// Computes the products of a plane's states into mantissa and exponent.
template <typename T, class D>
void multiply_plane(D d, const PlaneTables<T>& t, const PlaneWork<T>& w, const double* middle,
                    int parts) {
  const int rows = t.row_groups * kPlaneRowGroup;
  const std::size_t states = static_cast<std::size_t>(rows) * kPlaneColumns;
  std::fill(w.exponent, w.exponent + states, ExponentOf<T>{0});
  std::fill(w.mantissa, w.mantissa + states, T(1));
  for (int p = 0, first = 0; p < parts; ++p)
    for (int end = w.schedule[p], size = 0; first < end; first += size) {
      size = std::min(end - first, kPlaneBlock);
      const UnitBlock block{first, size, first + size == end};
      scale_columns(d, t, w, middle, block);
      for (int row = 0; row < rows; row += kBlockRows)
        for (std::size_t l = 0; l < kPlaneColumns; l += 2 * hn::Lanes(d))
          multiply_block(d, t, w, block, row, l);
    }
}

/// Loads numbers as those of a vector, which are as wide or twice as wide.
template <class D, class P>
HWY_INLINE hn::Vec<D> load_as(D d, const P* p) {
  if constexpr (std::is_same_v<P, hn::TFromD<D>>) {
    return hn::Load(d, p);
  } else {
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<P, D>(), p));
  }
}

/// Finds the largest exponent of a plane's weights.
template <typename T>
std::int64_t highest_exponent(const PlaneTables<T>& t, const PlaneWork<T>& w) {
  const hn::CappedTag<std::int64_t, kPlaneColumns> d;
  auto highest = hn::Set(d, std::numeric_limits<std::int64_t>::min());
  for (int r = 0; r < t.row_groups * kPlaneRowGroup; ++r) {
    if (t.row_linear[r].mantissa == 0) continue;
    const auto row = hn::Set(d, t.row_linear[r].exponent);
    for (std::size_t l = 0; l < kPlaneColumns; l += hn::Lanes(d)) {
      const auto e = load_as(d, w.exponent + static_cast<std::size_t>(r) * kPlaneColumns + l);
      highest =
          hn::Max(highest, hn::Add(hn::Add(e, row), hn::Load(d, t.column_linear_exponent + l)));
    }
  }
  HWY_ALIGN std::int64_t lanes[kPlaneColumns];
  hn::Store(highest, d, lanes);
  return *std::max_element(lanes, lanes + hn::Lanes(d));
}

/// Sums a plane's weights times 2^-highest, in double; 2^-1000 of the largest counts as least.
template <typename T>
double sum_weights(const PlaneTables<T>& t, const PlaneWork<T>& w, std::int64_t highest) {
  const hn::CappedTag<double, kPlaneColumns> d;
  const hn::CappedTag<std::int64_t, kPlaneColumns> di;
  double total = 0;
  for (int r = 0; r < t.row_groups * kPlaneRowGroup; ++r) {
    if (t.row_linear[r].mantissa == 0) continue;
    auto sum = hn::Zero(d);
    const auto row = hn::Set(di, t.row_linear[r].exponent - highest);
    for (std::size_t l = 0; l < kPlaneColumns; l += hn::Lanes(d)) {
      const std::size_t at = static_cast<std::size_t>(r) * kPlaneColumns + l;
      auto e = hn::Add(load_as(di, w.exponent + at),
                       hn::Add(row, hn::Load(di, t.column_linear_exponent + l)));
      e = hn::Add(hn::Max(e, hn::Set(di, std::int64_t{-1000})), hn::Set(di, std::int64_t{1023}));
      const auto weight = hn::Mul(load_as(d, w.mantissa + at), hn::Load(d, t.column_mantissa + l));
      sum = hn::MulAdd(weight, hn::BitCast(d, hn::ShiftLeft<52>(e)), sum);
    }
    total += t.row_linear[r].mantissa * hn::GetLane(hn::SumOfLanes(d, sum));
  }
  return total;
}

template <typename T>
Scaled sum_plane_of(const PlaneTables<T>& t, const PlaneWork<T>& w, const Slab& slab,
                    const double* middle) {
  const hn::CappedTag<T, kPlaneColumns / 2> wide;
  const hn::CappedTag<T, 32 / sizeof(T)> narrow;
  if (HWY_TARGET != HWY_AVX3 || halves_wide_vectors()) {
    multiply_plane(narrow, t, w, middle, slab.parts);
  } else {
    multiply_plane(wide, t, w, middle, slab.parts);
  }
  const std::int64_t highest = highest_exponent(t, w);
  return {sum_weights(t, w, highest), highest + slab.exponent};
}

void scale_rows_double(const PlaneTables<double>& t, const PlaneWork<double>& w) {
  scale_rows_of(t, w);
}
void scale_rows_float(const PlaneTables<float>& t, const PlaneWork<float>& w) {
  scale_rows_of(t, w);
}
Scaled sum_plane_double(const PlaneTables<double>& t, const PlaneWork<double>& w, const Slab& slab,
                        const double* middle) {
  return sum_plane_of(t, w, slab, middle);
}
Scaled sum_plane_float(const PlaneTables<float>& t, const PlaneWork<float>& w, const Slab& slab,
                       const double* middle) {
  return sum_plane_of(t, w, slab, middle);
}

}  // namespace HWY_NAMESPACE
}  // namespace boltzmark
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace boltzmark {
namespace {

/// Returns the exponent e of a normal positive double: it is in [2^e, 2^(e + 1)).
std::int64_t exponent_of(double x) { return (std::bit_cast<std::int64_t>(x) >> 52) - 1023; }

// The exponent below which a scaled term is nothing beside the other one: a factor is at least
// 2^(-(kPlaneRange + 9) / 2), and what is dropped is below 2^-55 (float) or 2^-115 of it.
template <typename T>
constexpr int kNothing = std::is_same_v<T, double> ? -560 : -96;

/// Makes 2^e times a double's mantissa in [1, 2); zero where that is nothing to T.
template <typename T>
double scale_of(double mantissa, std::int64_t e) {
  const std::int64_t kept = std::max<std::int64_t>(e, -1000);
  const std::int64_t bits = std::bit_cast<std::int64_t>(mantissa) & 0xfffffffffffff;
  return e < kNothing<T> ? 0.0 : std::bit_cast<double>(bits | ((kept + 1023) << 52));
}

/// Chooses each unit's shift, the middle of the exponents that R + C takes in the slab; returns
/// the sum of shift * steps.
template <typename T>
std::int64_t choose_shifts(const PlaneTables<T>& t, const PlaneWork<T>& w, const double* mantissa,
                           const std::int32_t* high_exponent) {
  std::int64_t total = 0;
  for (int j = 0; j < t.units; ++j) {
    const std::int64_t row = t.row_exponent[j];
    const std::int64_t column =
        t.column_exponent[j] + std::int64_t{high_exponent[j]} + exponent_of(mantissa[j]);
    const std::int64_t base = std::max(row, column);
    const double r = scale_of<double>(1, row - base);
    const double c = scale_of<double>(mantissa[j], column - base);
    const std::int64_t high = base + exponent_of(r * t.row_most[j] + c * t.column_most[j]) + 1;
    const std::int64_t low = base + exponent_of(r * t.row_least[j] + c * t.column_least[j]);
    const std::int64_t shift = (high + low) >> 1;
    w.row_scale[j] = static_cast<T>(scale_of<T>(1, row - shift));
    w.column_scale[j] = scale_of<T>(mantissa[j], column - shift);
    w.low[j] = static_cast<std::int32_t>(low - shift);
    w.high[j] = static_cast<std::int32_t>(high - shift);
    total += shift * t.steps[j];
  }
  return total;
}

/// Lists before which units exponents must be taken out; returns how many times, the last included.
///   R^s + ... + C^s is at most (R + C)^s, and at least ((R + C) / 2)^s where s > 1; no unit alone
///   fills the room
template <typename T>
int make_schedule(const PlaneTables<T>& t, const PlaneWork<T>& w) {
  constexpr int kRoom = PlaneFormat<T>::kBias - 3;
  int count = 0, low = 0, high = 1;
  for (int j = 0; j < t.units; ++j) {
    const int s = t.steps[j];
    const int most = s * w.high[j], least = s * (w.low[j] - (s > 1 ? 1 : 0));
    if (high + most > kRoom || low + least < -kRoom) {
      w.schedule[count++] = j;
      low = 0;
      high = 1;
    }
    high += most;
    low += least;
  }
  w.schedule[count++] = t.units;
  return count;
}

}  // namespace

template <typename T>
Slab plan_slab(const PlaneTables<T>& tables, const PlaneWork<T>& work, const double* high_mantissa,
               const std::int32_t* high_exponent) {
  const std::int64_t shifts = choose_shifts(tables, work, high_mantissa, high_exponent);
  const int parts = make_schedule(tables, work);
  return {shifts - static_cast<std::int64_t>(parts) * PlaneFormat<T>::kBias, parts};
}

template Slab plan_slab(const PlaneTables<double>&, const PlaneWork<double>&, const double*,
                        const std::int32_t*);
template Slab plan_slab(const PlaneTables<float>&, const PlaneWork<float>&, const double*,
                        const std::int32_t*);

HWY_EXPORT(scale_rows_double);
HWY_EXPORT(scale_rows_float);
HWY_EXPORT(sum_plane_double);
HWY_EXPORT(sum_plane_float);

void scale_rows(const PlaneTables<double>& tables, const PlaneWork<double>& work) {
  HWY_DYNAMIC_DISPATCH(scale_rows_double)(tables, work);
}
void scale_rows(const PlaneTables<float>& tables, const PlaneWork<float>& work) {
  HWY_DYNAMIC_DISPATCH(scale_rows_float)(tables, work);
}

Scaled sum_plane(const PlaneTables<double>& tables, const PlaneWork<double>& work, const Slab& slab,
                 const double* middle) {
  return HWY_DYNAMIC_DISPATCH(sum_plane_double)(tables, work, slab, middle);
}
Scaled sum_plane(const PlaneTables<float>& tables, const PlaneWork<float>& work, const Slab& slab,
                 const double* middle) {
  return HWY_DYNAMIC_DISPATCH(sum_plane_float)(tables, work, slab, middle);
}
}  // namespace boltzmark
#endif
