#pragma once

#include <Eigen/Core>
#include <complex>
#include <functional>

#include "boltzmark/exact/rows.hpp"

namespace boltzmark {

/// An eigenvalue at the edge of a spectrum, found from products with the matrix alone.
struct EdgeEigenvalue {
  std::complex<double> value;
  double residual = 0;  ///< ||A y - value y|| of its unit eigenvector, measured
  bool converged = false;
};

/// Which edge is wanted.
enum class Edge { modulus, real_part };

/// A square matrix of norm about 1, given by its products.
struct LinearMap {
  Rows rows;
  bool symmetric = false;
  std::function<void(Eigen::Ref<Eigen::VectorXd>)> apply;  ///< x := A x, of this rank's rows
};

/// How far a Krylov space goes.
struct KrylovOptions {
  Eigen::Index columns = 40;  ///< vectors; a restart keeps the outer half of their directions
  double tolerance = 1e-12;   ///< of the residual
  int max_restarts = 300;
};

/// Finds the eigenvalue of largest modulus or largest real part in a Krylov space that is restarted
/// with its best directions [cf. Stewart 2001, Krylov-Schur], from a fixed starting vector.
/// Converged: the measured residual is at most 10 tolerances. All ranks of the rows must call it,
/// and each gets the same bits, whatever their number.
///   Cost  columns + 4 vectors of memory; three passes over the space a product
EdgeEigenvalue edge_eigenvalue(const LinearMap& map, Edge edge, const KrylovOptions& options);

}  // namespace boltzmark
