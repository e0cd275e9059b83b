#pragma once

#include <Eigen/Core>

#include "boltzmark/random/stream.hpp"

namespace boltzmark {

/// Some singular triples of a matrix:  A ~ left diag(values) right'.
struct SingularTriples {
  Eigen::MatrixXd left;    ///< [rows x triples], orthonormal columns
  Eigen::VectorXd values;  ///< [triples], descending
  Eigen::MatrixXd right;   ///< [columns x triples], orthonormal columns
};

/// Computes the leading singular triples by randomised subspace iteration.
///   Q = orth(A Omega), Omega normal [columns x (rank + 10)];  once Q <- orth(A orth(A' Q));
///   A ~ Q (Q' A), decomposed exactly         [Halko, Martinsson and Tropp 2011, Alg. 4.4 and 5.1]
/// Returns  min(rank, rows, columns) triples
/// Accuracy  rounding if A has rank at most rank + 10; else errors of s_i shrink as
/// (s_(rank + 11) / s_i)^3
/// Randomness  columns x (rank + 10) normal draws of `stream`
/// Cost  four products of A with rank + 10 columns
/// Throws  InvalidArgument if rank < 1 or A is empty
SingularTriples randomised_svd(const Eigen::MatrixXd& a, int rank, Stream& stream);

}  // namespace boltzmark
