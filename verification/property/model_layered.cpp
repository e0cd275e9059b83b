#include <rapidcheck/catch.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "boltzmark/core/error.hpp"
#include "boltzmark/model/base.hpp"
#include "boltzmark/model/layered.hpp"
#include "grid_number.hpp"
#include "verification/checks/laws/states.hpp"

using namespace boltzmark;

namespace {

Unit any_unit() { return Unit::from_code(*rc::gen::element(0, 0, 1, 2, 4, -1, -2)); }

/// Scales that are powers of two keep Gaussian energies exact.
Layer any_layer(Unit unit, int size) {
  Layer layer;
  layer.unit = unit;
  layer.bias = Eigen::VectorXd::NullaryExpr(size, [] { return grid_number(); });
  if (unit.has_scale()) {
    layer.sigma0 = Eigen::VectorXd::NullaryExpr(
        size, [] { return std::ldexp(1.0, *rc::gen::inRange(-2, 3)); });
  }
  return layer;
}

Layered any_model() {
  const int count = *rc::gen::inRange(2, 5);
  std::vector<Layer> layers;
  std::vector<Eigen::MatrixXd> weights;
  for (int l = 0; l < count; ++l) {
    layers.push_back(any_layer(any_unit(), *rc::gen::inRange(1, 9)));
    if (l == 0) continue;
    weights.push_back(Eigen::MatrixXd::NullaryExpr(layers[l - 1].bias.size(), layers[l].bias.size(),
                                                   [] { return grid_number(); }));
  }
  return Layered(std::move(layers), std::move(weights));
}

Layered binary_model() {
  const int visible = *rc::gen::inRange(1, 9), hidden = *rc::gen::inRange(1, 9);
  const auto number = [] { return grid_number(); };
  return Layered::rbm(Eigen::MatrixXd::NullaryExpr(visible, hidden, number),
                      Eigen::VectorXd::NullaryExpr(visible, number),
                      Eigen::VectorXd::NullaryExpr(hidden, number));
}

/// Values of the units: quarters keep products with the grid exact.
State any_state(const Layered& model) {
  State state;
  for (int l = 0; l < model.layers(); ++l) {
    const Unit unit = model.layer(l).unit;
    state.push_back(Eigen::VectorXd::NullaryExpr(model.size(l), [&]() -> double {
      if (unit.is_discrete()) return unit.value(*rc::gen::inRange(0, unit.values()));
      return *rc::gen::inRange(-4, 5) / 4.0;
    }));
  }
  return state;
}

}  // namespace

TEST_CASE("the energy is the sum over units and pairs of its definition") {
  rc::prop("energy", [] {
    const Layered model = any_model();
    const State state = any_state(model);
    double sum = 0;
    for (int l = 0; l < model.layers(); ++l) {
      for (int i = 0; i < model.size(l); ++i) {
        const double x = state[l][i], a = model.bias(l)[i];
        if (model.layer(l).unit.has_scale()) {
          const double sigma = model.layer(l).sigma0[i];
          sum += (x - a) * (x - a) / (2 * sigma * sigma);
        } else {
          sum -= a * x;
        }
        for (int j = 0; l + 1 < model.layers() && j < model.size(l + 1); ++j) {
          sum -= x * model.weights(l)(i, j) * state[l + 1][j];
        }
      }
    }
    RC_ASSERT(energy(model, state) == sum);
  });
}

TEST_CASE("permuting the units of a layer leaves the energy unchanged") {
  rc::prop("permutation", [] {
    const Layered model = any_model();
    State state = any_state(model);
    const double before = energy(model, state);
    const int l = *rc::gen::inRange(0, model.layers());
    Eigen::PermutationMatrix<Eigen::Dynamic> shuffle(model.size(l));
    shuffle.setIdentity();
    for (int i = model.size(l) - 1; i > 0; --i) {
      std::swap(shuffle.indices()[i], shuffle.indices()[*rc::gen::inRange(0, i + 1)]);
    }
    std::vector<Layer> layers;
    for (int k = 0; k < model.layers(); ++k) layers.push_back(model.layer(k));
    std::vector<Eigen::MatrixXd> weights = model.weights();
    layers[l].bias = (shuffle * layers[l].bias).eval();
    if (layers[l].unit.has_scale()) layers[l].sigma0 = (shuffle * layers[l].sigma0).eval();
    if (l > 0) weights[l - 1] = (weights[l - 1] * shuffle.transpose()).eval();
    if (l + 1 < model.layers()) weights[l] = (shuffle * weights[l]).eval();
    state[l] = (shuffle * state[l]).eval();
    RC_ASSERT(energy(Layered(layers, weights), state) == before);
  });
}

