#include "boltzmark/exact/state_space.hpp"

#include <fmt/format.h>

#include <cmath>

#include "boltzmark/core/error.hpp"

namespace boltzmark {

StateSpace::StateSpace(const Layered& model) {
  if (!model.is_binary())
    throw InvalidArgument("units (must all be Bernoulli to enumerate states one by one)");
  if (model.units() > kMaxStateUnits)
    throw InvalidArgument(
        fmt::format("units = {} (must be at most {} to enumerate states one by one)", model.units(),
                    kMaxStateUnits));
  for (int l = 0; l < model.layers(); ++l) {
    sizes_.push_back(model.size(l));
    for (int i = 0; i < model.size(l); ++i) {
      const int unit = units();
      sides_[l % 2].push_back(unit);
      masks_[l % 2] |= std::size_t{1} << unit;
      places_.push_back({l, i, l % 2 == 1});
    }
  }
  bias_.resize(units());
  coupling_ = Eigen::MatrixXd::Zero(units(), units());
  for (int l = 0, first = 0; l < model.layers(); first += sizes_[l], ++l) {
    bias_.segment(first, sizes_[l]) = model.bias(l);
    if (l + 1 == model.layers()) break;
    const int next = first + sizes_[l];
    coupling_.block(first, next, sizes_[l], sizes_[l + 1]) = model.weights(l);
    coupling_.block(next, first, sizes_[l + 1], sizes_[l]) = model.weights(l).transpose();
  }
  // log f(x with top bit u) = log f(x without it) + input of u from the units below: exact to the
  // rounding of one addition a unit.
  log_p_.resize(static_cast<Eigen::Index>(states()));
  log_p_[0] = 0;
  for (int u = 0; u < units(); ++u) {
    const Eigen::Index half = Eigen::Index{1} << u;
    Eigen::VectorXd inputs(half);
    inputs[0] = bias_[u];
    for (int k = 0; k < u; ++k) {
      const Eigen::Index bit = Eigen::Index{1} << k;
      inputs.segment(bit, bit) = inputs.head(bit).array() + coupling_(k, u);
    }
    log_p_.segment(half, half) = log_p_.head(half) + inputs;
  }
  // The highest first, so that the rounding of log p is relative to its own size, not to the
  // energy's.
  const double highest = log_p_.maxCoeff();
  log_p_.array() -= highest;
  const double rest = std::log(log_p_.array().exp().sum());
  log_p_.array() -= rest;
  log_z_ = highest + rest;
}

double StateSpace::input(int unit, std::size_t state) const {
  double x = bias_[unit];
  for (const int k : sides_[places_[unit].odd ? 0 : 1])
    if (on(k, state)) x += coupling_(k, unit);
  return x;
}

Eigen::MatrixXd StateSpace::inputs(int parity) const {
  const std::vector<int>& own = sides_[parity];
  const std::vector<int>& other = sides_[1 - parity];
  Eigen::MatrixXd table(Eigen::Index{1} << other.size(), static_cast<Eigen::Index>(own.size()));
  for (std::size_t j = 0; j < own.size(); ++j) {
    auto column = table.col(static_cast<Eigen::Index>(j));
    column[0] = bias_[own[j]];
    for (std::size_t k = 0; k < other.size(); ++k) {
      const Eigen::Index bit = Eigen::Index{1} << k;
      column.segment(bit, bit) = column.head(bit).array() + coupling_(other[k], own[j]);
    }
  }
  return table;
}

State StateSpace::state(std::size_t index) const {
  State result;
  int unit = 0;
  for (const int size : sizes_) {
    Eigen::VectorXd values(size);
    for (int i = 0; i < size; ++i) values[i] = on(unit++, index) ? 1 : 0;
    result.push_back(std::move(values));
  }
  return result;
}

std::size_t StateSpace::index(const State& state) const {
  std::size_t result = 0;
  int unit = 0;
  for (const Eigen::VectorXd& values : state)
    for (Eigen::Index i = 0; i < values.size(); ++i, ++unit)
      if (values[i] != 0) result |= std::size_t{1} << unit;
  return result;
}

}  // namespace boltzmark
