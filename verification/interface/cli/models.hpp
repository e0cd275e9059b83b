#pragma once

#include <Eigen/Core>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "boltzmark/io/model_file.hpp"
#include "boltzmark/random/stream.hpp"

namespace cli_test {

/// A binary RBM whose parameters are uniform on (-width, width).
inline boltzmark::Layered random_rbm(int visible, int hidden, double width, std::uint64_t seed) {
  boltzmark::Stream stream(boltzmark::make_key(seed, "cli"), boltzmark::Purpose::test);
  const auto draw = [&](int rows, int cols) {
    return Eigen::MatrixXd::NullaryExpr(rows, cols, [&] { return stream.uniform(-width, width); })
        .eval();
  };
  const Eigen::MatrixXd weights = draw(visible, hidden);
  const Eigen::VectorXd visible_bias = draw(visible, 1);
  const Eigen::VectorXd hidden_bias = draw(hidden, 1);
  return boltzmark::Layered::rbm(weights, visible_bias, hidden_bias);
}

/// An RBM without weights: independent units with these biases.
inline boltzmark::Layered independent_rbm(const Eigen::VectorXd& visible_bias,
                                          const Eigen::VectorXd& hidden_bias) {
  return boltzmark::Layered::rbm(Eigen::MatrixXd::Zero(visible_bias.size(), hidden_bias.size()),
                                 visible_bias, hidden_bias);
}

/// A binary network of these layers whose parameters are all zero.
inline boltzmark::Layered zero_dbm(const std::vector<int>& sizes) {
  std::vector<boltzmark::Layer> layers(sizes.size());
  std::vector<Eigen::MatrixXd> weights;
  for (std::size_t l = 0; l < sizes.size(); ++l) {
    layers[l].bias = Eigen::VectorXd::Zero(sizes[l]);
    if (l > 0) weights.emplace_back(Eigen::MatrixXd::Zero(sizes[l - 1], sizes[l]));
  }
  return {std::move(layers), std::move(weights)};
}

/// The bits of an index as a vector of zeros and ones.
inline Eigen::VectorXd bits(std::uint64_t index, Eigen::Index count) {
  Eigen::VectorXd values(count);
  for (Eigen::Index i = 0; i < count; ++i) values[i] = static_cast<double>((index >> i) & 1U);
  return values;
}

/// -E(v, h), literally.
inline double brute_log_weight(const boltzmark::Layered& model, const Eigen::VectorXd& v,
                               const Eigen::VectorXd& h) {
  return model.bias(0).dot(v) + model.bias(1).dot(h) + v.dot(model.weights(0) * h);
}

/// log sum_h e^{-E(v, h)} over every hidden state, one by one.
inline double brute_log_f(const boltzmark::Layered& model, const Eigen::VectorXd& v) {
  double sum = 0;
  for (std::uint64_t h = 0; h < (std::uint64_t{1} << model.size(1)); ++h)
    sum += std::exp(brute_log_weight(model, v, bits(h, model.size(1))));
  return std::log(sum);
}

/// log Z over every joint state, one by one.
inline double brute_log_z(const boltzmark::Layered& model) {
  double sum = 0;
  for (std::uint64_t v = 0; v < (std::uint64_t{1} << model.size(0)); ++v)
    sum += std::exp(brute_log_f(model, bits(v, model.size(0))));
  return std::log(sum);
}

inline std::string saved(const boltzmark::Layered& model, const std::string& path) {
  boltzmark::write_model(model, path);
  return path;
}

}  // namespace cli_test
