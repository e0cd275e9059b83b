#pragma once

#include <Eigen/Core>

#include "boltzmark/core/parallel.hpp"

namespace boltzmark {

/// Multiplies matrices column by column: Eigen's matrix-vector product has the same bits whatever
/// the caches, its blocked matrix product has not.
template <class Left>
Eigen::MatrixXd column_product(const Left& left, const Eigen::MatrixXd& right) {
  Eigen::MatrixXd product(left.rows(), right.cols());
  parallel_for(static_cast<std::size_t>(right.cols()), [&](std::size_t i) {
    const auto column = static_cast<Eigen::Index>(i);
    product.col(column).noalias() = left * right.col(column);
  });
  return product;
}

}  // namespace boltzmark
