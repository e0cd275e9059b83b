// Training with fast weights (FPCD): they serve the negative phase, and nothing else.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "boltzmark/learn/trainer.hpp"
#include "boltzmark/random/stream.hpp"
#include "boltzmark/sample/chains/persistent_chains.hpp"
#include "boltzmark/transition/statistics.hpp"
#include "verification/checks/check_cases.hpp"

using namespace boltzmark;

namespace {

const std::vector<int> kShapes[] = {{9, 5}, {9, 5, 4}};

Eigen::MatrixXf fast_cases() {
  Stream stream(make_key(3, "fast weights"), Purpose::test);
  return draw_states(stream, Unit::bernoulli(), 9, 40);
}

Negative fast_phase(const char* rate, const char* decay = "0.95") {
  Negative negative = Negative::fpcd(1);
  if (rate != nullptr) set_negative_option(negative, "--fast-rate", rate);
  set_negative_option(negative, "--fast-decay", decay);
  return negative;
}

Trainer fast_trainer(const std::vector<int>& sizes, const Eigen::MatrixXf& data,
                     const Negative& negative, double weight_decay = 0) {
  return Trainer(
      initial_network(sizes, 0.3, make_key(5)), data,
      {.negative = negative, .learning_rate = 0.05, .weight_decay = weight_decay, .batch = 20},
      make_key(1));
}

const Parameters& fast_of(const Trainer& trainer) {
  return dynamic_cast<const FastWeights&>(trainer.sampler()).fast();
}

double largest_gap(const Parameters& a, const Parameters& b) {
  double worst = 0;
  for (std::size_t l = 0; l < a.weights.size(); ++l)
    worst = std::max(worst, (a.weights[l] - b.weights[l]).cwiseAbs().maxCoeff());
  for (std::size_t l = 0; l < a.biases.size(); ++l)
    worst = std::max(worst, (a.biases[l] - b.biases[l]).cwiseAbs().maxCoeff());
  return worst;
}

Parameters parameters_of(const Layered& model) {
  Parameters parameters = model.zero_parameters();
  parameters.weights = model.weights();
  for (int l = 0; l < model.layers(); ++l) parameters.biases[l] = model.bias(l);
  return parameters;
}

// The last update's gradient, with the positive phase under one model, the negative under another.
Parameters expected_gradient(const Trainer& trainer, const Eigen::MatrixXf& data,
                             const Layered& positive, const Layered& negative) {
  Parameters gradient = positive.zero_parameters();
  Chains cases(positive, static_cast<int>(trainer.cases().size()));
  Eigen::MatrixXf visible(data.rows(), cases.chains());
  for (int c = 0; c < cases.chains(); ++c)
    visible.col(c) = data.col(trainer.cases()[static_cast<std::size_t>(c)]);
  cases.set_layer(0, visible);
  if (positive.is_rbm())
    set_means(PackedModel(positive), cases, 1);
  else
    MeanField(positive).fill(cases);
  add_statistics(cases, {}, 1.0 / cases.chains(), gradient);
  Chains drawn = trainer.negative();
  subtract_weighted_negative(PackedModel(negative), {}, drawn, gradient);
  return gradient;
}

}  // namespace

TEST_CASE("FPCD at rate 0 is PCD, byte for byte") {
  const Eigen::MatrixXf data = fast_cases();
  for (const std::vector<int>& sizes : kShapes) {
    Trainer fast = fast_trainer(sizes, data, fast_phase("0"));
    Trainer plain = fast_trainer(sizes, data, Negative::pcd(1));
    fast.advance(30);
    plain.advance(30);
    CHECK(largest_gap(parameters_of(fast.model()), parameters_of(plain.model())) == 0);
    Trainer moved = fast_trainer(sizes, data, fast_phase("0.1"));
    moved.advance(30);
    CHECK(largest_gap(parameters_of(moved.model()), parameters_of(plain.model())) > 0);
  }
}

TEST_CASE(
    "FPCD's gradient has its cases under the model and its negative phase under fast weights") {
  const Eigen::MatrixXf data = fast_cases();
  for (const std::vector<int>& sizes : kShapes) {
    Trainer trainer = fast_trainer(sizes, data, fast_phase("1"));
    trainer.advance(10);
    const Layered model = trainer.model();
    Layered sum = model;
    sum.add(fast_of(trainer), 1);
    trainer.step();
    // Means are within 2^-20 of the law's, of inputs summed in another order at most.
    CHECK(largest_gap(trainer.gradient(), expected_gradient(trainer, data, model, sum)) < 1e-5);
    CHECK(largest_gap(trainer.gradient(), expected_gradient(trainer, data, model, model)) > 1e-3);
    CHECK(largest_gap(trainer.gradient(), expected_gradient(trainer, data, sum, sum)) > 1e-3);
  }
}

