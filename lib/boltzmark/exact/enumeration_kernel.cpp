#include "boltzmark/exact/enumeration_kernel.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boltzmark/exact/enumeration_kernel.cpp"
// clang-format off
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace boltzmark {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// How T lays out its exponent, and the exponent below which a scaled term is nothing beside the
/// other one, which is at least 2^-(kTileRange / 2 + 2 kTileSlack).
template <typename T>
struct Format;
template <>
struct Format<double> {
  static constexpr int kMantissaBits = 52, kBias = 1023, kNothing = -560;
};
template <>
struct Format<float> {
  static constexpr int kMantissaBits = 23, kBias = 127, kNothing = -96;
};

/// Makes m 2^e from the mantissa's bits of m; zero where that is nothing.
template <typename T>
T scale_of(std::int64_t mantissa_bits, std::int64_t e) {
  const std::int64_t kept = std::max<std::int64_t>(e, -1000);
  const auto x = std::bit_cast<double>((mantissa_bits & 0xfffffffffffff) | ((kept + 1023) << 52));
  return e < Format<T>::kNothing ? T(0) : static_cast<T>(x);
}

/// Chooses each unit's shift; returns the sum of shift * steps.
template <typename T>
std::int64_t prepare_units(const TileTables<T>& t, const TileWork<T>& w, const double* mantissa,
                           const std::int32_t* high_exponent) {
  std::int64_t total = 0;
  for (int j = 0; j < t.units; ++j) {
    const auto bits = std::bit_cast<std::int64_t>(mantissa[j]);
    const std::int64_t row = t.row_exponent[j];
    const std::int64_t column =
        t.column_exponent[j] + std::int64_t{high_exponent[j]} + (bits >> 52) - 1023;
    const std::int64_t high = std::max(row, column + 1) + kTileSlack;
    const std::int64_t low =
        std::max(row - t.row_range[j], column - t.column_range[j]) - kTileSlack;
    const std::int64_t shift = (high + low) >> 1;
    w.row_scale[j] = scale_of<T>(0, row - shift);
    w.column_scale[j] = scale_of<T>(bits, column - shift);
    w.low[j] = static_cast<std::int32_t>(low - shift);
    w.high[j] = static_cast<std::int32_t>(high - shift + 1);
    total += shift * t.steps[j];
  }
  return total;
}

/// Lists before which units exponents must be taken out; returns how many times, the last included.
template <typename T>
int make_schedule(const TileTables<T>& t, const TileWork<T>& w) {
  constexpr int kRoom = Format<T>::kBias - 3;
  int count = 0, low = 0, high = 1;
  for (int j = 0; j < t.units; ++j) {
    const int s = t.steps[j];
    const int more = s * w.high[j] + (s > 1 ? std::bit_width(static_cast<unsigned>(s)) : 0);
    if (high + more > kRoom || low + s * w.low[j] < -kRoom) {
      w.schedule[count++] = j;
      low = 0;
      high = 1;
    }
    high += more;
    low += s * w.low[j];
  }
  w.schedule[count++] = t.units;
  return count;
}

/// Scales the row table.
template <typename T>
void scale_rows(const TileTables<T>& t, const TileWork<T>& w) {
  const hn::CappedTag<T, kTileRowGroup> d;
  const T* in = t.rows;
  T* out = w.rows;
  for (int g = 0; g < t.row_groups; ++g) {
    for (int j = 0; j < t.units; ++j, in += kTileRowGroup, out += kTileRowGroup) {
      const auto scale = hn::Set(d, w.row_scale[j]);
      for (std::size_t k = 0; k < kTileRowGroup; k += hn::Lanes(d)) {
        hn::Store(hn::Mul(hn::Load(d, in + k), scale), d, out + k);
      }
    }
  }
}

/// Scales the column table, into blocks of two vectors that lie together: [block][units][2 lanes].
template <typename T, class D>
void scale_columns(D d, const TileTables<T>& t, const TileWork<T>& w) {
  const std::size_t lanes = hn::Lanes(d);
  T* out = w.columns;
  for (std::size_t l = 0; l < kTileColumns; l += 2 * lanes) {
    const T* in = t.columns + l;
    for (int j = 0; j < t.units; ++j, in += kTileColumns, out += 2 * lanes) {
      const auto scale = hn::Set(d, w.column_scale[j]);
      hn::Store(hn::Mul(hn::Load(d, in), scale), d, out);
      hn::Store(hn::Mul(hn::Load(d, in + lanes), scale), d, out + lanes);
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
  constexpr int kBits = Format<T>::kMantissaBits;
  const auto bits = hn::BitCast(du, acc);
  auto* sum = reinterpret_cast<U*>(exponent);
  hn::Store(hn::Add(hn::Load(du, sum), hn::ShiftRight<kBits>(bits)), du, sum);
  const auto fraction = hn::And(bits, hn::Set(du, (U(1) << kBits) - 1));
  acc = hn::BitCast(d, hn::Or(fraction, hn::Set(du, U(Format<T>::kBias) << kBits)));
}

/// Computes the products of 4 rows by 2 vectors of columns into mantissa and exponent.
template <typename T, class D>
void multiply_block(D d, const TileTables<T>& t, const TileWork<T>& w, int parts, int group,
                    std::size_t column) {
  using V = hn::Vec<D>;
  const std::size_t lanes = hn::Lanes(d);
  const T* rows = w.rows + static_cast<std::size_t>(group) * t.units * kTileRowGroup;
  const T* columns = w.columns + column * t.units;
  const std::size_t at = static_cast<std::size_t>(group) * kTileRowGroup * kTileColumns + column;
  const std::size_t r0 = at, r1 = at + kTileColumns, r2 = r1 + kTileColumns, r3 = r2 + kTileColumns;
  V a0 = hn::Set(d, T(1)), b0 = a0, a1 = a0, b1 = a0, a2 = a0, b2 = a0, a3 = a0, b3 = a0;
  int j = 0;
  const auto multiply = [&](int end, auto simple) HWY_ATTR {
    for (; j < end; ++j) {
      const T* row = rows + static_cast<std::size_t>(j) * kTileRowGroup;
      const T* y = columns + static_cast<std::size_t>(j) * 2 * lanes;
      const V ya = hn::Load(d, y), yb = hn::Load(d, y + lanes);
      const int steps = decltype(simple)::value ? 1 : t.steps[j];
      const V x0 = hn::Set(d, row[0]);
      multiply_factor(a0, x0, ya, steps);
      multiply_factor(b0, x0, yb, steps);
      const V x1 = hn::Set(d, row[1]);
      multiply_factor(a1, x1, ya, steps);
      multiply_factor(b1, x1, yb, steps);
      const V x2 = hn::Set(d, row[2]);
      multiply_factor(a2, x2, ya, steps);
      multiply_factor(b2, x2, yb, steps);
      const V x3 = hn::Set(d, row[3]);
      multiply_factor(a3, x3, ya, steps);
      multiply_factor(b3, x3, yb, steps);
    }
  };
  for (int p = 0; p < parts; ++p) {
    multiply(std::min(w.schedule[p], t.simple_units), std::true_type());
    multiply(w.schedule[p], std::false_type());
    take_exponent<T>(d, a0, w.exponent + r0);
    take_exponent<T>(d, b0, w.exponent + r0 + lanes);
    take_exponent<T>(d, a1, w.exponent + r1);
    take_exponent<T>(d, b1, w.exponent + r1 + lanes);
    take_exponent<T>(d, a2, w.exponent + r2);
    take_exponent<T>(d, b2, w.exponent + r2 + lanes);
    take_exponent<T>(d, a3, w.exponent + r3);
    take_exponent<T>(d, b3, w.exponent + r3 + lanes);
  }
  hn::Store(a0, d, w.mantissa + r0);
  hn::Store(b0, d, w.mantissa + r0 + lanes);
  hn::Store(a1, d, w.mantissa + r1);
  hn::Store(b1, d, w.mantissa + r1 + lanes);
  hn::Store(a2, d, w.mantissa + r2);
  hn::Store(b2, d, w.mantissa + r2 + lanes);
  hn::Store(a3, d, w.mantissa + r3);
  hn::Store(b3, d, w.mantissa + r3 + lanes);
}

template <class D>
HWY_INLINE hn::Vec<D> load_as(D d, const double* p) {
  return hn::Load(d, p);
}
template <class D>
HWY_INLINE hn::Vec<D> load_as(D d, const float* p) {
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), p));
}
template <class D>
HWY_INLINE hn::Vec<D> load_as(D d, const std::int64_t* p) {
  return hn::Load(d, p);
}
template <class D>
HWY_INLINE hn::Vec<D> load_as(D d, const std::int32_t* p) {
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<std::int32_t, D>(), p));
}

