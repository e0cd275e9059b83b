#pragma once

#include <Eigen/Core>
#include <complex>
#include <functional>

namespace boltzmark {

/// An eigenvalue, found from products with the matrix alone.
struct EdgeEigenvalue {
  std::complex<double> value;
  double residual = 0;  ///< ||A y - value y|| of its unit eigenvector, measured
};

/// The ends of a spectrum.
struct SpectrumEdges {
  EdgeEigenvalue largest;    ///< by modulus
  EdgeEigenvalue rightmost;  ///< by real part
  bool converged = false;
  int products = 0;  ///< with the matrix
};

/// A square matrix given by its products.
struct LinearMap {
  Eigen::Index size = 0;
  bool symmetric = false;
  std::function<void(Eigen::Ref<Eigen::VectorXd>)> apply;  ///< x := A x
};

/// Finds the eigenvalues of largest modulus and largest real part in one Krylov space, restarted
/// with its best directions [Stewart 2001, Krylov-Schur], from a fixed starting vector. Converged:
/// both residuals are at most `tolerance`, for matrices whose norm is about 1.
///   Cost  44 vectors of memory (20 above 2^16 rows); three passes over them a product
SpectrumEdges spectrum_edges(const LinearMap& map, double tolerance, int max_restarts);

}  // namespace boltzmark
