#pragma once

#include <Eigen/Core>

#include "boltzmark/exact/enumeration/enumeration.hpp"

namespace boltzmark {

/// First moments of a view's units and the second moments between its sides.
struct Moments {
  Eigen::VectorXd enumerated;  ///< <e_i>  [n]
  Eigen::VectorXd other;       ///< <t_j>  [m]
  Eigen::MatrixXd products;    ///< <t_j e_i>  [m x n]
};

/// Computes the moments under the law proportional to the states' weights.
///   <t_j e_i> = sum_e p(e) e_i <t_j | e>, the other units being independent given e
/// Invariant  the result does not depend on the number of threads
Moments moments(const Bipartite& sides);

/// Adds scale * the moments to the parameters of their model: products to weights, means to biases.
void add_moments(const Bipartite& sides, const Moments& moments, double scale, Parameters& sum);

}  // namespace boltzmark