/// Finds the largest exponent of a tile's weights.
template <typename T>
std::int64_t highest_exponent(const TileTables<T>& t, const TileWork<T>& w) {
  const hn::CappedTag<std::int64_t, kTileColumns> d;
  auto highest = hn::Set(d, std::numeric_limits<std::int64_t>::min());
  for (int r = 0; r < t.row_groups * kTileRowGroup; ++r) {
    if (t.row_linear[r].mantissa == 0) continue;
    const auto row = hn::Set(d, t.row_linear[r].exponent);
    for (std::size_t l = 0; l < kTileColumns; l += hn::Lanes(d)) {
      const auto e = load_as(d, w.exponent + static_cast<std::size_t>(r) * kTileColumns + l);
      highest =
          hn::Max(highest, hn::Add(hn::Add(e, row), hn::Load(d, t.column_linear_exponent + l)));
    }
  }
  HWY_ALIGN std::int64_t lanes[kTileColumns];
  hn::Store(highest, d, lanes);
  return *std::max_element(lanes, lanes + hn::Lanes(d));
}

/// Sums a tile's weights times 2^-highest, in double; 2^-1000 of the largest counts as least.
template <typename T>
double sum_weights(const TileTables<T>& t, const TileWork<T>& w, std::int64_t highest) {
  const hn::CappedTag<double, kTileColumns> d;
  const hn::CappedTag<std::int64_t, kTileColumns> di;
  double total = 0;
  for (int r = 0; r < t.row_groups * kTileRowGroup; ++r) {
    if (t.row_linear[r].mantissa == 0) continue;
    auto sum = hn::Zero(d);
    const auto row = hn::Set(di, t.row_linear[r].exponent - highest);
    for (std::size_t l = 0; l < kTileColumns; l += hn::Lanes(d)) {
      const std::size_t at = static_cast<std::size_t>(r) * kTileColumns + l;
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
Scaled sum_tile_of(const TileTables<T>& t, const TileWork<T>& w, const double* high_mantissa,
                   const std::int32_t* high_exponent) {
  const std::int64_t shifts = prepare_units(t, w, high_mantissa, high_exponent);
  const int parts = make_schedule(t, w);
  const std::size_t states = static_cast<std::size_t>(t.row_groups) * kTileRowGroup * kTileColumns;
  std::fill(w.exponent, w.exponent + states, ExponentOf<T>{0});
  const hn::CappedTag<T, kTileColumns / 2> d;
  scale_rows(t, w);
  scale_columns(d, t, w);
  for (int group = 0; group < t.row_groups; ++group) {
    for (std::size_t l = 0; l < kTileColumns; l += 2 * hn::Lanes(d)) {
      multiply_block(d, t, w, parts, group, l);
    }
  }
  const std::int64_t highest = highest_exponent(t, w);
  return {sum_weights(t, w, highest),
          highest + shifts - static_cast<std::int64_t>(parts) * Format<T>::kBias};
}

Scaled sum_tile_double(const TileTables<double>& t, const TileWork<double>& w, const double* m,
                       const std::int32_t* e) {
  return sum_tile_of(t, w, m, e);
}
Scaled sum_tile_float(const TileTables<float>& t, const TileWork<float>& w, const double* m,
                      const std::int32_t* e) {
  return sum_tile_of(t, w, m, e);
}

}  // namespace HWY_NAMESPACE
}  // namespace boltzmark
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace boltzmark {
HWY_EXPORT(sum_tile_double);
HWY_EXPORT(sum_tile_float);

Scaled sum_tile(const TileTables<double>& tables, const TileWork<double>& work,
                const double* high_mantissa, const std::int32_t* high_exponent) {
  return HWY_DYNAMIC_DISPATCH(sum_tile_double)(tables, work, high_mantissa, high_exponent);
}
Scaled sum_tile(const TileTables<float>& tables, const TileWork<float>& work,
                const double* high_mantissa, const std::int32_t* high_exponent) {
  return HWY_DYNAMIC_DISPATCH(sum_tile_float)(tables, work, high_mantissa, high_exponent);
}
}  // namespace boltzmark
#endif
