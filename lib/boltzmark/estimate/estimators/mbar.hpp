#pragma once

#include <Eigen/Core>

#include "boltzmark/sample/estimate.hpp"
#include "boltzmark/sample/sample_store.hpp"

namespace boltzmark {

/// MBAR's estimate, and what its errors would be if samples were independent.
struct MbarEstimate : Estimate {
  /// Of log_z_rungs, relative to the first rung, for independent samples: with w_kn the weight of
  /// sample n at rung k, A = W W', N = diag(n_k) and H = N - N A N,
  ///   Theta = A + A N H^+ N A                          [Kong et al. 2003; Tan et al. 2012]
  Eigen::MatrixXd covariance = {};
  int iterations = 0;
};

/// Estimates log Z of all rungs from all samples by MBAR (UWHAM, reverse logistic regression).
///   minimises  1/N sum_n log sum_k (n_k / N) e^(b_k D_n - log Z_k) + 1/N sum_k n_k log Z_k
///                               [Shirts and Chodera 2008; Tan et al. 2012; carlson2016, Eq. 18]
/// A rung without samples has log Z_k = log sum_n e^(b_k D_n) / sum_j n_j e^(b_j D_n - log Z_j).
/// std_error holds for correlated chains: with H s = N A (e_K - e_1) and c = N s + e_K - e_1,
/// sample n has the influence c'(w_n - E[w | rung_n]), where E[w | rung k] = A e_k; counts n_k are
/// held. Neither log_prior nor log_z_hat is used.
/// Status  unvisited_rung, with an estimate, if an end of the ladder has no samples; not_converged
///   if the solver failed or chains did not mix
/// Throws  InvalidArgument as SampleStore::check
/// Cost  about 10 iterations of samples x rungs exponentials and samples x rungs^2 operations; no
/// samples x rungs storage
MbarEstimate mbar(const SampleStore& store);

}  // namespace boltzmark
