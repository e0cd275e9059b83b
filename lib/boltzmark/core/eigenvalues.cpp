#include "boltzmark/core/eigenvalues.hpp"

#include <Eigen/Eigenvalues>

namespace boltzmark {

EigenPairs eigen_pairs(const Eigen::MatrixXd& matrix, Eigenvectors vectors) {
  const bool all = vectors == Eigenvectors::all;
  const Eigen::EigenSolver<Eigen::MatrixXd> solver(matrix, all);
  if (solver.info() != Eigen::Success) return {};
  return {true, solver.eigenvalues(), all ? solver.eigenvectors() : Eigen::MatrixXcd()};
}

SymmetricEigenPairs symmetric_eigen_pairs(const Eigen::MatrixXd& matrix, Eigenvectors vectors) {
  const bool all = vectors == Eigenvectors::all;
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(
      matrix, all ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
  if (solver.info() != Eigen::Success) return {};
  return {true, solver.eigenvalues(), all ? solver.eigenvectors() : Eigen::MatrixXd()};
}

}  // namespace boltzmark
