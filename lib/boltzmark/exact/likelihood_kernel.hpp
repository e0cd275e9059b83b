#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace boltzmark {

/// A binary RBM laid out for the free energies of sparse cases: the weights of each visible unit
/// side by side, padded with hidden units that are always off.
class FreeEnergyTable {
 public:
  /// Shapes  weights [visible x hidden], hidden_bias [hidden]
  FreeEnergyTable(const Eigen::MatrixXd& weights, const Eigen::VectorXd& hidden_bias);

  /// Computes sum_j log(1 + e^{c_j + sum_i W_ij v_i}) of one case.
  ///   max(x, 0) is added up; the factors 1 + e^-|x| are multiplied up, with one logarithm for
  ///   many. Nothing is cut off: at any x the error is a few u (|x| + 1)
  /// Shapes  units [count], values [count] or null when all are 1
  double hidden_terms(const std::uint32_t* units, std::size_t count, const float* values) const;

 private:
  std::size_t stride_;
  std::vector<double> rows_;  ///< [visible + 1][stride], the last row is the bias
};

}  // namespace boltzmark
