#pragma once

#include <Eigen/Core>

#include "boltzmark/sample/sample_store.hpp"
#include "verification/checks/laws/tempered_chain.hpp"

namespace boltzmark {

/// Computes the influence of one sample on log(c_k / c_1): RTS (soft) or its counts, TS (hard).
///   psi(x, j) = w_k / c_k - w_1 / c_1, w_k = q(b_k | x) or 1{j = k}, c_k = q(b_k)
/// To first order the estimate is log Z_k plus the mean of psi.         [carlson2016, Appendix B]
/// Shapes  [chain.size()]     Throws  InvalidArgument if there is no such rung
Eigen::VectorXd ratio_influence(const TemperedChain& chain, Assignment assignment, int rung);

/// Computes the influence of one sample on sum_k weight_k E_k[D]: TI-RB (soft) or TI (hard).
///   psi(x, j) = sum_k weight_k w_k (D_k - E_k[D_k]) / c_k, D_k = d/db log f_b(x) at b_k
///                                                                 [carlson2016, Eqs. 20, 21]
/// Shapes  quadrature [rungs], result [chain.size()]
/// Throws  InvalidArgument if sizes differ
Eigen::VectorXd integral_influence(const TemperedChain& chain, Assignment assignment,
                                   const Eigen::VectorXd& quadrature);

/// The exact means and covariances of the rung frequencies c_hat_k.
struct RungFrequencies {
  Eigen::VectorXd mean;        ///< c_k = q(b_k) [rungs]
  Eigen::MatrixXd covariance;  ///< Cov[c_hat_j, c_hat_k] [rungs x rungs]
};

/// Computes them for the averages over parallel stationary chains of some sweeps each.
/// Throws  InvalidArgument if chains or sweeps < 1
RungFrequencies rung_frequencies(const TemperedChain& chain, Assignment assignment, int sweeps,
                                 int chains);
/// Computes them for independent draws of (x, k) from q.
RungFrequencies independent_rung_frequencies(const TemperedChain& chain, Assignment assignment,
                                             int samples);

/// Computes what averages over infinitely many samples come to, as the sums of one sample: the
/// estimators' input without sampling error. Two equal groups, each half of it.
///   weight_k = sum_x q(x) q(b_k | x), first_k and second_k with D_k and D_k^2 beside
RungSums exact_rung_sums(const TemperedChain& chain);

}  // namespace boltzmark
