#pragma once

#include <Eigen/Core>

#include "boltzmark/exact/state_space.hpp"
#include "boltzmark/model/base.hpp"
#include "boltzmark/sample/tempering/simulated_tempering.hpp"
#include "boltzmark/target/ladder.hpp"
#include "boltzmark/transition/rule.hpp"

namespace boltzmark {

/// Every state of a small discrete model at every rung of a ladder.
///   log f_b = b log f + (1 - b) log p1, p1 normalised, f = exp(-E)            [carlson2016, Eq. 2]
/// States are indexed as in StateSpace; a collapsed state as its even side's part.
class TemperedSpace {
 public:
  /// Throws  InvalidArgument if the model is not enumerable or the base is not one of the model
  TemperedSpace(const Layered& model, const Base& base, const Ladder& ladder, States states);

  States kind() const { return kind_; }
  int rungs() const { return ladder_.rungs(); }
  Eigen::Index states() const { return log_f_.rows(); }

  /// Returns log f_k(x).  Shapes  [states x rungs]    Units  nats
  const Eigen::MatrixXd& log_f() const { return log_f_; }
  /// Returns d/db log f_b(x) at b_k: D(x) of a joint state, its mean given a collapsed one.
  /// Shapes  [states x rungs]
  const Eigen::MatrixXd& slopes() const { return slopes_; }
  /// Returns log Z_k; the first is 0.  Shapes  [rungs]
  const Eigen::VectorXd& log_z() const { return log_z_; }
  /// Returns p_k(x) = f_k(x) / Z_k.  Shapes  [states x rungs]
  Eigen::MatrixXd p() const;

  /// Makes the dense kernel of one sweep (hidden layers first) at a rung's inverse temperature.
  /// Throws  InvalidArgument if states are collapsed and the rule is not Gibbs sampling: the
  /// hidden units' next states would depend on what was summed out
  Eigen::MatrixXd sweep(int rung, const Rule& rule) const;

 private:
  void collapse(const StateSpace& joint);

  Layered model_;
  Base base_;
  Ladder ladder_;
  States kind_;
  Eigen::MatrixXd log_f_, slopes_;
  Eigen::VectorXd log_z_;
};

}  // namespace boltzmark
