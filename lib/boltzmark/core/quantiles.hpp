#pragma once

namespace boltzmark {

/// Compute quantiles by Boost's distributions, whose templates take long to compile: here, once.
/// Throws  std::domain_error if freedom is not positive or probability is outside [0, 1]
double students_t_quantile(double freedom, double probability);
double chi_squared_quantile(double freedom, double probability);
/// Throws  also if a or b is not positive
double beta_quantile(double a, double b, double probability);

/// Computes Phi^-1(p), the quantile of the standard normal law, p in (0, 1).
/// Accuracy  a few ulp of the quantile for p <= 1/2; beyond, what 1 - p leaves of it: who knows that
/// probability takes -normal_quantile of it
double normal_quantile(double probability);

}  // namespace boltzmark
