#pragma once

#include <Eigen/Core>

namespace boltzmark {

/// Eigenvalues of a real matrix with eigenvectors as columns, if they were asked for.
struct EigenPairs {
  bool converged = false;
  Eigen::VectorXcd values;
  Eigen::MatrixXcd vectors;
};

/// The same of a symmetric matrix, ascending.
struct SymmetricEigenPairs {
  bool converged = false;
  Eigen::VectorXd values;
  Eigen::MatrixXd vectors;
};

enum class Eigenvectors { none, all };

/// Compute them by Eigen's dense solvers, whose templates take long to compile: here, once.
EigenPairs eigen_pairs(const Eigen::MatrixXd& matrix, Eigenvectors vectors = Eigenvectors::all);
SymmetricEigenPairs symmetric_eigen_pairs(const Eigen::MatrixXd& matrix,
                                          Eigenvectors vectors = Eigenvectors::all);

}  // namespace boltzmark