TEST_CASE("flipping the encoding of a Bernoulli unit shifts the energy by a constant") {
  // x -> 1 - x in visible unit i: b_i -> -b_i, c_j -> c_j + W_ij, W_ij -> -W_ij; E grows by b_i.
  rc::prop("flip", [] {
    const Layered model = binary_model();
    const State state = any_state(model);
    const int i = *rc::gen::inRange(0, model.size(0));
    Eigen::MatrixXd weights = model.weights(0);
    Eigen::VectorXd visible = model.bias(0), hidden = model.bias(1);
    hidden += weights.row(i).transpose();
    weights.row(i) *= -1;
    visible[i] *= -1;
    State flipped = state;
    flipped[0][i] = 1 - flipped[0][i];
    const Layered other = Layered::rbm(weights, visible, hidden);
    RC_ASSERT(energy(other, flipped) == energy(model, state) + model.bias(0)[i]);
  });
}

TEST_CASE("a layer's input is the finite difference of minus the energy") {
  rc::prop("input", [] {
    const Layered model = any_model();
    const State state = any_state(model);
    const int l = *rc::gen::inRange(0, model.layers()), i = *rc::gen::inRange(0, model.size(l));
    State up = state, down = state;
    up[l][i] = 1;
    down[l][i] = 0;
    double difference = energy(model, down) - energy(model, up);
    if (model.layer(l).unit.has_scale()) {  // the quadratic term is no part of the input
      const double a = model.bias(l)[i], sigma = model.layer(l).sigma0[i];
      difference += ((1 - a) * (1 - a) - a * a) / (2 * sigma * sigma);
    }
    RC_ASSERT(layer_input(model, state, l)[i] == difference);
  });
}

TEST_CASE("the tempered model is the model at 1, the base at 0, and linear in between") {
  rc::prop("tempered", [] {
    const Layered model = binary_model();
    Base base = Base::uniform(model);
    for (auto& logits : base.logits) {
      for (auto& logit : logits) logit = grid_number();
    }
    const State state = any_state(model);
    const double at_base = -base.logits[0].dot(state[0]) - base.logits[1].dot(state[1]);
    RC_ASSERT(energy(tempered(model, base, 1), state) == energy(model, state));
    RC_ASSERT(energy(tempered(model, base, 0), state) == at_base);
    const double b = *rc::gen::inRange(0, 9) / 8.0;
    RC_ASSERT(energy(tempered(model, base, b), state) ==
              b * energy(model, state) + (1 - b) * at_base);
  });
}

TEST_CASE("the base's normaliser is the sum of e^{logit x} over all states") {
  rc::prop("normaliser", [] {
    const Layered model = binary_model();
    Base base = Base::uniform(model);
    for (auto& logits : base.logits) {
      for (auto& logit : logits) logit = *rc::gen::inRange(-16, 17) / 4.0;
    }
    long double product = 1;
    for (const auto& logits : base.logits) {
      for (const double logit : logits) product *= 1 + std::exp(static_cast<long double>(logit));
    }
    const auto expected = static_cast<double>(std::log(product));
    // At most 16 terms, each within 2 roundings of its value.
    RC_ASSERT(std::abs(log_normaliser(model, base) - expected) <=
              16 * 4 * 2.3e-16 * (1 + expected));
  });
}

TEST_CASE("base rates of a million cases are summed in double precision") {
  const Layered model =
      Layered::rbm(Eigen::MatrixXd::Zero(1, 1), Eigen::VectorXd::Zero(1), Eigen::VectorXd::Zero(1));
  const Eigen::MatrixXf data = Eigen::MatrixXf::Constant(1, 1'000'000, 0.1F);
  CHECK(Base::from_data(model, data, 0).logits[0][0] == Approx(std::log(0.1 / 0.9)).epsilon(1e-6));
}

