#pragma once

#include "verification/checks/check_cases.hpp"
#include "verification/checks/subjects.hpp"

namespace boltzmark {

/// Computes F(x), the probability that a continuous unit is at most x in [-1, 1].
///   F(x) = (e^{input x} - e^{-input}) / (2 sinh input)                      [yokoyama2019, Sec. 2]
/// Accuracy  8 eps
double continuous_cdf(double input, double x);

/// Computes F^-1(probability), probability in [0, 1].                        [yokoyama2019, Sec. 2]
/// Accuracy  |F(F^-1(p)) - p| <= 1e-12 for |input| <= 700
double continuous_quantile(double input, double probability);

// What check_units.cpp checks of the functions of a single unit [yokoyama2019]: each draws one case
// and returns how far it is off.

/// ln phi_s against its sum over X(s), in ulp; phi is even and phi(0) = 2.
CaseOutcome phi_is_the_sum(Stream& stream);
/// ln phi of the largest s against that of the continuous unit.
CaseOutcome phi_becomes_continuous(Stream& stream);
/// psi against the slope of ln phi and the mean over the values.
CaseOutcome psi_is_the_slope(Stream& stream);
/// F(F^-1(u)) against u for the continuous unit, and F of what a half sweep draws against its u, in
/// 1e-12 of what roundings may do there.
CaseOutcome inverse_transform(Stream& stream, const HalfSweep& move);

}  // namespace boltzmark
