#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace boltzmark {

/// A positive number mantissa * 2^exponent that can neither overflow nor underflow.
struct Scaled {
  double mantissa = 0;
  std::int64_t exponent = 0;
};

inline Scaled product(const Scaled& a, const Scaled& b) {
  return {a.mantissa * b.mantissa, a.exponent + b.exponent};
}

/// Computes e^x for any finite x.
///   Accuracy  relative error at most 3 u, u = 2^-53, for |x| < 2^50: the argument is reduced by
///   ln 2 in two parts with fused products (0.7 u), and exp is good to one ulp (2 u)
///   Invariant  the mantissa is between 0.7 and 1.42
inline Scaled exp_scaled(double x) {
  constexpr double kLn2High = 0x1.62e42fefa39efp-1;
  constexpr double kLn2Low = 0x1.abc9e3b39803fp-56;
  const double e = std::nearbyint(x * 0x1.71547652b82fep+0);
  const double r = std::fma(-e, kLn2Low, std::fma(-e, kLn2High, x));
  return {std::exp(r), static_cast<std::int64_t>(e)};
}

/// Computes each e^x = mantissa * 2^exponent, mantissa in [0.7, 1.42], for |x| <= 2^23.
///   Accuracy  relative error at most 3 u: the argument is reduced by ln 2 in two parts of 29 and
///   53 bits, whose products are exact or off by less than 2^-58, and Exp is good to one ulp
void exp_scaled(const double* x, int count, double* mantissa, std::int32_t* exponent);

/// Sums positive numbers of any magnitude; only the additions round, so the relative error is at
/// most (number of additions) u.
class ScaledSum {
 public:
  ScaledSum() = default;
  /// Restores a sum from what value() gave.
  explicit ScaledSum(Scaled value) : value_(value) {}

  /// Adds a number; zero mantissas count for nothing.
  void add(Scaled term) {
    if (term.mantissa == 0) return;
    if (value_.mantissa == 0) {
      value_ = term;
    } else if (term.exponent > value_.exponent) {
      value_ = {term.mantissa + shifted(value_.mantissa, value_.exponent - term.exponent),
                term.exponent};
    } else {
      value_.mantissa += shifted(term.mantissa, term.exponent - value_.exponent);
    }
    if (value_.mantissa > 0x1p60) value_ = {value_.mantissa * 0x1p-60, value_.exponent + 60};
  }
  void add(const ScaledSum& other) { add(other.value_); }

  Scaled value() const { return value_; }
  /// Returns the log of the sum; minus infinity while nothing was added.
  double log() const {
    return std::log(value_.mantissa) + static_cast<double>(value_.exponent) * 0x1.62e42fefa39efp-1;
  }
  /// Bounds the rounding of log() itself: its own ulp, the product exponent * ln 2 and ln 2's
  /// rounding, their sum.
  double log_error() const {
    const double scale = std::abs(static_cast<double>(value_.exponent)) * 0.7;
    return std::numeric_limits<double>::epsilon() / 2 * (50 + 2 * scale + std::abs(log()));
  }

 private:
  /// Multiplies by 2^exponent, exponent <= 0. What falls below 2^-2000 of the sum is dropped.
  static double shifted(double x, std::int64_t exponent) {
    return exponent < -2000 ? 0.0 : std::ldexp(x, static_cast<int>(exponent));
  }
  Scaled value_;
};

}  // namespace boltzmark