TEST_CASE("base rates are the smoothed means of the data") {
  const Layered model =
      Layered::rbm(Eigen::MatrixXd::Zero(2, 3), Eigen::VectorXd::Zero(2), Eigen::VectorXd::Zero(3));
  Eigen::MatrixXf data(2, 4);
  data << 1, 1, 1, 0, 0, 0, 0, 0;
  const Base base = Base::from_data(model, data, 5);
  CHECK(base.logits[0][0] == Approx(std::log(8.0 / 6.0)));
  CHECK(base.logits[0][1] == Approx(std::log(5.0 / 9.0)));
  CHECK(base.logits[1].isZero(0));
  CHECK_THROWS_AS(Base::from_data(model, data, 0), InvalidArgument);  // a rate of 0
  CHECK_THROWS_AS(Base::from_data(model, data, -1), InvalidArgument);
  CHECK_THROWS_AS(Base::from_data(model, data.topRows(1), 5), InvalidArgument);
  for (const float value : {std::numeric_limits<float>::quiet_NaN(), -1.0F, 1.5F}) {
    data(0, 0) = value;
    CHECK_THROWS_AS(Base::from_data(model, data, 5), InvalidArgument);
  }
}

TEST_CASE("adding a direction moves every parameter by rate times direction") {
  rc::prop("add", [] {
    const Layered before = binary_model();
    Layered model = before;
    Parameters direction = model.zero_parameters();
    direction.weights[0].setConstant(3);
    direction.biases[0].setConstant(-2);
    direction.biases[1].setConstant(1);
    model.add(direction, 0.5);
    RC_ASSERT(model.weights(0) == (before.weights(0).array() + 1.5).matrix());
    RC_ASSERT(model.bias(0) == (before.bias(0).array() - 1).matrix());
    RC_ASSERT(model.bias(1) == (before.bias(1).array() + 0.5).matrix());
  });
}

TEST_CASE("a step to infinity or NaN is refused and leaves the model unchanged") {
  const Eigen::MatrixXd weights = Eigen::MatrixXd::Constant(2, 3, 1e308);
  Layered model = Layered::rbm(weights, Eigen::VectorXd::Zero(2), Eigen::VectorXd::Zero(3));
  Parameters direction = model.zero_parameters();
  direction.weights[0].setConstant(-1);
  model.add(direction, 1e307);  // large, and still finite
  CHECK(model.weights(0)(1, 2) == 9e307);
  const Layered before = model;
  for (const double rate : {-1e308, std::numeric_limits<double>::infinity(),
                            std::numeric_limits<double>::quiet_NaN()}) {
    CHECK_THROWS_AS(model.add(direction, rate), Error);
    CHECK(model.weights(0) == before.weights(0));
    CHECK(model.bias(0) == before.bias(0));
  }
  direction = model.zero_parameters();
  direction.biases[1][2] = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(model.add(direction, 1), Error);
  CHECK(model.bias(1) == before.bias(1));
  direction.biases.pop_back();
  CHECK_THROWS_AS(model.add(direction, 1), InvalidArgument);
  // Whichever weights of a deep model they are.
  const Layer layer{Unit::bernoulli(), Eigen::VectorXd::Zero(2), {}};
  const Eigen::MatrixXd great = Eigen::MatrixXd::Constant(2, 2, 1e308);
  for (std::size_t l = 0; l < 2; ++l) {
    Layered deep({layer, layer, layer}, {great, great});
    direction = deep.zero_parameters();
    direction.weights[l].setOnes();
    CHECK_THROWS_AS(deep.add(direction, 1e308), Error);
    CHECK(deep.weights(0) == great);
    CHECK(deep.weights(1) == great);
  }
}

