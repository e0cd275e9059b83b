#include "boltzmark/exact/modes/unit_steps.hpp"

#include <limits>
#include <utility>

#include "boltzmark/core/parallel.hpp"
#include "boltzmark/exact/enumeration/plain.hpp"

namespace boltzmark {

UnitSteps::UnitSteps(const Bipartite& sides, ListedState from)
    : sides_(sides), from_(std::move(from)) {
  const auto units = static_cast<Eigen::Index>(sides.enumerated.size());
  for (std::size_t i = 0; i < sides.enumerated.size(); ++i) {
    const int highest = sides.enumerated[i].values() - 1;
    ends_.push_back(static_cast<char16_t>(2 * from_.indices[i] > highest ? 0 : highest));
  }
  gains_.resize(units);
  shared_ = Eigen::MatrixXd::Zero(units, units);
  std::vector<ListedState> alone(sides.enumerated.size());
  parallel_for(alone.size(), [&](std::size_t i) {
    alone[i] = after(static_cast<int>(i), from_);
    gains_[static_cast<Eigen::Index>(i)] = alone[i].log_weight - from_.log_weight;
  });
  parallel_for(alone.size(), [&](std::size_t i) {
    Eigen::VectorXd scratch;
    for (std::size_t k = 0; k < i; ++k) {
      const double both =
          log_weight_beside(sides, alone[i], static_cast<int>(k), ends_[k], scratch);
      shared_(static_cast<Eigen::Index>(k), static_cast<Eigen::Index>(i)) =
          both - alone[i].log_weight - gains_[static_cast<Eigen::Index>(k)];
    }
  });
  shared_.triangularView<Eigen::StrictlyLower>() = shared_.transpose();
}

// Inputs are updated, not summed anew: a step adds a rounding to each, which only the order and the choice of a
// state depend on; its weight is computed anew at the end.
ListedState UnitSteps::after(int unit, ListedState state) const {
  const Unit kind = sides_.enumerated[static_cast<std::size_t>(unit)];
  char16_t& index = state.indices[static_cast<std::size_t>(unit)];
  const double change = kind.value(ends_[static_cast<std::size_t>(unit)]) - kind.value(index);
  index = ends_[static_cast<std::size_t>(unit)];
  state.inputs += change * sides_.weights.col(unit);
  state.linear += change * sides_.bias[unit];
  state.log_weight = log_weight(sides_, state.inputs, state.linear);
  return state;
}

std::vector<ListedState> UnitSteps::walk(int first, StepOrder order, int parts) const {
  ListedState state = from_;
  std::vector<ListedState> found = {from_};
  Eigen::VectorXd gains = gains_;
  if (order == StepOrder::shared) gains.setZero();
  Eigen::Index next = first;
  for (Eigen::Index made = 0; made < gains.size(); ++made) {
    state = after(static_cast<int>(next), std::move(state));
    if (state.log_weight > found[0].log_weight) found[0] = state;
    if ((made + 1) * parts / gains.size() > made * parts / gains.size()) found.push_back(state);
    gains += shared_.col(next);
    gains[next] = -std::numeric_limits<double>::infinity();
    gains.maxCoeff(&next);
  }
  for (ListedState& kept : found) kept = weigh(sides_, std::move(kept.indices));
  return found;
}

}  // namespace boltzmark
