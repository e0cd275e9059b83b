#include "boltzmark/exact/spectrum/operator_matrix.hpp"

#include <fmt/format.h>

#include <vector>

#include "boltzmark/core/error.hpp"

namespace boltzmark {
namespace {

void require_dense(const StateSpace& space) {
  if (space.states() > kMaxDenseStates)
    throw InvalidArgument(fmt::format("states = {} (must be at most {} for a dense matrix)",
                                      space.states(), kMaxDenseStates));
}

// Row x of the identity pushed forward is row x of the matrix; columns of the block are rows x.
StateBlock identity(const StateSpace& space) {
  require_dense(space);
  const auto states = static_cast<Eigen::Index>(space.states());
  return StateBlock::Identity(states, states);
}

}  // namespace

Eigen::MatrixXd unit_matrix(const StateSpace& space, const Rule& rule, int unit) {
  require_dense(space);
  const auto states = static_cast<Eigen::Index>(space.states());
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(states, states);
  std::vector<double> next(static_cast<std::size_t>(space.values(unit)));
  for (std::size_t x = 0; x < space.states(); ++x) {
    next_law(rule, space.place(unit).kind, space.input(unit, x), space.value_index(unit, x), next);
    for (int k = 0; k < space.values(unit); ++k)
      matrix(static_cast<Eigen::Index>(x), static_cast<Eigen::Index>(space.moved(unit, x, k))) =
          next[k];
  }
  return matrix;
}

Eigen::MatrixXd sweep_matrix(const StateSpace& space, const Rule& rule) {
  StateBlock block = identity(space);
  SweepOperator(space, rule).push(block);
  return block.transpose();
}

Eigen::MatrixXd symmetrised_sweep_matrix(const StateSpace& space, const Rule& rule) {
  StateBlock block = identity(space);
  SweepOperator(space, rule).apply_symmetrised(block);
  return block;
}

Eigen::MatrixXd random_scan_matrix(const StateSpace& space, const Rule& rule) {
  Eigen::MatrixXd matrix = unit_matrix(space, rule, 0);
  for (int u = 1; u < space.units(); ++u) matrix += unit_matrix(space, rule, u);
  return matrix / space.units();
}

Eigen::MatrixXd symmetrised_random_scan_matrix(const StateSpace& space, const Rule& rule) {
  StateBlock block = identity(space);
  SweepOperator(space, rule).apply_random_scan(block);
  return block;
}

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
