#pragma once

#include <Eigen/Core>
#include <cmath>
#include <utility>
#include <vector>

#include "boltzmark/model/layered.hpp"
#include "boltzmark/model/unit.hpp"
#include "boltzmark/random/stream.hpp"
#include "verification/checks/worst.hpp"

namespace boltzmark {

/// Draws 1, 2, 3, 4, 7 or the continuous unit.
inline Unit draw_unit(Stream& stream) {
  constexpr int codes[] = {1, 2, 3, 4, 7, -1};
  return Unit::from_code(codes[stream.below(6)]);
}

/// A model of the same layers with these parameters.
inline Layered with_parameters(const Layered& model, const Parameters& at) {
  std::vector<Layer> layers;
  for (int l = 0; l < model.layers(); ++l) {
    layers.push_back(model.layer(l));
    layers.back().bias = at.biases[l];
  }
  return Layered(std::move(layers), at.weights);
}

/// The largest distance of a gradient from central differences of `value`, parameter by parameter.
template <class Value>
double slope_error(Parameters& at, const Parameters& gradient, const Value& value) {
  constexpr double h = 1e-5;
  double worst = 0;
  const auto compare = [&](double& parameter, double slope) {
    const double kept = parameter;
    parameter = kept + h;
    const double above = value();
    parameter = kept - h;
    const double below = value();
    parameter = kept;
    worst = worse(worst, std::abs((above - below) / (2 * h) - slope));
  };
  for (std::size_t l = 0; l < at.weights.size(); ++l)
    for (Eigen::Index i = 0; i < at.weights[l].size(); ++i)
      compare(at.weights[l].data()[i], gradient.weights[l].data()[i]);
  for (std::size_t l = 0; l < at.biases.size(); ++l)
    for (Eigen::Index i = 0; i < at.biases[l].size(); ++i)
      compare(at.biases[l][i], gradient.biases[l][i]);
  return worst;
}

}  // namespace boltzmark
