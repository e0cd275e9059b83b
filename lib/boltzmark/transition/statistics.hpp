#pragma once

#include <span>

#include "boltzmark/model/layered.hpp"
#include "boltzmark/transition/chains.hpp"

namespace boltzmark {

/// Adds rate * sum_c w_c (x_l x_{l+1}', x_l) over the chains to the weights and biases of `sum`.
/// Shapes    chain_weights [chains], or empty for 1 each
/// Accuracy  products are summed in chain order in float32 over runs of 256 chains, then in double
/// Invariant the same bytes on every SIMD path when states and weights make the products exact
/// Throws    InvalidArgument if shapes differ
void add_statistics(const Chains& chains, std::span<const float> chain_weights, double rate,
                    Parameters& sum);

}  // namespace boltzmark