TEST_CASE("a model whose shapes or values do not agree is refused") {
  const Eigen::MatrixXd weights = Eigen::MatrixXd::Zero(2, 3);
  const Eigen::VectorXd two = Eigen::VectorXd::Zero(2), three = Eigen::VectorXd::Zero(3);
  CHECK_THROWS_WITH(Layered::rbm(weights, three, three),
                    Catch::Contains("shape of weights 0 = 2x3"));
  CHECK_THROWS_AS(Layered::rbm(weights, two, Eigen::VectorXd()), InvalidArgument);
  CHECK_THROWS_AS(Layered::rbm(weights, two, three * std::nan("")), InvalidArgument);
  CHECK_THROWS_AS(Layered({Layer{}}, {}), InvalidArgument);
  Layer gaussian{Unit::gaussian(), two, Eigen::VectorXd::Ones(2)},
      hidden{Unit::bernoulli(), three, {}};
  CHECK_NOTHROW(Layered({gaussian, hidden}, {weights}));
  CHECK_THROWS_AS(Layered({gaussian, hidden}, {}), InvalidArgument);
  for (const double wrong : {0.0, -1.0, std::numeric_limits<double>::infinity(), std::nan("")}) {
    gaussian.sigma0[1] = wrong;
    CHECK_THROWS_AS(Layered({gaussian, hidden}, {weights}), InvalidArgument);
  }
  hidden.sigma0 = three;
  CHECK_THROWS_AS(Layered({Layer{Unit::bernoulli(), two, {}}, hidden}, {weights}), InvalidArgument);
}

TEST_CASE("states of other shapes and temperatures outside [0, 1] are refused") {
  const Layered model =
      Layered::rbm(Eigen::MatrixXd::Zero(2, 3), Eigen::VectorXd::Zero(2), Eigen::VectorXd::Zero(3));
  CHECK_THROWS_AS(energy(model, {Eigen::VectorXd::Zero(2)}), InvalidArgument);
  CHECK_THROWS_AS(energy(model, {Eigen::VectorXd::Zero(2), Eigen::VectorXd::Zero(2)}),
                  InvalidArgument);
  const Base base = Base::uniform(model);
  for (const double b : {-0.1, 1.1, std::nan("")}) {
    CHECK_THROWS_AS(tempered(model, base, b), InvalidArgument);
  }
}

TEST_CASE("a base of other sizes or of logits that are not finite is refused by its layer") {
  const Layered model =
      Layered::rbm(Eigen::MatrixXd::Zero(3, 2), Eigen::VectorXd::Zero(3), Eigen::VectorXd::Zero(2));
  for (const double wrong : {std::numeric_limits<double>::infinity(), std::nan("")}) {
    Base base = Base::uniform(model);
    base.logits[0][0] = wrong;
    CHECK_THROWS_WITH(log_normaliser(model, base), Catch::Contains("logits of layer 0"));
  }
  Base base = Base::uniform(model);
  base.logits[0].conservativeResize(2);
  CHECK_THROWS_AS(log_normaliser(model, base), InvalidArgument);
  CHECK_THROWS_AS(tempered(model, base, 0.5), InvalidArgument);
}

TEST_CASE("a base has the means that it is made for, near the ends of a unit's range too") {
  for (const Unit unit :
       {Unit::bernoulli(), Unit::multivalued(1), Unit::multivalued(100), Unit::continuous()}) {
    const Layer layer{unit, Eigen::VectorXd::Zero(1), {}};
    const Layered model({layer, layer}, {Eigen::MatrixXd::Zero(1, 1)});
    for (const double share : {1e-30, 1e-9, 0.01, 0.5, 0.99, 0.999999}) {
      const double mean = unit.lowest() + share * (unit.highest() - unit.lowest());
      if (mean == unit.lowest()) continue;  // rounded to it
      const Base base = Base::of_means(
          model, {Eigen::VectorXd::Constant(1, mean), Eigen::VectorXd::Constant(1, mean)});
      INFO(unit.name() << " " << share);
      CHECK(mean_value(unit, base.logits[0][0]) == Approx(mean).epsilon(1e-9));
    }
  }
  // coth x - 1 / x is 0.99 at x = 100.
  const Layer layer{Unit::continuous(), Eigen::VectorXd::Zero(1), {}};
  const Layered model({layer, layer}, {Eigen::MatrixXd::Zero(1, 1)});
  const Eigen::VectorXd mean = Eigen::VectorXd::Constant(1, 0.99);
  CHECK(Base::of_means(model, {mean, mean}).logits[1][0] == Approx(100).epsilon(1e-9));
}
