#include "boltzmark/learn/initial.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "boltzmark/random/stream.hpp"

namespace boltzmark {
namespace {

template <class Array>
void draw_normals(Array& values, double sd, Stream& stream) {
  for (Eigen::Index i = 0; i < values.size(); ++i) values.data()[i] = sd * stream.normal();
}

// Sizes that cannot be are refused before they are allocated.
void check_size(const char* name, int size) {
  if (size < 1) throw InvalidArgument(fmt::format("{} = {} (must be positive)", name, size));
}

Eigen::MatrixXd draw_xavier(Eigen::Index rows, Eigen::Index cols, Stream& stream) {
  const double bound = std::sqrt(6.0 / static_cast<double>(rows + cols));
  Eigen::MatrixXd weights(rows, cols);
  for (double& weight : weights.reshaped()) weight = stream.uniform(-bound, bound);
  return weights;
}

void check_sizes(std::span<const int> sizes) {
  if (sizes.size() < 2) throw InvalidArgument("sizes (must be of two layers or more)");
  for (std::size_t l = 0; l < sizes.size(); ++l)
    check_size(l == 0 ? "visible" : "hidden", sizes[l]);
}

std::vector<Layer> zero_layers(std::span<const int> sizes, NetworkUnits units) {
  std::vector<Layer> layers;
  for (const int size : sizes) {
    const Unit unit = layers.empty() ? units.visible : units.hidden;
    layers.push_back({.unit = unit,
                      .bias = Eigen::VectorXd::Zero(size),
                      .sigma0 = Eigen::VectorXd::Ones(unit.has_scale() ? size : 0)});
  }
  return layers;
}

}  // namespace

Layered initial_network(std::span<const int> sizes, double sd, StreamKey key, NetworkUnits units) {
  check_sizes(sizes);
  if (!(sd >= 0 && std::isfinite(sd)))
    throw InvalidArgument(fmt::format("sd = {} (must be finite and not negative)", sd));
  Stream stream(key, Purpose::initial_weights);
  std::vector<Eigen::MatrixXd> weights;
  for (std::size_t l = 0; l + 1 < sizes.size(); ++l)
    draw_normals(weights.emplace_back(sizes[l], sizes[l + 1]), sd, stream);
  std::vector<Layer> layers = zero_layers(sizes, units);
  for (Layer& layer : layers) draw_normals(layer.bias, sd, stream);
  return Layered(std::move(layers), std::move(weights));
}

Layered xavier_network(std::span<const int> sizes, StreamKey key, NetworkUnits units) {
  check_sizes(sizes);
  Stream stream(key, Purpose::initial_weights);
  std::vector<Eigen::MatrixXd> weights;
  for (std::size_t l = 0; l + 1 < sizes.size(); ++l)
    weights.push_back(draw_xavier(sizes[l], sizes[l + 1], stream));
  return Layered(zero_layers(sizes, units), std::move(weights));
}

Layered initial_rbm(int visible, int hidden, double sd, StreamKey key, NetworkUnits units) {
  return initial_network(std::array{visible, hidden}, sd, key, units);
}

Layered xavier_rbm(int visible, int hidden, StreamKey key, NetworkUnits units) {
  return xavier_network(std::array{visible, hidden}, key, units);
}

DiscriminativeRbm xavier_discriminative(Unit hidden_unit, int inputs, int hidden, int classes,
                                        StreamKey key) {
  check_size("inputs", inputs);
  check_size("hidden", hidden);
  check_size("classes", classes);
  Stream stream(key, Purpose::initial_weights);
  Eigen::MatrixXd input_weights = draw_xavier(hidden, inputs, stream);
  Eigen::MatrixXd class_weights = draw_xavier(hidden, classes, stream);
  return DiscriminativeRbm(hidden_unit, std::move(input_weights), std::move(class_weights),
                           Eigen::VectorXd::Zero(hidden), Eigen::VectorXd::Zero(classes));
}

}  // namespace boltzmark