TEST_CASE("fast weights follow the gradient without weight decay and never enter the model") {
  const Eigen::MatrixXf data = fast_cases();
  for (const std::vector<int>& sizes : kShapes) {
    constexpr double kDecay = 0.1;
    Trainer trainer = fast_trainer(sizes, data, fast_phase("0.5", "0.75"), kDecay);
    Parameters expected = trainer.model().zero_parameters();
    Layered model = trainer.model();
    for (int update = 0; update < 10; ++update) {
      trainer.step();
      for (std::size_t l = 0; l < expected.weights.size(); ++l)
        expected.weights[l] =
            0.75 * expected.weights[l] +
            0.5 * (trainer.gradient().weights[l] + kDecay * model.weights(static_cast<int>(l)));
      for (std::size_t l = 0; l < expected.biases.size(); ++l)
        expected.biases[l] = 0.75 * expected.biases[l] + 0.5 * trainer.gradient().biases[l];
      CHECK(largest_gap(fast_of(trainer), expected) < 1e-12);
      model.add(trainer.gradient(), 0.05);
      CHECK(largest_gap(parameters_of(trainer.model()), parameters_of(model)) == 0);
    }
  }
}

TEST_CASE("fast weights learn at the model's first rate unless they are given one") {
  const Eigen::MatrixXf data = fast_cases();
  const auto trained = [&](const char* rate, const char* decay) {
    Trainer trainer = fast_trainer({9, 5}, data, fast_phase(rate, decay));
    trainer.advance(5);
    return parameters_of(trainer.model());
  };
  CHECK(largest_gap(trained(nullptr, "0.95"), trained("0.05", "0.95")) == 0);
  CHECK(largest_gap(trained(nullptr, "0.95"), trained("0.5", "0.95")) > 0);
  CHECK(largest_gap(trained(nullptr, "0.95"), trained("0.05", "0.5")) > 0);
  CHECK(fast_phase("0.5").description() == "fpcd:1 --fast-rate 0.5");
  CHECK(fast_phase(nullptr, "1").description() == "fpcd:1 --fast-decay 1");
}

TEST_CASE("a checkpoint holds the fast weights") {
  const Eigen::MatrixXf data = fast_cases();
  Trainer trainer = fast_trainer({9, 5}, data, fast_phase("1"));
  trainer.advance(7);
  Trainer resumed = fast_trainer({9, 5}, data, fast_phase("1"));
  resumed.restore(trainer.checkpoint());
  CHECK(magnitude(fast_of(trainer)) > 0);
  CHECK(largest_gap(fast_of(trainer), fast_of(resumed)) == 0);
}

TEST_CASE("fast weights refuse rates and decays outside their range") {
  const Layered model = initial_rbm(3, 2, 0.1, make_key(5));
  const SamplerSetup setup{.model = model, .packing = {.chains = 2}, .key = make_key(1)};
  for (const double rate : {-0.1, std::nan(""), std::numeric_limits<double>::infinity()})
    CHECK_THROWS_AS(FastWeights(setup, rate, 0.95), InvalidArgument);
  for (const double decay : {-0.1, 1.1, std::nan("")})
    CHECK_THROWS_AS(FastWeights(setup, 0.1, decay), InvalidArgument);
  Negative negative = Negative::fpcd(1);
  for (const char* rate : {"-0.1", "nan", "inf", "x", "", "0.1x"})
    CHECK_THROWS_AS(set_negative_option(negative, "--fast-rate", rate), InvalidArgument);
  for (const char* decay : {"-0.1", "nan", "1.1", ""})
    CHECK_THROWS_AS(set_negative_option(negative, "--fast-decay", decay), InvalidArgument);
  Negative plain = Negative::pcd(1);
  CHECK_THROWS_AS(set_negative_option(plain, "--fast-rate", "0.1"), InvalidArgument);
  CHECK_THROWS_AS(set_negative_option(plain, "--fast-decay", "0.5"), InvalidArgument);
  CHECK_THROWS_AS(set_negative_option(plain, "--every", "2"), InvalidArgument);
}
