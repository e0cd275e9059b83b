#include "boltzmark/exact/state_space.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "boltzmark/core/error.hpp"

namespace boltzmark {
namespace {

// values = old values + the unit's own value times factor, for every value of a unit that comes on
// top: table[d stride + i] = table[i] + value(d) factor(i), i < stride.
template <class Factor>
void extend(Eigen::Ref<Eigen::VectorXd> table, std::size_t stride, Unit unit,
            const Factor& factor) {
  const auto run = static_cast<Eigen::Index>(stride);
  // From the top, for the lowest value writes over what the others start from.
  for (int d = unit.values() - 1; d >= 0; --d) {
    if (unit.value(d) == 0 && d == 0) continue;
    table.segment(d * run, run) = table.head(run).array() + unit.value(d) * factor;
  }
}

}  // namespace

StateSpace::StateSpace(const Layered& model) {
  if (!model.is_discrete())
    throw InvalidArgument("units (must all be discrete to enumerate states one by one)");
  std::size_t stride = 1;
  for (int l = 0; l < model.layers(); ++l) {
    const Unit kind = model.layer(l).unit;
    const auto values = static_cast<std::size_t>(kind.values());
    sizes_.push_back(model.size(l));
    for (int i = 0; i < model.size(l); ++i) {
      if (stride > kMaxStates / values)
        throw InvalidArgument(
            fmt::format("states = more than {} (must be at most that to enumerate them one by one: "
                        "{} binary units)",
                        kMaxStates, std::bit_width(kMaxStates) - 1));
      sides_[l % 2].push_back(units());
      side_states_[l % 2] *= values;
      places_.push_back({l, i, l % 2 == 1, kind, stride});
      stride *= values;
      log_weight_ += kind.log_weight();
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
  // log f(x) = log f(x below unit u) + value of u times its input from the units below: exact to
  // the rounding of one addition a unit.
  log_p_.resize(static_cast<Eigen::Index>(states()));
  log_p_[0] = 0;
  for (int u = 0; u < units(); ++u) {
    const Place& top = places_[u];
    Eigen::VectorXd inputs(static_cast<Eigen::Index>(top.stride));
    inputs[0] = bias_[u];
    for (int k = 0; k < u; ++k) extend(inputs, places_[k].stride, places_[k].kind, coupling_(k, u));
    extend(log_p_, top.stride, top.kind, inputs.array());
  }
  // The highest first, so that the rounding of log p is relative to its own size, not to the
  // energy's.
  const double highest = log_p_.maxCoeff();
  log_p_.array() -= highest;
  const double rest = std::log(log_p_.array().exp().sum());
  log_p_.array() -= rest;
  log_z_ = highest + rest + log_weight_;
}

double StateSpace::input(int unit, std::size_t state) const {
  double x = bias_[unit];
  for (const int k : sides_[places_[unit].odd ? 0 : 1]) x += value(k, state) * coupling_(k, unit);
  return x;
}

std::size_t StateSpace::side_part(int parity, std::size_t state) const {
  std::size_t part = 0, stride = 1;
  for (const int unit : sides_[parity]) {
    part += static_cast<std::size_t>(value_index(unit, state)) * stride;
    stride *= static_cast<std::size_t>(values(unit));
  }
  return part;
}

std::size_t StateSpace::side_state(int parity, std::size_t part) const {
  std::size_t state = 0;
  for (const int unit : sides_[parity]) {
    const auto count = static_cast<std::size_t>(values(unit));
    state += part % count * places_[unit].stride;
    part /= count;
  }
  return state;
}

Eigen::MatrixXd StateSpace::inputs(int parity) const {
  const std::vector<int>& own = sides_[parity];
  const std::vector<int>& other = sides_[1 - parity];
  Eigen::MatrixXd table(static_cast<Eigen::Index>(side_states_[1 - parity]),
                        static_cast<Eigen::Index>(own.size()));
  for (std::size_t j = 0; j < own.size(); ++j) {
    auto column = table.col(static_cast<Eigen::Index>(j));
    column[0] = bias_[own[j]];
    std::size_t stride = 1;
    for (const int k : other) {
      extend(column, stride, places_[k].kind, coupling_(k, own[j]));
      stride *= static_cast<std::size_t>(values(k));
    }
  }
  return table;
}

State StateSpace::state(std::size_t index) const {
  State result;
  int unit = 0;
  for (const int size : sizes_) {
    Eigen::VectorXd values(size);
    for (int i = 0; i < size; ++i) values[i] = value(unit++, index);
    result.push_back(std::move(values));
  }
  return result;
}

std::size_t StateSpace::index(const State& state) const {
  std::size_t result = 0;
  int unit = 0;
  for (const Eigen::VectorXd& values : state)
    for (Eigen::Index i = 0; i < values.size(); ++i, ++unit) {
      const Unit kind = places_[unit].kind;
      const int k = kind.index(kind.stored(static_cast<float>(values[i])));
      result += static_cast<std::size_t>(k) * places_[unit].stride;
    }
  return result;
}

}  // namespace boltzmark
