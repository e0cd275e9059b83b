#pragma once

#include <Eigen/Core>

namespace boltzmark {

/// Removes as much self-transition from a whole matrix as fits: A' = (A - l I) / (1 - l), l = min_x
/// A(x, x).   [Breuleux et al. 2011, as in bruegge2013, Sec. 3.2]
/// Shapes  square     Invariant  A' has the stationary distributions of A
/// Throws  InvalidArgument if the matrix is not square, empty, or the identity
Eigen::MatrixXd breuleux_transform(const Eigen::Ref<const Eigen::MatrixXd>& matrix);

}  // namespace boltzmark
