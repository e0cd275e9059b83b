#pragma once

#include <Eigen/Core>
#include <complex>
#include <functional>

namespace boltzmark {

/// An eigenvalue at the edge of a spectrum, found from products with the matrix alone.
struct EdgeEigenvalue {
  std::complex<double> value;
  double residual = 0;  ///< ||A y - value y|| of its unit eigenvector, measured
  bool converged = false;
  int products = 0;  ///< with the matrix
};

/// Which edge is wanted.
enum class Edge { modulus, real_part };

/// A square matrix given by its products.
struct LinearMap {
  Eigen::Index size = 0;
  bool symmetric = false;
  std::function<void(Eigen::Ref<Eigen::VectorXd>)> apply;  ///< x := A x
};

/// Finds the eigenvalue of largest modulus or largest real part by implicitly restarted Arnoldi
/// (Lanczos if symmetric) from a fixed starting vector.
///   Cost  40 vectors of memory (20 above 2^16 rows)
EdgeEigenvalue edge_eigenvalue(const LinearMap& map, Edge edge, double tolerance, int max_restarts);

}  // namespace boltzmark
