#include "boltzmark/exact/operator_matrix.hpp"

#include <fmt/format.h>

#include "boltzmark/core/error.hpp"
#include "boltzmark/exact/random_scan.hpp"

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
  for (Eigen::Index x = 0; x < states; ++x) {
    const auto state = static_cast<std::size_t>(x);
    const double flip = flip_probability(rule, space.input(unit, state), space.on(unit, state));
    matrix(x, x) = 1 - flip;
    matrix(x, x ^ (Eigen::Index{1} << unit)) = flip;
  }
  return matrix;
}

Eigen::MatrixXd side_matrix(const StateSpace& space, const Rule& rule, int parity) {
  StateBlock block = identity(space);
  SweepOperator(space, rule).push_half(block, parity);
  return block.transpose();
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
  require_dense(space);
  const auto states = static_cast<Eigen::Index>(space.states());
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(states, states);
  for (Eigen::Index x = 0; x < states; ++x) {
    const auto state = static_cast<std::size_t>(x);
    for (int u = 0; u < space.units(); ++u) {
      const double flip = flip_probability(rule, space.input(u, state), space.on(u, state));
      matrix(x, x) += (1 - flip) / space.units();
      matrix(x, x ^ (Eigen::Index{1} << u)) = flip / space.units();
    }
  }
  return matrix;
}

Eigen::MatrixXd symmetrised_random_scan_matrix(const StateSpace& space, const Rule& rule) {
  StateBlock block = identity(space);
  SweepOperator(space, rule).apply_random_scan(block);
  return block;
}

}  // namespace boltzmark
