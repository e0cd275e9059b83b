#include "experiments/yokoyama2019/support/exact_ascent.hpp"

#include <cmath>
#include <utility>

#include "experiments/yokoyama2019/support/spin_law.hpp"

namespace boltzmark::experiments {

ExactAscent::ExactAscent(Layered start, const LearningTask& task, double rate, double decay)
    : model_(std::move(start)),
      task_(&task),
      decay_(decay),
      steps_(model_.zero_parameters(), Optimiser::adam(), rate),
      gradient_(model_.zero_parameters()),
      states_(spin_states(model_.size(0))) {}

const Eigen::VectorXd& ExactAscent::log_law() {
  log_law_ = log_spin_law(model_, states_, &psi_);
  return log_law_;
}

void ExactAscent::fill_gradient() {
  const Eigen::VectorXd excess = task_->empirical - log_law().array().exp().matrix();
  gradient_.weights[0] =
      states_ * excess.asDiagonal() * psi_.transpose() - decay_ * model_.weights(0);
  gradient_.biases[0] = states_ * excess;
  gradient_.biases[1] = psi_ * excess;
}

void ExactAscent::run(int updates) {
  for (int update = 0; update < updates; ++update) {
    fill_gradient();
    model_.add(steps_.step(gradient_), 1);
  }
}

}  // namespace boltzmark::experiments
