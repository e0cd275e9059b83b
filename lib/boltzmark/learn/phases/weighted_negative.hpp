#pragma once

#include <span>

#include "boltzmark/model/layered.hpp"
#include "boltzmark/transition/chains.hpp"
#include "boltzmark/transition/sweep.hpp"

namespace boltzmark {

/// Subtracts the negative phase of a gradient, estimated from weighted samples.
///   sum -= sum_i q(b_K | x_i) g_i / sum_i q(b_K | x_i),  g_i = (v_i p(h|v_i)', v_i, p(h|v_i))
///                                                                     [carlson2016, Sec. 2.1, 4.4]
/// Every sample counts, whatever rung it came from; other samplers give equal weights. Replaces the
/// states of odd layers by their means given the even ones, which the gradient is of as well.
/// Shapes  weights [chains], q(b_K | x_i) up to a common factor, or empty for 1 each
/// Throws  InvalidArgument if shapes differ, a weight is negative or not finite, or all are 0
void subtract_weighted_negative(const PackedModel& model, std::span<const double> weights,
                                Chains& chains, Parameters& sum);

}  // namespace boltzmark
