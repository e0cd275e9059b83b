#include "boltzmark/exact/log_z.hpp"

#include <rapidcheck/catch.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "boltzmark/core/numeric.hpp"
#include "boltzmark/exact/enumeration/enumeration.hpp"
#include "boltzmark/exact/likelihood/likelihood.hpp"
#include "grid_number.hpp"

using namespace boltzmark;

namespace {

Layered any_network(const std::vector<int>& codes) {
  std::vector<Layer> layers;
  std::vector<Eigen::MatrixXd> weights;
  for (const int code : codes) {
    Layer layer;
    layer.unit = Unit::from_code(code);
    layer.bias =
        Eigen::VectorXd::NullaryExpr(*rc::gen::inRange(1, 6), [] { return grid_number(); });
    if (!layers.empty()) {
      weights.push_back(Eigen::MatrixXd::NullaryExpr(layers.back().bias.size(), layer.bias.size(),
                                                     [] { return grid_number(); }));
    }
    layers.push_back(layer);
  }
  return Layered(std::move(layers), std::move(weights));
}

Layered any_discrete() {
  std::vector<int> codes(*rc::gen::inRange(2, 4));
  for (int& code : codes) code = *rc::gen::element(0, 0, 1, 2, 4);
  return any_network(codes);
}

/// Asserts that two log Z agree within the sum of their stated bounds.
void check_equal(const ExactLogZ& a, const ExactLogZ& b, double shift = 0) {
  // The shift's own addition rounds once.
  const double rounding = 1.2e-16 * (std::abs(a.log_z) + std::abs(shift));
  RC_ASSERT(std::abs(a.log_z - (b.log_z + shift)) <= a.error_bound + b.error_bound + rounding);
}

std::vector<Layer> layers_of(const Layered& model) {
  std::vector<Layer> layers;
  for (int l = 0; l < model.layers(); ++l) layers.push_back(model.layer(l));
  return layers;
}

}  // namespace

TEST_CASE("log Z does not depend on which side is enumerated", "[log_z][property]") {
  rc::prop("even and odd layers", [] {
    const Layered model = any_discrete();
    check_equal(sum_states(enumerate_side(model, 0)), sum_states(enumerate_side(model, 1)));
  });
}

TEST_CASE("permuting the units of a layer leaves log Z unchanged", "[log_z][property]") {
  rc::prop("any layer", [] {
    const Layered model = any_discrete();
    const int l = *rc::gen::inRange(0, model.layers());
    Eigen::PermutationMatrix<Eigen::Dynamic> p(model.size(l));
    p.setIdentity();
    for (int i = model.size(l) - 1; i > 0; --i) {
      std::swap(p.indices()[i], p.indices()[*rc::gen::inRange(0, i + 1)]);
    }
    std::vector<Layer> layers = layers_of(model);
    std::vector<Eigen::MatrixXd> weights = model.weights();
    layers[l].bias = p * model.bias(l);
    if (l > 0) weights[l - 1] = model.weights(l - 1) * p.transpose();
    if (l + 1 < model.layers()) weights[l] = p * model.weights(l);
    check_equal(exact_log_z(Layered(layers, weights)), exact_log_z(model));
  });
}

TEST_CASE("flipping a binary unit's encoding shifts log Z by its bias", "[log_z][property]") {
  // x -> 1 - x: a x = a - a (1 - x), and its neighbours' biases take over its weights.
  rc::prop("any unit of an RBM", [] {
    const Layered model = any_network({0, *rc::gen::element(0, 1, 2)});
    const int i = *rc::gen::inRange(0, model.size(0));
    std::vector<Layer> layers = layers_of(model);
    Eigen::MatrixXd weights = model.weights(0);
    const double bias = layers[0].bias[i];
    layers[0].bias[i] = -bias;
    layers[1].bias += weights.row(i).transpose();
    weights.row(i) *= -1;
    check_equal(exact_log_z(model), exact_log_z(Layered(layers, {weights})), bias);
  });
}

TEST_CASE("a binary unit is a spin with half the weights", "[log_z][property]") {
  // x = (1 + t) / 2: a x = a / 2 + (a / 2) t, and its neighbours' biases grow by half its weights.
  rc::prop("the hidden layer of an RBM", [] {
    const Layered model = any_network({*rc::gen::element(0, 2), 0});
    std::vector<Layer> layers = layers_of(model);
    const Eigen::MatrixXd half = model.weights(0) / 2;
    const double shift = layers[1].bias.sum() / 2;
    layers[0].bias += half.rowwise().sum();
    layers[1].bias /= 2;
    layers[1].unit = Unit::multivalued(1);
    check_equal(exact_log_z(model), exact_log_z(Layered(layers, {half})), shift);
  });
}

TEST_CASE("an unconnected unit adds its own log partition function", "[log_z][property]") {
  rc::prop("a visible or a hidden one", [] {
    const Layered model = any_network({0, 0});
    const int l = *rc::gen::inRange(0, 2);
    const double bias = grid_number();
    std::vector<Layer> layers = layers_of(model);
    layers[l].bias.conservativeResize(model.size(l) + 1);
    layers[l].bias[model.size(l)] = bias;
    Eigen::MatrixXd weights = Eigen::MatrixXd::Zero(layers[0].bias.size(), layers[1].bias.size());
    weights.topLeftCorner(model.size(0), model.size(1)) = model.weights(0);
    check_equal(exact_log_z(Layered(layers, {weights})), exact_log_z(model), softplus(bias));
  });
}

TEST_CASE("float and double log Z agree within their bounds", "[log_z][property]") {
  rc::prop("any discrete network", [] {
    const Layered model = any_discrete();
    check_equal(exact_log_z(model, {.precision = Precision::float_precision}), exact_log_z(model));
  });
}

TEST_CASE("no state's log-likelihood is above zero", "[likelihood][property]") {
  rc::prop("binary visible units", [] {
    const Layered model = any_network({0, *rc::gen::element(0, 1, 3), 0});
    const ExactLogZ z = exact_log_z(model);
    Eigen::VectorXd v(model.size(0));
    for (double& x : v) x = *rc::gen::inRange(0, 2);
    // log f(v) rounds like log Z: at most 3 x 5 units of inputs below 1200.
    RC_ASSERT(log_unnormalised(model, v) - z.log_z <= z.error_bound + 1e-9);
  });
}
