#pragma once

#include <Eigen/Core>

#include "boltzmark/exact/operator.hpp"

namespace boltzmark {

/// Makes the dense matrix of one single-unit operator: entry (x, y) is the probability of x -> y.
///   bruegge2013, Def. 1 for flip
/// Throws  InvalidArgument if there are more than kMaxDenseStates states
Eigen::MatrixXd unit_matrix(const StateSpace& space, const Rule& rule, int unit);

/// Makes the dense T_h (parity 1, the odd layers) or T_v (parity 0).
Eigen::MatrixXd side_matrix(const StateSpace& space, const Rule& rule, int parity);

/// Makes the dense matrix of one periodic sweep, T = T_h T_v.
Eigen::MatrixXd sweep_matrix(const StateSpace& space, const Rule& rule);

/// Makes the matrix of a sweep in symmetrised coordinates, D^{1/2} T D^{-1/2}, precise where p is
/// tiny.
Eigen::MatrixXd symmetrised_sweep_matrix(const StateSpace& space, const Rule& rule);

}  // namespace boltzmark
