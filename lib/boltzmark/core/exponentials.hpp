#pragma once

#include <span>

namespace boltzmark {

/// Replaces each value by e^(value - shift).
/// Accuracy  1 unit in the last place; 0 below -708 or so
/// Invariant each result depends on its own value alone
void exponentiate(std::span<double> values, double shift);

}  // namespace boltzmark
