#include "experiments/yokoyama2019/support/exact_ascent.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>
#include <vector>

#include "experiments/yokoyama2019/support/spin_law.hpp"

namespace boltzmark::experiments {

ExactAscent::ExactAscent(Layered start, const LearningTask& task, double rate, double decay)
    : Ascent(start.zero_parameters(), Optimiser::adam(), rate),
      model_(std::move(start)),
      task_(&task),
      rate_(rate),
      decay_(decay),
      states_(spin_states(model_.size(0))) {}

const Eigen::VectorXd& ExactAscent::log_law() {
  log_law_ = log_spin_law(model_, states_, &psi_);
  return log_law_;
}

void ExactAscent::fill_gradient(Parameters& gradient) {
  const Eigen::VectorXd excess = task_->empirical - log_law().array().exp().matrix();
  gradient.weights[0] =
      states_ * excess.asDiagonal() * psi_.transpose() - decay_ * model_.weights(0);
  gradient.biases[0] = states_ * excess;
  gradient.biases[1] = psi_ * excess;
}

CheckpointInputs ExactAscent::inputs() const {
  CheckpointWriter data;
  data.write(task_->empirical);
  CheckpointInputs inputs;
  inputs.add("optimiser and rate", describe(Optimiser::adam(), rate_));
  inputs.add("weight decay", fmt::format("{}", decay_));
  inputs.add("hidden units", std::to_string(model_.size(1)));
  inputs.add_hash("data", {hash_bytes(data.finish())});
  return inputs;
}

void ExactAscent::save(CheckpointWriter& out) const {
  out.write(model_.weights(0));
  for (const int layer : {0, 1}) out.write(model_.bias(layer));
}

void ExactAscent::load(CheckpointReader& in) {
  std::vector<Layer> layers{model_.layer(0), model_.layer(1)};
  Eigen::MatrixXd weights = model_.weights(0);
  in.read(weights);
  for (Layer& layer : layers) in.read(layer.bias);
  model_ = Layered(std::move(layers), {std::move(weights)});
}

}  // namespace boltzmark::experiments
