#pragma once

#include <Eigen/Core>
#include <optional>

#include "boltzmark/sample/estimate.hpp"
#include "boltzmark/sample/sample_store.hpp"

namespace boltzmark {

/// Computes the stationary law of a Markov chain by state reduction, which subtracts nothing: every
/// probability has a small relative error.            [Grassmann, Taksar and Heyman 1985]
/// Returns nothing if the chain is not irreducible.
/// Shapes  transition [states x states], P_jk from j to k; its diagonal is not read
std::optional<Eigen::VectorXd> stationary_law(Eigen::MatrixXd transition);

/// How transitions between rungs are counted.
enum class Transitions {
  counted,           ///< 1{rung_n = j, rung_{n+1} = k} within a chain: SD
  rao_blackwellised  ///< q(b_k | x_n) 1{rung_n = j}: RSD
};

/// Estimates log Z from the stationary law of the chain that rungs make.
///   log Z_k = log Zhat_k + log r_1 - log r_k + log pi_k - log pi_1,  pi P = pi,
///   P_jk = the share of transitions from j that lead to k                [carlson2016, Appendix G]
/// With (I - P) h = e_K / pi_K - e_1 / pi_1, a transition from j with law t has the influence
/// N pi_j / n_j (t'h - (P h)_j).
/// `states` matters to rao_blackwellised alone.
/// Status  without an estimate: unvisited_rung if a rung has no transition from it, not_converged
///   if the empirical chain is not irreducible
/// Throws  InvalidArgument as RungLaw
Estimate stationary_estimate(const SampleStore& store, Transitions transitions, States states);

}  // namespace boltzmark
