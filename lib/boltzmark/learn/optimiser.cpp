#include "boltzmark/learn/optimiser.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

#include "boltzmark/core/error.hpp"

namespace boltzmark {
namespace {

void check_options(const Optimiser& optimiser, double rate) {
  if (optimiser.kind == Optimiser::Kind::sgd)
    throw InvalidArgument("optimiser = sgd (must be adam or adamax, which keep moments)");
  if (!(rate > 0 && std::isfinite(rate)))
    throw InvalidArgument(fmt::format("rate = {} (must be positive and finite)", rate));
  for (const double decay : {optimiser.mean_decay, optimiser.scale_decay})
    if (!(decay >= 0 && decay < 1))
      throw InvalidArgument(fmt::format("decay = {} (must be in [0, 1))", decay));
  if (!(optimiser.epsilon > 0 && std::isfinite(optimiser.epsilon)))
    throw InvalidArgument(
        fmt::format("epsilon = {} (must be positive and finite)", optimiser.epsilon));
}

/// What the steps of one update share.
struct Update {
  const Optimiser& optimiser;
  double rate;              ///< divided by the mean's correction, 1 - mean_decay^t
  double scale_correction;  ///< 1 - scale_decay^t
};

template <class Array>
void step_array(const Update& update, const Array& gradient, Array& mean, Array& scale,
                Array& step) {
  const auto [kind, mean_decay, scale_decay, epsilon] = update.optimiser;
  mean = mean_decay * mean + (1 - mean_decay) * gradient;
  if (kind == Optimiser::Kind::adam) {
    scale = scale_decay * scale + (1 - scale_decay) * gradient.cwiseAbs2();
    step =
        update.rate * mean.array() / ((scale.array() / update.scale_correction).sqrt() + epsilon);
  } else {
    // A parameter that has never had a gradient stays: 0 / tiny.
    constexpr double tiny = std::numeric_limits<double>::min();
    scale = (scale_decay * scale).cwiseMax(gradient.cwiseAbs());
    step = update.rate * mean.array() / scale.array().max(tiny);
  }
}

}  // namespace

std::string_view Optimiser::name() const {
  switch (kind) {
    case Kind::adam:
      return "adam";
    case Kind::adamax:
      return "adamax";
    default:
      return "sgd";
  }
}

double Optimiser::default_rate() const {
  switch (kind) {
    case Kind::adam:
      return 0.001;
    case Kind::adamax:
      return 0.002;
    default:
      return 0.05;
  }
}

std::string describe(const Optimiser& optimiser, double rate) {
  const auto& [kind, mean_decay, scale_decay, epsilon] = optimiser;
  if (kind == Optimiser::Kind::sgd) return fmt::format("sgd {}", rate);
  return fmt::format("{} {} {} {} {}", optimiser.name(), rate, mean_decay, scale_decay, epsilon);
}

Optimiser parse_optimiser(std::string_view text) {
  for (const Optimiser& optimiser : {Optimiser::sgd(), Optimiser::adam(), Optimiser::adamax()})
    if (optimiser.name() == text) return optimiser;
  throw InvalidArgument(fmt::format("optimiser = {} (must be sgd, adam or adamax)", text));
}

AdaptiveSteps::AdaptiveSteps(Parameters zero, const Optimiser& optimiser, double rate)
    : optimiser_(optimiser), rate_(rate), mean_(std::move(zero)) {
  check_options(optimiser, rate);
  for (Eigen::MatrixXd& weights : mean_.weights) weights.setZero();
  for (Eigen::VectorXd& biases : mean_.biases) biases.setZero();
  scale_ = step_ = mean_;
}

const Parameters& AdaptiveSteps::step(const Parameters& gradient) {
  if (!same_shapes(gradient, mean_))
    throw InvalidArgument("gradient (must have the model's layers and sizes)");
  const auto t = static_cast<double>(++steps_);
  const Update update{optimiser_, rate_ / (1 - std::pow(optimiser_.mean_decay, t)),
                      1 - std::pow(optimiser_.scale_decay, t)};
  for (std::size_t l = 0; l < mean_.weights.size(); ++l)
    step_array(update, gradient.weights[l], mean_.weights[l], scale_.weights[l], step_.weights[l]);
  for (std::size_t l = 0; l < mean_.biases.size(); ++l)
    step_array(update, gradient.biases[l], mean_.biases[l], scale_.biases[l], step_.biases[l]);
  return step_;
}

void AdaptiveSteps::write(CheckpointWriter& out) const {
  out.write(steps_);
  for (const Parameters* moments : {&mean_, &scale_}) {
    for (const Eigen::MatrixXd& weights : moments->weights) out.write(weights);
    for (const Eigen::VectorXd& biases : moments->biases) out.write(biases);
  }
}

void AdaptiveSteps::read(CheckpointReader& in) {
  steps_ = in.read();
  for (Parameters* moments : {&mean_, &scale_}) {
    for (Eigen::MatrixXd& weights : moments->weights) in.read(weights);
    for (Eigen::VectorXd& biases : moments->biases) in.read(biases);
  }
}

}  // namespace boltzmark
