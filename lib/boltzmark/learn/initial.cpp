#include "boltzmark/learn/initial.hpp"

#include <fmt/format.h>

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
  const double bound = xavier_bound(rows, cols);
  Eigen::MatrixXd weights(rows, cols);
  for (double& weight : weights.reshaped()) weight = stream.uniform(-bound, bound);
  return weights;
}

}  // namespace

Layered initial_rbm(int visible, int hidden, double sd, StreamKey key, RbmUnits units) {
  check_size("visible", visible);
  check_size("hidden", hidden);
  if (!(sd >= 0 && std::isfinite(sd)))
    throw InvalidArgument(fmt::format("sd = {} (must be finite and not negative)", sd));
  Stream stream(key, Purpose::initial_weights);
  Eigen::MatrixXd weights(visible, hidden);
  Eigen::VectorXd visible_bias(visible), hidden_bias(hidden);
  draw_normals(weights, sd, stream);
  draw_normals(visible_bias, sd, stream);
  draw_normals(hidden_bias, sd, stream);
  return Layered({{.unit = units.visible, .bias = std::move(visible_bias), .sigma0 = {}},
                  {.unit = units.hidden, .bias = std::move(hidden_bias), .sigma0 = {}}},
                 {std::move(weights)});
}

double xavier_bound(Eigen::Index a, Eigen::Index b) {
  return std::sqrt(6.0 / static_cast<double>(a + b));
}

Layered xavier_rbm(int visible, int hidden, StreamKey key, RbmUnits units) {
  check_size("visible", visible);
  check_size("hidden", hidden);
  Stream stream(key, Purpose::initial_weights);
  std::vector<Layer> layers{
      {.unit = units.visible, .bias = Eigen::VectorXd::Zero(visible), .sigma0 = {}},
      {.unit = units.hidden, .bias = Eigen::VectorXd::Zero(hidden), .sigma0 = {}}};
  std::vector<Eigen::MatrixXd> weights{draw_xavier(visible, hidden, stream)};
  return Layered(std::move(layers), std::move(weights));
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
