#include "boltzmark/learn/randomised_svd.hpp"

#include <fmt/format.h>

#include <Eigen/QR>
#include <Eigen/SVD>
#include <algorithm>

#include "boltzmark/core/error.hpp"
#include "boltzmark/learn/column_product.hpp"

namespace boltzmark {
namespace {

constexpr Eigen::Index kOversampling = 10;

Eigen::MatrixXd orthonormal_basis(const Eigen::MatrixXd& columns) {
  const Eigen::Index count = std::min(columns.rows(), columns.cols());
  return Eigen::HouseholderQR<Eigen::MatrixXd>(columns).householderQ() *
         Eigen::MatrixXd::Identity(columns.rows(), count);
}

Eigen::MatrixXd draw_normals(Eigen::Index rows, Eigen::Index cols, Stream& stream) {
  Eigen::MatrixXd normals(rows, cols);
  for (double& value : normals.reshaped()) value = stream.normal();
  return normals;
}

}  // namespace

SingularTriples randomised_svd(const Eigen::MatrixXd& a, int rank, Stream& stream) {
  if (rank < 1) throw InvalidArgument(fmt::format("rank = {} (must be at least 1)", rank));
  if (a.size() == 0) throw InvalidArgument("a = an empty matrix (must have a value)");
  const Eigen::Index triples = std::min<Eigen::Index>({rank, a.rows(), a.cols()});
  const Eigen::MatrixXd omega = draw_normals(a.cols(), rank + kOversampling, stream);
  Eigen::MatrixXd basis = orthonormal_basis(column_product(a, omega));
  basis = orthonormal_basis(column_product(a.transpose(), basis));
  basis = orthonormal_basis(column_product(a, basis));
  const Eigen::JacobiSVD<Eigen::MatrixXd, Eigen::HouseholderQRPreconditioner> svd(
      column_product(a.transpose(), basis), Eigen::ComputeThinU | Eigen::ComputeThinV);
  return {.left = column_product(basis, svd.matrixV().leftCols(triples)),
          .values = svd.singularValues().head(triples),
          .right = svd.matrixU().leftCols(triples)};
}

}  // namespace boltzmark
