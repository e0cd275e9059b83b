#pragma once

#include "boltzmark/model/unit.hpp"
#include "boltzmark/transition/chains.hpp"
#include "boltzmark/transition/rung_nodes.hpp"

namespace boltzmark {

/// What the density kernels read of one layer and one block of chains.
/// Shapes  coefficients and logits [units]; states (as stored) and inputs [units][kChainBlock];
/// sums [kChainBlock], added to
struct DensityBlock {
  Unit unit = Unit::bernoulli();
  int units = 0;
  int chains = kChainBlock;        ///< of the block, the first ones; sums of others mean nothing
  const double* logits = nullptr;  ///< of the base
  const float* states = nullptr;
  const float* inputs = nullptr;
};

/// sums[c] += sum_u coefficients[u] states[u][c].
void add_linear(const double* coefficients, const DensityBlock& block, double* sums);
/// sums[c] += sum_u x_u[c] (inputs[u][c] - logits[u]), x the values of the states.
void add_joint(const DensityBlock& block, double* sums);

// With log phi the unit's log_partition and u_b = b input + (1 - b) logit.
// Accuracy  2e-15 of each term's size, as long as |input| < 2^128

/// sums[c] += sum_u log phi(u_to) - log phi(u_from).
void add_log_phi_step(const DensityBlock& block, double from, double to, double* sums);
/// sums[c] += sum_u log phi(u_b).
void add_log_phi(const DensityBlock& block, double b, double* sums);
/// Log phi at equally spaced rungs b_k = k step of units of two values and zero logits, in its two
/// parts: log phi(b x) = b max(x, low x) + log(1 + e^{-b |z|}) with z the log odds. One
/// exponential serves a unit: t_k is a power of e^{-step |z|}.
///   peaks[c] += sum_u max(x, low x);  sums[n][c] += sum_u log(1 + t_k), k the n-th node
/// Shapes  sums [nodes][kChainBlock]
void add_log_phi_nodes(const DensityBlock& block, double step, const RungNodes& nodes,
                       double* peaks, double* sums);
/// Writes each rung's sums from those of the nodes.
/// Shapes  sums [nodes][kChainBlock]; out [rungs][kChainBlock]
void fill_rungs(const RungNodes& nodes, const double* sums, double* out);

}  // namespace boltzmark
