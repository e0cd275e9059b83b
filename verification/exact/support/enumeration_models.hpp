#pragma once

#include <Eigen/Core>
#include <utility>
#include <vector>

#include "boltzmark/model/layered.hpp"
#include "boltzmark/random/stream.hpp"

namespace enumeration_test {

using namespace boltzmark;

/// Draws a number that is zero one time in six, else uniform on (-scale, scale).
inline double draw(Stream& stream, double scale) {
  return stream.below(6) == 0 ? 0.0 : stream.uniform(-scale, scale);
}

/// Makes a network of the given unit codes and sizes with random parameters.
inline Layered random_network(const std::vector<int>& codes, const std::vector<int>& sizes,
                              double scale, std::uint64_t seed) {
  Stream stream(make_key(seed, "enumeration"), Purpose::test);
  std::vector<Layer> layers;
  std::vector<Eigen::MatrixXd> weights;
  for (std::size_t l = 0; l < codes.size(); ++l) {
    Layer layer;
    layer.unit = Unit::from_code(codes[l]);
    layer.bias.resize(sizes[l]);
    for (double& b : layer.bias) b = draw(stream, scale);
    if (layer.unit.has_scale()) {
      layer.sigma0.resize(sizes[l]);
      for (double& sigma : layer.sigma0) sigma = stream.uniform(0.3, 1.5);
    }
    layers.push_back(layer);
    if (l == 0) continue;
    Eigen::MatrixXd w(sizes[l - 1], sizes[l]);
    for (double& x : w.reshaped()) x = draw(stream, scale);
    weights.push_back(w);
  }
  return Layered(std::move(layers), std::move(weights));
}

inline Layered random_rbm(int visible, int hidden, double scale, std::uint64_t seed) {
  return random_network({0, 0}, {visible, hidden}, scale, seed);
}

}  // namespace enumeration_test
