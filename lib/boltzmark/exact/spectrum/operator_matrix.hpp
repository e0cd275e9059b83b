#pragma once

#include <Eigen/Core>

#include "boltzmark/exact/spectrum/operator.hpp"

namespace boltzmark {

/// Makes the dense matrix of one single-unit operator: entry (x, y) is the probability of x -> y.
///   bruegge2013, Def. 1 for flip
/// Throws  InvalidArgument if there are more than kMaxDenseStates states
Eigen::MatrixXd unit_matrix(const StateSpace& space, const Rule& rule, int unit);

/// Makes the dense matrix of one periodic sweep, T = T_h T_v.
Eigen::MatrixXd sweep_matrix(const StateSpace& space, const Rule& rule);

/// Makes the matrix of a sweep in symmetrised coordinates, D^{1/2} T D^{-1/2}, precise where p is
/// tiny.
Eigen::MatrixXd symmetrised_sweep_matrix(const StateSpace& space, const Rule& rule);

/// Makes the dense random-scan kernel (1/n) sum_i T_i; it is in detailed balance with p.
/// Throws  InvalidArgument if there are more than kMaxDenseStates states
Eigen::MatrixXd random_scan_matrix(const StateSpace& space, const Rule& rule);

/// Makes the symmetric matrix D^{1/2} R D^{-1/2} of the random-scan kernel R.
Eigen::MatrixXd symmetrised_random_scan_matrix(const StateSpace& space, const Rule& rule);

/// Removes as much self-transition from a whole matrix as fits: A' = (A - l I) / (1 - l), l = min_x
/// A(x, x).   [Breuleux et al. 2011, as in bruegge2013, Sec. 3.2]
/// Shapes  square     Invariant  A' has the stationary distributions of A
/// Throws  InvalidArgument if the matrix is not square, empty, or the identity
Eigen::MatrixXd breuleux_transform(const Eigen::Ref<const Eigen::MatrixXd>& matrix);

}  // namespace boltzmark
