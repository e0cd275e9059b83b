#pragma once

#include <hwy/aligned_allocator.h>

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>

#include "boltzmark/exact/likelihood/likelihood.hpp"

namespace boltzmark {

/// How many hidden units stand side by side in a FreeEnergyTable.
inline constexpr std::size_t kBlockUnits = 16;

/// A binary RBM laid out for the free energies of sparse cases: hidden units in blocks of 16, in
/// each the weights of every visible unit side by side, so that a block stays in cache while many
/// cases pass. Padding units are always off.
class FreeEnergyTable {
 public:
  /// Shapes  weights [visible x hidden], hidden_bias [hidden]
  FreeEnergyTable(const Eigen::MatrixXd& weights, const Eigen::VectorXd& hidden_bias);

  /// Adds sum_j log(1 + e^{c_j + sum_i W_ij v_i}) of the distinct cases first..first + count - 1
  /// to out[0..count - 1].
  ///   max(x, 0) is added up; the factors 1 + e^-|x| are multiplied up, with one logarithm for a
  ///   block. Nothing is cut off: at any x the error is a few u (|x| + 1)
  void add_hidden_terms(const Cases& cases, std::size_t first, std::size_t count,
                        double* out) const;

 private:
  std::size_t visible_;
  std::size_t blocks_;
  hwy::AlignedFreeUniquePtr<double[]>
      rows_;  ///< [block][visible + 1][16], the last row is the bias
};

}  // namespace boltzmark
