// Adam, AdaMax and Xavier initialisation against their definitions, number by number.
#include "boltzmark/learn/ascent/optimiser.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/learn/initial.hpp"
#include "boltzmark/learn/trainer.hpp"
#include "boltzmark/random/stream.hpp"

using namespace boltzmark;

namespace {

Parameters shapes() {
  return {.weights = {Eigen::MatrixXd::Zero(3, 2), Eigen::MatrixXd::Zero(2, 4)},
          .biases = {Eigen::VectorXd::Zero(2), Eigen::VectorXd::Zero(4)}};
}

template <class Body>
void for_each_value(const Parameters& a, const Parameters& b, const Body& body) {
  for (std::size_t l = 0; l < a.weights.size(); ++l)
    for (Eigen::Index i = 0; i < a.weights[l].size(); ++i)
      body(a.weights[l].data()[i], b.weights[l].data()[i]);
  for (std::size_t l = 0; l < a.biases.size(); ++l)
    for (Eigen::Index i = 0; i < a.biases[l].size(); ++i)
      body(a.biases[l].data()[i], b.biases[l].data()[i]);
}

void fill_normals(Parameters& values, std::uint64_t index) {
  Stream stream(make_key(11), Purpose::test, index);
  for (Eigen::MatrixXd& weights : values.weights)
    for (double& value : weights.reshaped()) value = stream.normal();
  for (Eigen::VectorXd& biases : values.biases)
    for (double& value : biases.reshaped()) value = stream.normal();
}

/// One parameter's history, as the authors' algorithms 1 and 2 have it.
struct Scalar {
  double m = 0, v = 0, u = 0;
  int t = 0;
  double adam(double g, double rate) {
    ++t;
    m = 0.9 * m + 0.1 * g;
    v = 0.999 * v + 0.001 * g * g;
    return rate * (m / (1 - std::pow(0.9, t))) / (std::sqrt(v / (1 - std::pow(0.999, t))) + 1e-8);
  }
  double adamax(double g, double rate) {
    ++t;
    m = 0.9 * m + 0.1 * g;
    u = std::max(0.999 * u, std::abs(g));
    return rate / (1 - std::pow(0.9, t)) * m / u;
  }
};

}  // namespace

// A step is some 10 roundings of numbers that do not cancel but in m, whose terms are below 3.
TEST_CASE("steps of Adam and AdaMax are those of the authors' algorithms") {
  for (const Optimiser& optimiser : {Optimiser::adam(), Optimiser::adamax()}) {
    INFO(optimiser.name());
    const auto steps = start_steps(optimiser, 0.01, shapes());
    std::vector<Scalar> scalars(24);
    for (std::uint64_t t = 0; t < 200; ++t) {
      Parameters gradient = shapes();
      fill_normals(gradient, t);
      auto scalar = scalars.begin();
      for_each_value(steps->step(gradient).direction, gradient, [&](double step, double g) {
        const double expected =
            optimiser == Optimiser::adam() ? scalar->adam(g, 0.01) : scalar->adamax(g, 0.01);
        ++scalar;
        CHECK(std::abs(step - expected) < 1e-15);
      });
    }
  }
}

TEST_CASE("the first step of Adam and AdaMax is the rate, whatever the size of the gradient") {
  for (const Optimiser& optimiser : {Optimiser::adam(), Optimiser::adamax()})
    for (const double size : {1e-3, 1.0, 1e6}) {
      Parameters gradient = shapes();
      fill_normals(gradient, 1);
      for (Eigen::MatrixXd& weights : gradient.weights) weights *= size;
      for (Eigen::VectorXd& biases : gradient.biases) biases *= size;
      const auto steps = start_steps(optimiser, 0.5, shapes());
      for_each_value(steps->step(gradient).direction, gradient, [&](double step, double g) {
        // Adam's epsilon takes 1e-8 / |g| off.
        CHECK(std::abs(step - std::copysign(0.5, g)) <= 0.5e-8 / std::abs(g) + 1e-15);
      });
    }
}

TEST_CASE("a parameter that never had a gradient stays where it is") {
  for (const Optimiser& optimiser : {Optimiser::adam(), Optimiser::adamax()}) {
    const auto steps = start_steps(optimiser, 0.5, shapes());
    Parameters gradient = shapes();
    for (int t = 0; t < 3; ++t) {
      gradient.weights[0](0, 0) = t;
      const Parameters& step = steps->step(gradient).direction;
      CHECK(step.weights[0](1, 1) == 0);
      CHECK(step.biases[1].isZero(0));
    }
  }
}

TEST_CASE("optimisers refuse settings outside their range and gradients of other shapes") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double rate : {0.0, -1.0, nan})
    CHECK_THROWS_AS(start_steps(Optimiser::adam(), rate, shapes()), InvalidArgument);
  for (const Optimiser& bad : {Optimiser{.kind = Optimiser::Kind::adam, .mean_decay = 1},
                               Optimiser{.kind = Optimiser::Kind::adam, .scale_decay = -0.1},
                               Optimiser{.kind = Optimiser::Kind::adam, .epsilon = 0}})
    CHECK_THROWS_AS(start_steps(bad, 0.1, shapes()), InvalidArgument);
  const auto steps = start_steps(Optimiser::adam(), 0.1, shapes());
  Parameters gradient = shapes();
  gradient.weights[1].resize(4, 2);
  CHECK_THROWS_AS(steps->step(gradient), InvalidArgument);
  for (const Optimiser& optimiser : {Optimiser::sgd(), Optimiser::adam(), Optimiser::adamax()})
    CHECK(parse_optimiser(optimiser.name()) == optimiser);
  CHECK_THROWS_AS(parse_optimiser("rmsprop"), InvalidArgument);
}

