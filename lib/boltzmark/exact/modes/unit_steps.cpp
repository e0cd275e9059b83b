#include "boltzmark/exact/modes/unit_steps.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "boltzmark/core/parallel.hpp"
#include "boltzmark/exact/enumeration/plain.hpp"

namespace boltzmark {

UnitSteps::UnitSteps(const Bipartite& sides, const Eigen::VectorXd& inputs, double linear,
                     std::vector<UnitStep> steps)
    : sides_(sides),
      from_{inputs, linear, log_weight(sides, inputs, linear)},
      steps_(std::move(steps)),
      gains_(std::ssize(steps_)),
      shared_(Eigen::MatrixXd::Zero(std::ssize(steps_), std::ssize(steps_))) {
  std::vector<Place> alone(steps_.size(), from_);
  parallel_for(steps_.size(), [&](std::size_t i) {
    make(steps_[i], alone[i]);
    gains_[static_cast<Eigen::Index>(i)] = alone[i].log_weight - from_.log_weight;
  });
  parallel_for(steps_.size(), [&](std::size_t i) {
    Place both;
    for (std::size_t k = 0; k < i; ++k) {
      both = alone[i];
      make(steps_[k], both);
      shared_(static_cast<Eigen::Index>(k), static_cast<Eigen::Index>(i)) =
          both.log_weight - alone[i].log_weight - gains_[static_cast<Eigen::Index>(k)];
    }
  });
  shared_.triangularView<Eigen::StrictlyLower>() = shared_.transpose();
}

// Inputs are updated, not summed anew: a step adds a rounding to each, which only the order and the choice of a
// place depend on.
void UnitSteps::make(const UnitStep& step, Place& place) const {
  place.inputs += step.change * sides_.weights.col(step.unit);
  place.linear += step.change * sides_.bias[step.unit];
  place.log_weight = log_weight(sides_, place.inputs, place.linear);
}

StepWalk UnitSteps::walk(int first, StepOrder order, Eigen::Index most) const {
  StepWalk made;
  Place place = from_;
  Eigen::VectorXd gains = gains_;
  if (order == StepOrder::shared) gains.setZero();
  Eigen::Index next = first;
  for (Eigen::Index left = std::min(most, count()); left > 0; --left) {
    make(steps_[static_cast<std::size_t>(next)], place);
    made.order.push_back(static_cast<int>(next));
    made.log_weights.push_back(place.log_weight);
    gains += shared_.col(next);
    gains[next] = -std::numeric_limits<double>::infinity();
    gains.maxCoeff(&next);
  }
  return made;
}

}  // namespace boltzmark
