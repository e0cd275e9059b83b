#include "boltzmark/model/layered.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "boltzmark/core/error.hpp"

namespace boltzmark {
namespace {

template <class Arrays>
bool same(const Arrays& a, const Arrays& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.rows() == y.rows() && x.cols() == y.cols();
  });
}

// Sums of two numbers below this are finite with room to spare.
constexpr double kSafeMagnitude = 1e300;

std::string shape_of(const Eigen::MatrixXd& matrix) {
  return fmt::format("{}x{}", matrix.rows(), matrix.cols());
}

void check_layer(const Layer& layer, std::size_t l) {
  const auto size = layer.bias.size();
  if (size == 0) throw InvalidArgument(fmt::format("size of layer {} = 0 (must be positive)", l));
  if (!layer.bias.allFinite()) {
    throw InvalidArgument(fmt::format("biases of layer {} = NaN or infinity (must be finite)", l));
  }
  const auto expected = layer.unit.has_scale() ? size : 0;
  if (layer.sigma0.size() != expected) {
    throw InvalidArgument(fmt::format("scales of layer {} = {} values (must be {} for {} units)", l,
                                      layer.sigma0.size(), expected, layer.unit.name()));
  }
  if (expected > 0 && !(layer.sigma0.minCoeff() > 0 && layer.sigma0.allFinite())) {
    throw InvalidArgument(
        fmt::format("scales of layer {} = {} (must be positive and finite)", l,
                    layer.sigma0.allFinite() ? fmt::to_string(layer.sigma0.minCoeff()) : "NaN"));
  }
}

void check_weights(const Eigen::MatrixXd& weights, const std::vector<Layer>& layers,
                   std::size_t l) {
  const auto rows = layers[l].bias.size(), columns = layers[l + 1].bias.size();
  if (weights.rows() != rows || weights.cols() != columns) {
    throw InvalidArgument(
        fmt::format("shape of weights {} = {} (must be {}x{}, the sizes of layers {} and {})", l,
                    shape_of(weights), rows, columns, l, l + 1));
  }
  if (!weights.allFinite()) {
    throw InvalidArgument(fmt::format("weights {} = NaN or infinity (must be finite)", l));
  }
}

void check_direction(const Layered& model, const Parameters& direction) {
  bool agree = same(direction.weights, model.weights()) &&
               static_cast<int>(direction.biases.size()) == model.layers();
  for (int l = 0; agree && l < model.layers(); ++l) {
    agree = direction.biases[l].size() == model.size(l);
  }
  if (!agree) throw InvalidArgument("shapes of direction = others (must be those of the model)");
}

void check_state(const Layered& model, const State& state) {
  if (static_cast<int>(state.size()) != model.layers()) {
    throw InvalidArgument(fmt::format("layers of the state = {} (must be {}, those of the model)",
                                      state.size(), model.layers()));
  }
  for (int l = 0; l < model.layers(); ++l) {
    if (state[l].size() == model.size(l)) continue;
    throw InvalidArgument(fmt::format("units of layer {} of the state = {} (must be {})", l,
                                      state[l].size(), model.size(l)));
  }
}

}  // namespace

bool same_shapes(const Parameters& a, const Parameters& b) {
  return same(a.weights, b.weights) && same(a.biases, b.biases);
}

double magnitude(const Parameters& parameters) {
  double squares = 0;
  for (const auto& weights : parameters.weights) squares += weights.squaredNorm();
  for (const auto& bias : parameters.biases) squares += bias.squaredNorm();
  return std::sqrt(squares);
}

void set_zero(Parameters& parameters) {
  for (Eigen::MatrixXd& weights : parameters.weights) weights.setZero();
  for (Eigen::VectorXd& biases : parameters.biases) biases.setZero();
}

void combine(double scale, Parameters& x, double rate, const Parameters& y) {
  for (std::size_t l = 0; l < x.weights.size(); ++l)
    x.weights[l] = scale * x.weights[l] + rate * y.weights[l];
  for (std::size_t l = 0; l < x.biases.size(); ++l)
    x.biases[l] = scale * x.biases[l] + rate * y.biases[l];
}

void write_parameters(const Parameters& parameters, CheckpointWriter& out) {
  for (const Eigen::MatrixXd& weights : parameters.weights) out.write(weights);
  for (const Eigen::VectorXd& biases : parameters.biases) out.write(biases);
}

void read_parameters(Parameters& parameters, CheckpointReader& in) {
  for (Eigen::MatrixXd& weights : parameters.weights) in.read(weights);
  for (Eigen::VectorXd& biases : parameters.biases) in.read(biases);
}

