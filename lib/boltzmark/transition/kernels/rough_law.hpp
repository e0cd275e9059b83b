#pragma once

#include <array>

#include "boltzmark/transition/rule.hpp"

namespace boltzmark {

/// How likely the less likely state of a unit of two values is next, as a parabola of the size t of
/// its log odds in each of 32 intervals of [0, 8): rough, but good enough for most draws.
///   q(t) ~ constant + linear t + square t^2, in interval floor(4 t); the last one is constant and
///   serves t >= 8 too
/// Accuracy  within kRoughError of the law for every t >= 0; ties of flip-the-state excepted
struct RoughLaw {
  static constexpr int kIntervals = 32;
  static constexpr float kPerUnit = 4;  ///< intervals per unit of t
  alignas(64) std::array<float, kIntervals> constant{}, linear{}, square{};
};
inline constexpr float kRoughError = 0x1p-11F;

/// Returns the rough law of Gibbs sampling: e^-t / (1 + e^-t), whatever the state now.
const RoughLaw& rough_gibbs();
/// Returns that of flips, by flip-the-state and Metropolis, from the likelier state: e^-t.
const RoughLaw& rough_flip();

}  // namespace boltzmark
