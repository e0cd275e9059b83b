#include <algorithm>
#include <bit>
#include <type_traits>

#include "boltzmark/exact/enumeration/kernel.hpp"

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

}  // namespace boltzmark
