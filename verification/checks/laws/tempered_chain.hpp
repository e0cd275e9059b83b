#pragma once

#include <Eigen/Core>

#include "verification/checks/laws/tempered_space.hpp"

namespace boltzmark {

/// How the state is moved given the rung.
enum class StateMove {
  sweep,  ///< one sweep of the rule
  exact   ///< an independent draw from p_k
};

/// What fixes a chain of simulated tempering beside the model and the ladder.
struct TemperedOptions {
  Eigen::VectorXd log_prior = {};  ///< log r_k [rungs], up to a constant
  Eigen::VectorXd log_z_hat = {};  ///< log Zhat_k [rungs], up to a constant
  RungMove rung_move = RungMove::gibbs;
  StateMove state_move = StateMove::sweep;
  Rule rule = Rule::gibbs();
};

/// Simulated tempering on a small model as one Markov chain of pairs (x, k), as they are recorded:
/// the rung is redrawn given x, then x moved at the new rung.
///   q(x, k) = r_k f_k(x) / Zhat_k / sum                                       [carlson2016, Eq. 6]
/// Pair (x, k) has index k * states + x.
class TemperedChain {
 public:
  /// Throws  InvalidArgument if log_prior or log_z_hat has not one finite value a rung
  TemperedChain(const TemperedSpace& space, TemperedOptions options);

  const TemperedSpace& space() const { return space_; }
  const TemperedOptions& options() const { return options_; }
  Eigen::Index size() const { return stationary_.size(); }

  /// Returns q(x, k), the law that the chain must leave unchanged.  Shapes  [size]
  const Eigen::VectorXd& stationary() const { return stationary_; }
  /// Returns q(b_k | x).  Shapes  [states x rungs]                             [carlson2016, Eq. 7]
  const Eigen::MatrixXd& rung_given_state() const { return rung_given_state_; }
  /// Computes q(b_k) = sum_x q(x, k).  Shapes  [rungs]                         [carlson2016, Eq. 8]
  Eigen::VectorXd rung_law() const;

  /// Makes the dense matrix: (x, k) -> (x', k') with R_k(k' | x) T_{k'}(x, x').
  /// Throws  InvalidArgument if there are more than kMaxDenseStates pairs
  Eigen::MatrixXd matrix() const;
  /// Makes the matrix of rungs alone if every x is drawn independently from p_k:
  ///   P_jk = sum_x p_j(x) R_j(k | x)                                   [carlson2016, Appendix G]
  Eigen::MatrixXd rung_matrix() const;

 private:
  Eigen::MatrixXd rung_move_from(int rung) const;  // R_k(k' | x) [states x rungs]

  TemperedSpace space_;
  TemperedOptions options_;
  Eigen::VectorXd stationary_;
  Eigen::MatrixXd rung_given_state_;
};

/// Spreads a function of the state and the rung, [states x rungs], over the chain's pairs.
Eigen::VectorXd over_pairs(const Eigen::Ref<const Eigen::MatrixXd>& values);

}  // namespace boltzmark