TEST_CASE("the rate that an optimiser has by default is its authors', and 0.05 of plain ascent") {
  CHECK(Optimiser::sgd().default_rate() == 0.05);
  CHECK(Optimiser::adam().default_rate() == 0.001);
  CHECK(Optimiser::adamax().default_rate() == 0.002);
  CHECK(Optimiser::rms_spectral().default_rate() == 1e-5);
}

TEST_CASE("a trainer adds the optimiser's step of its gradient, and resumes with its moments") {
  Eigen::MatrixXf data(4, 6);
  data << 1, 0, 1, 1, 0, 0, 0, 0, 1, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 1, 0, 1, 1, 0;
  for (Optimiser optimiser : {Optimiser::adam(), Optimiser::adamax()}) {
    optimiser.rate_decay = 2;
    const TrainOptions options{.optimiser = optimiser, .learning_rate = 0.02, .batch = 3};
    const Layered start = initial_rbm(4, 3, 0.1, make_key(2));
    Trainer trainer(start, data, options, make_key(1));
    const auto steps = start_steps(optimiser, 0.02, start.zero_parameters());
    Layered model = start;
    for (int t = 0; t < 10; ++t) {
      trainer.step();
      model.add(steps->step(trainer.gradient()).direction, 2.0 / (2 + t));
      CHECK(model.weights(0) == trainer.model().weights(0));
      CHECK(model.bias(1) == trainer.model().bias(1));
    }
    Trainer resumed(start, data, options, make_key(1));
    resumed.restore(trainer.checkpoint());
    trainer.step();
    resumed.step();
    CHECK(resumed.model().weights(0) == trainer.model().weights(0));
    CHECK(resumed.checkpoint() == trainer.checkpoint());
    Trainer stranger(start, data, {.learning_rate = 0.02, .batch = 3}, make_key(1));
    CHECK_THROWS_AS(stranger.restore(trainer.checkpoint()), DataError);
  }
}

TEST_CASE("RMSspectral goes on with its mean squares") {
  const Eigen::MatrixXf data = Eigen::MatrixXf::Identity(4, 4);
  const Layered start = initial_rbm(4, 3, 0.1, make_key(2));
  const auto begin = [&] {
    return Trainer(start, data,
                   {.optimiser = Optimiser::rms_spectral(), .learning_rate = 0.01, .batch = 2},
                   make_key(1));
  };
  Trainer whole = begin(), resumed = begin();
  for (int t = 0; t < 5; ++t) whole.step();
  resumed.restore(whole.checkpoint());
  whole.step();
  resumed.step();
  CHECK(resumed.model().weights(0) == whole.model().weights(0));
  CHECK(resumed.model().bias(1) == whole.model().bias(1));
  CHECK(resumed.checkpoint() == whole.checkpoint());
}

TEST_CASE("Xavier's weights are drawn anew between every two layers") {
  const Layered deep = xavier_network(std::array{3, 4, 5}, make_key(1));
  const Eigen::VectorXd first = deep.weights(0).reshaped() / std::sqrt(6.0 / 7),
                        second = deep.weights(1).reshaped().head(12) / std::sqrt(6.0 / 9);
  CHECK(first.cwiseAbs().maxCoeff() < 1);
  CHECK((first - second).cwiseAbs().minCoeff() > 1e-6);
}

// Of n draws uniform within the bound, the largest lies within 20/n of it but for e^-20, and the
// mean square within 5 standard errors, 5 sqrt(4/45 / n) of bound^2.
TEST_CASE("Xavier's weights fill the interval of Glorot and Bengio, and biases are zero") {
  const auto check = [](const Eigen::MatrixXd& weights, double bound) {
    const auto n = static_cast<double>(weights.size());
    const double largest = weights.cwiseAbs().maxCoeff();
    CHECK(largest < bound);
    CHECK(largest > bound * (1 - 20 / n));
    CHECK(std::abs(weights.squaredNorm() / n - bound * bound / 3) <
          5 * std::sqrt(4.0 / 45 / n) * bound * bound);
  };
  const Layered rbm = xavier_rbm(300, 100, make_key(1),
                                 {.visible = Unit::multivalued(1), .hidden = Unit::continuous()});
  check(rbm.weights(0), std::sqrt(6.0 / 400));
  CHECK(rbm.bias(0).isZero(0));
  CHECK(rbm.bias(1).isZero(0));
  CHECK(rbm.layer(1).unit == Unit::continuous());
  const DiscriminativeRbm classes =
      xavier_discriminative(Unit::multivalued(4), 200, 50, 40, make_key(1));
  check(classes.input_weights(), std::sqrt(6.0 / 250));
  check(classes.class_weights(), std::sqrt(6.0 / 90));
  CHECK(classes.hidden_bias().isZero(0));
  CHECK(classes.class_bias().isZero(0));
  CHECK(classes.hidden_unit() == Unit::multivalued(4));
  CHECK_THROWS_AS(xavier_rbm(0, 1, make_key(1)), InvalidArgument);
  CHECK_THROWS_AS(xavier_discriminative(Unit::bernoulli(), 2, 2, 1, make_key(1)), InvalidArgument);
}

TEST_CASE("the shapes that an optimiser is made with are shapes alone, whatever their values") {
  Parameters ones = shapes();
  for (Eigen::MatrixXd& weights : ones.weights) weights.setOnes();
  for (Eigen::VectorXd& biases : ones.biases) biases.setOnes();
  for (const Optimiser& kind : {Optimiser::adam(), Optimiser::adamax()}) {
    const auto from_ones = start_steps(kind, 0.5, ones),
               from_zeros = start_steps(kind, 0.5, shapes());
    for_each_value(from_ones->step(ones).direction, from_zeros->step(ones).direction,
                   [](double a, double b) { CHECK(a == b); });
  }
}
