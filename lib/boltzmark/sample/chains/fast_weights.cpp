#include "boltzmark/sample/chains/fast_weights.hpp"

#include <fmt/format.h>

#include <cmath>

#include "boltzmark/core/error.hpp"

namespace boltzmark {
namespace {

double checked_rate(double rate) {
  if (!(rate >= 0 && std::isfinite(rate)))
    throw InvalidArgument(fmt::format("fast_rate = {} (must be finite and not negative)", rate));
  return rate;
}

double checked_decay(double decay) {
  if (!(decay >= 0 && decay <= 1))
    throw InvalidArgument(fmt::format("fast_decay = {} (must be from 0 to 1)", decay));
  return decay;
}

}  // namespace

FastWeights::FastWeights(const SamplerSetup& setup, double rate, double decay)
    : packed_(setup.model, setup.packing),
      sum_(setup.model),
      fast_(setup.model.zero_parameters()),
      chains_(setup),
      rate_(checked_rate(rate)),
      decay_(checked_decay(decay)) {}

void FastWeights::set_model(const Layered& model) {
  packed_.update(model);
  sum_ = model;
  sum_.add(fast_, 1);
  chains_.set_model(sum_);
}

void FastWeights::follow(const Parameters& gradient) {
  for (std::size_t l = 0; l < fast_.weights.size(); ++l)
    fast_.weights[l] = decay_ * fast_.weights[l] + rate_ * gradient.weights[l];
  for (std::size_t l = 0; l < fast_.biases.size(); ++l)
    fast_.biases[l] = decay_ * fast_.biases[l] + rate_ * gradient.biases[l];
}

void FastWeights::save(CheckpointWriter& out) const {
  for (const Eigen::MatrixXd& weights : fast_.weights) out.write(weights);
  for (const Eigen::VectorXd& biases : fast_.biases) out.write(biases);
  chains_.save(out);
}

void FastWeights::restore(CheckpointReader& in) {
  for (Eigen::MatrixXd& weights : fast_.weights) in.read(weights);
  for (Eigen::VectorXd& biases : fast_.biases) in.read(biases);
  chains_.restore(in);
}

}  // namespace boltzmark
