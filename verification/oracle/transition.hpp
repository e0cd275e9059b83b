#pragma once

// Dense transition matrices of small layered networks, written from the paper's formulas in long
// double and sharing no code with the library.

#include <Eigen/Core>
#include <complex>
#include <vector>

namespace oracle::transition {

using LongMatrix = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
using LongVector = Eigen::Matrix<long double, Eigen::Dynamic, 1>;

/// A binary layered network; layer 0 is the visible one, weights[l] joins layers l and l + 1.
struct Network {
  std::vector<Eigen::VectorXd> biases;
  std::vector<Eigen::MatrixXd> weights;
  int units() const;
};

/// The single-unit laws: G_i, T_i of Definition 1, a T_i + (1 - a) G_i, and the Metropolis
/// acceptance without a rule for ties.
enum class Law { gibbs, flip, blend, metropolis };

/// Computes p(x) of every state x; bit u of x is unit u, counted through the layers.
LongVector probabilities(const Network& network);

/// Makes the matrix of one unit's update, entry (x, y) the probability of x -> y.
LongMatrix unit_matrix(const Network& network, Law law, long double share, int unit);

/// Makes the product of the units' matrices, odd layers first.
LongMatrix sweep_matrix(const Network& network, Law law, long double share);

/// Makes the mean of the units' matrices.
LongMatrix random_scan_matrix(const Network& network, Law law, long double share);

/// Computes the second largest modulus and the largest real part but for one eigenvalue 1, by a
/// dense solver on the matrix as it stands.
struct Edges {
  double slem;
  double second;
};
Edges dense_edges(const LongMatrix& matrix);

/// Judges irreducibility and period of a support by the powers of its boolean matrix.
struct Support {
  int components;
  int period;  ///< of state 0's class
};
Support support(const LongMatrix& matrix);

}  // namespace oracle::transition
