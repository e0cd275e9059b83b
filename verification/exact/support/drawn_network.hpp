#pragma once

#include <utility>
#include <vector>

#include "boltzmark/model/layered.hpp"

namespace boltzmark {

/// Makes a network of these unit codes and sizes of numbers drawn in turn: of each layer its biases, then
/// its weights to the layer below.
template <class Bias, class Weight>
Layered drawn_network(const std::vector<int>& codes, const std::vector<int>& sizes, Bias&& bias,
                      Weight&& weight) {
  std::vector<Layer> layers(sizes.size());
  std::vector<Eigen::MatrixXd> weights;
  for (std::size_t l = 0; l < sizes.size(); ++l) {
    layers[l].unit = Unit::from_code(codes[l]);
    layers[l].bias.resize(sizes[l]);
    for (double& b : layers[l].bias) b = bias();
    if (l == 0) continue;
    weights.emplace_back(sizes[l - 1], sizes[l]);
    for (double& w : weights.back().reshaped()) w = weight();
  }
  return {std::move(layers), std::move(weights)};
}

}  // namespace boltzmark
