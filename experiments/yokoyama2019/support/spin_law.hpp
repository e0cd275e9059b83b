#pragma once

#include <Eigen/Core>

#include "boltzmark/model/layered.hpp"

namespace boltzmark::experiments {

/// Lists all states of n spins: column x has +1 where bit i of x is set.  Shapes  [n x 2^n]
Eigen::MatrixXd spin_states(int n);

/// Computes log P(v) of every state of an RBM's visible spins, in the order of spin_states.
/// Units  nats     Shapes  [2^visible]     Cost  2^visible (visible + a few) hidden
Eigen::VectorXd log_spin_law(const Layered& model);

/// The same from states listed before; also the means of the hidden units given each state, unless
/// `psi` is null.  Shapes  states [visible x 2^visible], psi [hidden x 2^visible]
Eigen::VectorXd log_spin_law(const Layered& model, const Eigen::MatrixXd& states,
                             Eigen::MatrixXd* psi);

}  // namespace boltzmark::experiments
