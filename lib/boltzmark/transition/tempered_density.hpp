#pragma once

namespace boltzmark {

/// What the density kernels read of one layer and one block of chains.
/// Shapes  coefficients and logits [units]; states and inputs [units][kChainBlock];
/// sums [kChainBlock], added to
struct DensityBlock {
  int units = 0;
  const double* logits = nullptr;  ///< of the base
  const float* states = nullptr;
  const float* inputs = nullptr;
};

/// sums[c] += sum_u coefficients[u] states[u][c].
void add_linear(const double* coefficients, const DensityBlock& block, double* sums);
/// sums[c] += share sum_ij weights[i, j] lower[i][c] upper[j][c], of the states of two neighbours.
///   Shapes  weights [lower.units x upper.units], column by column
void add_bilinear(const double* weights, double share, const DensityBlock& lower,
                  const DensityBlock& upper, double* sums);
/// sums[c] += sum_u states[u][c] (inputs[u][c] - logits[u]).
void add_joint(const DensityBlock& block, double* sums);
/// sums[c] += sum_u softplus(u_to) - softplus(u_from),  u_b = b input + (1 - b) logit.
void add_softplus_step(const DensityBlock& block, double from, double to, double* sums);
/// sums[c] += sum_u softplus(u_b).
void add_softplus(const DensityBlock& block, double b, double* sums);
/// sums[c] += sum_u (input - logit) sigmoid(u_b).
void add_softplus_slope(const DensityBlock& block, double b, double* sums);
/// sums[k][c] += sum_u softplus(k step input), k = 0..rungs-1, for zero logits: every rung from one
/// exponential, t_k = t_{k-1} e^{-step |x|},  softplus(b x) = b max(x, 0) + log(1 + e^{-b |x|}).
///   Shapes  sums [rungs][kChainBlock]
void add_softplus_ladder(const DensityBlock& block, double step, int rungs, double* sums);

}  // namespace boltzmark