double own_energy(const Layer& layer, const Eigen::Ref<const Eigen::VectorXd>& x) {
  if (!layer.unit.has_scale()) return -layer.bias.dot(x);
  return 0.5 * ((x - layer.bias).array() / layer.sigma0.array()).square().sum();
}

Layered::Layered(std::vector<Layer> layers, std::vector<Eigen::MatrixXd> weights)
    : layers_(std::move(layers)), weights_(std::move(weights)) {
  if (layers_.size() < 2) {
    throw InvalidArgument(fmt::format("layers = {} (must be at least 2)", layers_.size()));
  }
  if (layers_.size() > kMostLayers) {
    throw InvalidArgument(
        fmt::format("layers = {} (must be at most {})", layers_.size(), kMostLayers));
  }
  if (weights_.size() + 1 != layers_.size()) {
    throw InvalidArgument(fmt::format("weight matrices = {} (must be {}, one less than the layers)",
                                      weights_.size(), layers_.size() - 1));
  }
  for (std::size_t l = 0; l < layers_.size(); ++l) check_layer(layers_[l], l);
  for (std::size_t l = 0; l < weights_.size(); ++l) check_weights(weights_[l], layers_, l);
  bound_ = largest();
}

Layered Layered::rbm(Eigen::MatrixXd weights, Eigen::VectorXd visible_bias,
                     Eigen::VectorXd hidden_bias) {
  std::vector<Layer> layers(2);
  layers[0].bias = std::move(visible_bias);
  layers[1].bias = std::move(hidden_bias);
  std::vector<Eigen::MatrixXd> matrices;
  matrices.push_back(std::move(weights));
  return Layered(std::move(layers), std::move(matrices));
}

int Layered::units() const {
  int sum = 0;
  for (int l = 0; l < layers(); ++l) sum += size(l);
  return sum;
}

bool Layered::is_binary() const {
  return std::ranges::all_of(layers_, &Unit::is_bernoulli, &Layer::unit);
}

bool Layered::is_discrete() const {
  return std::ranges::all_of(layers_, &Unit::is_discrete, &Layer::unit);
}

bool Layered::has_scales() const {
  return std::ranges::any_of(layers_, &Unit::has_scale, &Layer::unit);
}

double Layered::largest() const {
  double highest = 0;
  for (const auto& weights : weights_) highest = std::max(highest, weights.cwiseAbs().maxCoeff());
  for (const auto& layer : layers_) highest = std::max(highest, layer.bias.cwiseAbs().maxCoeff());
  return highest;
}

void Layered::check_sum(const Parameters& direction, double rate) const {
  bool finite = true;
  for (std::size_t l = 0; l < weights_.size(); ++l) {
    finite = finite && (weights_[l] + rate * direction.weights[l]).allFinite();
  }
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    finite = finite && (layers_[l].bias + rate * direction.biases[l]).allFinite();
  }
  if (!finite) throw Error("parameters + rate * direction = NaN or infinity (must be finite)");
}

void Layered::add(const Parameters& direction, double rate) {
  check_direction(*this, direction);
  // Parameters stay within bound_ + |rate| |direction|, so the exact check, a pass over everything,
  // is needed only when that bound says nothing.
  double bound = bound_ + std::abs(rate) * magnitude(direction);
  const bool safe = bound < kSafeMagnitude;
  if (!safe) check_sum(direction, rate);
  for (std::size_t l = 0; l < weights_.size(); ++l) weights_[l] += rate * direction.weights[l];
  for (std::size_t l = 0; l < layers_.size(); ++l) layers_[l].bias += rate * direction.biases[l];
  bound_ = safe ? bound : largest();
}

Parameters Layered::zero_parameters() const {
  Parameters zero;
  for (const auto& weights : weights_) {
    zero.weights.push_back(Eigen::MatrixXd::Zero(weights.rows(), weights.cols()));
  }
  for (int l = 0; l < layers(); ++l) zero.biases.push_back(Eigen::VectorXd::Zero(size(l)));
  return zero;
}

double energy(const Layered& model, const State& state) {
  check_state(model, state);
  double sum = 0;
  for (int l = 0; l < model.layers(); ++l) {
    sum += own_energy(model.layer(l), state[l]);
    if (l + 1 < model.layers()) sum -= state[l].dot(model.weights(l) * state[l + 1]);
  }
  return sum;
}

}  // namespace boltzmark
