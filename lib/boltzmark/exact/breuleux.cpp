#include "boltzmark/exact/breuleux.hpp"

#include <fmt/format.h>

#include "boltzmark/core/error.hpp"

namespace boltzmark {

Eigen::MatrixXd breuleux_transform(const Eigen::Ref<const Eigen::MatrixXd>& matrix) {
  if (matrix.rows() != matrix.cols() || matrix.rows() == 0)
    throw InvalidArgument(fmt::format("matrix = {} x {} (must be square and not empty)",
                                      matrix.rows(), matrix.cols()));
  const double least = matrix.diagonal().minCoeff();
  if (least >= 1) throw InvalidArgument("matrix = identity (must move some probability)");
  Eigen::MatrixXd result = matrix;
  // The least diagonal entry minus itself is an exact zero.
  result.diagonal().array() -= least;
  return result / (1 - least);
}

}  // namespace boltzmark
