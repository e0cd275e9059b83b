#pragma once

namespace boltzmark {

/// Computes Phi^-1(p), the quantile of the standard normal law, p in (0, 1).
/// Accuracy  a few ulp of the quantile for p <= 1/2; beyond, what 1 - p leaves of it: who knows that
/// probability takes -normal_quantile of it
double normal_quantile(double probability);

}  // namespace boltzmark
