#pragma once

#include <cstdint>
#include <span>

namespace boltzmark {

// Steps between neighbours on a ladder of inverse temperatures, given x, that leave
//   pi(x, k) ~ f(x)^{b_k} / g_k,  f = exp(-E)                [salakhutdinov2010, Eq. 10, Alg. 1.4]
// unchanged. Rungs ascend here: the last one, b = 1, is the paper's k = 1.

/// Returns q(to | from): 1/2 for either neighbour, 1 for the only one of an end, else 0.
double proposal_probability(int rungs, int from, int to);

/// Returns the rung that a uniform draw proposes: the upper neighbour if the draw's first bit is 1.
int proposed_rung(int rungs, int from, std::uint32_t draw);

/// Computes the probability of accepting a proposed rung.
///   min(1, f(x)^{b_to} q(from | to) g_from / (f(x)^{b_from} q(to | from) g_to))
/// Shapes  inverse_temperatures, log_g [rungs]; log_f = -E(x)
double rung_step_probability(std::span<const float> inverse_temperatures,
                             std::span<const double> log_g, double log_f, int from, int to);

}  // namespace boltzmark
