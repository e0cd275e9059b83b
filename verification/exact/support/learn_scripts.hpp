#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "boltzmark/model/layered.hpp"
#include "boltzmark/random/draws.hpp"
#include "oracle/learn_enumeration.hpp"

// Scripted draws for tests of trainers and ladders.
namespace scripts {

/// Takes each draw from a function of (layer, unit, chain, sweep).
class FunctionDraws final : public boltzmark::Draws {
 public:
  using Function =
      std::function<std::uint32_t(std::uint32_t, std::uint32_t, std::uint32_t, std::uint64_t)>;
  explicit FunctionDraws(Function function) : function_(std::move(function)) {}
  void fill(std::uint32_t* out, const boltzmark::DrawRange& range) const override {
    for (std::uint32_t u = 0; u < range.units; ++u)
      for (std::uint32_t c = 0; c < range.chains; ++c)
        *out++ = function_(range.layer, range.first_unit + u, range.first_chain + c, range.sweep);
  }

 private:
  Function function_;
};

/// The middle of interval `digit` when the range of a draw is cut into `base` equal ones. If every
/// probability is a multiple of 1/base, running each decision over all digits weighs its outcomes
/// exactly: thresholds lie at the ends of intervals, far (2^31 / base) from every middle.
inline std::uint32_t middle(std::uint64_t digit, std::uint64_t base) {
  return static_cast<std::uint32_t>(((2 * digit + 1) << 31) / base);
}

/// Digit number `place` of `path` in a base.
inline std::uint64_t digit(std::uint64_t path, std::uint64_t base, std::uint64_t place) {
  for (; place > 0; --place) path /= base;
  return path % base;
}

inline std::uint64_t power(std::uint64_t base, std::uint64_t exponent) {
  std::uint64_t result = 1;
  for (; exponent > 0; --exponent) result *= base;
  return result;
}

/// Numbers the decisions of sweeps of a 2-layer model in the order in which they are made.
inline std::uint64_t decision(const oracle::SmallRbm& rbm, std::uint32_t layer, std::uint32_t unit,
                              std::uint64_t sweep) {
  return sweep * rbm.units() + (layer == 1 ? unit : rbm.hidden() + unit);
}

inline boltzmark::Layered production(const oracle::SmallRbm& rbm) {
  return boltzmark::Layered::rbm(rbm.weights, rbm.visible_bias, rbm.hidden_bias);
}

}  // namespace scripts
