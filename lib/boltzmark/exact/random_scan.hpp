#pragma once

#include <Eigen/Core>

#include "boltzmark/exact/operator.hpp"

namespace boltzmark {

/// Makes the dense random-scan kernel (1/n) sum_i T_i; it is in detailed balance with p.
/// Throws  InvalidArgument if there are more than kMaxDenseStates states
Eigen::MatrixXd random_scan_matrix(const StateSpace& space, const Rule& rule);

/// Makes the symmetric matrix D^{1/2} R D^{-1/2} of the random-scan kernel R.
Eigen::MatrixXd symmetrised_random_scan_matrix(const StateSpace& space, const Rule& rule);

}  // namespace boltzmark
