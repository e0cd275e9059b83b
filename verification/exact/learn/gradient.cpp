// The gradients of the production trainer, averaged over every point of a lattice of draws, are the
// enumerated expectations. All inputs are multiples of log 2, so that all probabilities are
// multiples of 1/lattice (scripts::middle).
#include <catch2/catch.hpp>
#include <cmath>
#include <memory>
#include <numbers>
#include <utility>

#include "boltzmark/learn/trainer.hpp"
#include "boltzmark/sample/chains/persistent_chains.hpp"
#include "verification/exact/support/learn_scripts.hpp"

using namespace boltzmark;

namespace {

// The visible means are sums of 0 and 1: exact up to the rounding of rate * sum in double.
constexpr double kVisibleTolerance = 1e-12;
// The others sum float32 probabilities, 256 at a time: relative error below 255 * 2^-24 = 1.6e-5,
// plus that of a float32 probability, 1e-6.
constexpr double kHiddenTolerance = 2e-5;

// Inputs of h: -log 2, 0, 0, log 2 (two ties); of v: -log 2, 0 and 0, log 2. Gibbs has
// probabilities 1/3, 1/2, 2/3 there, flip 0, 1/2, 1.
oracle::SmallRbm lattice_rbm() {
  const double l = std::numbers::ln2;
  oracle::SmallRbm rbm{Eigen::MatrixXd(2, 1), Eigen::VectorXd(2), Eigen::VectorXd(1)};
  rbm.weights << l, l;
  rbm.visible_bias << -l, 0;
  rbm.hidden_bias << -l;
  return rbm;
}

void check_gradient(const Parameters& gradient, const oracle::Means& data,
                    const oracle::Means& model) {
  const auto difference = [](const auto& a, const auto& b) {
    return (a - b).cwiseAbs().maxCoeff();
  };
  CHECK(difference(gradient.biases[0], data.visible - model.visible) < kVisibleTolerance);
  CHECK(difference(gradient.biases[1], data.hidden - model.hidden) < kHiddenTolerance);
  CHECK(difference(gradient.weights[0], data.weights - model.weights) < kHiddenTolerance);
}

// Draws by which a chain takes the path of its number, again and again in the order of chains.
std::shared_ptr<scripts::FunctionDraws> path_draws(const oracle::SmallRbm& rbm, std::uint64_t paths,
                                                   std::uint64_t base) {
  return std::make_shared<scripts::FunctionDraws>(
      [=](std::uint32_t layer, std::uint32_t unit, std::uint32_t chain, std::uint64_t sweep) {
        const std::uint64_t place = scripts::decision(rbm, layer, unit, sweep);
        return scripts::middle(scripts::digit(chain % paths, base, place), base);
      });
}

// All four cases, each with every path of the k-step chain.
void check_cd(const Rule& rule, double flip, int k, std::uint64_t base) {
  const oracle::SmallRbm rbm = lattice_rbm();
  const std::uint64_t paths = scripts::power(base, static_cast<std::uint64_t>(3 * k));
  Eigen::MatrixXf data(2, 4 * paths);
  Eigen::VectorXd data_law = Eigen::VectorXd::Zero(8), law = Eigen::VectorXd::Zero(8);
  for (int v = 0; v < 4; ++v) {
    data.middleCols(v * paths, paths).row(0).setConstant(static_cast<float>(v & 1));
    data.middleCols(v * paths, paths).row(1).setConstant(static_cast<float>(v >> 1));
    data_law[v] = 0.25;
    law += 0.25 * oracle::cd_law(rbm, v, {.flip = flip}, k);
  }
  Trainer trainer(scripts::production(rbm), data,
                  {.negative = Negative::cd(k), .rule = rule, .learning_rate = 0}, {},
                  path_draws(rbm, paths, base));
  trainer.step();
  check_gradient(trainer.gradient(), oracle::means(rbm, data_law), oracle::means(rbm, law));
}

}  // namespace

TEST_CASE("the mean CD-1 gradient over all draws is the enumerated expectation") {
  SECTION("Gibbs") { check_cd(Rule::gibbs(), 0, 1, 6); }
  SECTION("flip") { check_cd(Rule::flip(), 1, 1, 6); }
  SECTION("blend") { check_cd(Rule::blended(0.5), 0.5, 1, 12); }
}

TEST_CASE("the mean CD-2 gradient over all draws is the enumerated expectation") {
  SECTION("Gibbs") { check_cd(Rule::gibbs(), 0, 2, 6); }
  SECTION("flip") { check_cd(Rule::flip(), 1, 2, 6); }
}

TEST_CASE("PCD-2 continues its chains with the hidden states that they had") {
  // Flip's probabilities are 0, 1/2, 1 here: 2^12 paths of two updates from each of 8 states.
  const oracle::SmallRbm rbm = lattice_rbm();
  const int paths = 1 << 12;
  const Eigen::MatrixXf data = Eigen::MatrixXf::Ones(2, 8 * paths);
  const auto draws = path_draws(rbm, paths, 2);
  const Layered model = scripts::production(rbm);
  auto sampler = std::make_unique<PersistentChains>(SamplerSetup{
      .model = model, .packing = {.chains = 8 * paths}, .rule = Rule::flip(), .draws = draws});
  // A start far from the model's law, so that four sweeps do not forget it.
  Eigen::VectorXd law = Eigen::VectorXd::Zero(8);
  for (int c = 0; c < 8 * paths; ++c) {
    const int state = c / paths < 6 ? 3 : 5;  // v = (1,1), h = 0 and v = (1,0), h = 1
    law[state] += 1.0 / (8.0 * paths);
    for (int i = 0; i < 2; ++i) sampler->states().set(0, i, c, static_cast<float>(state >> i & 1));
    sampler->states().set(1, 0, c, static_cast<float>(state >> 2));
  }
  Trainer trainer(model, data, {.negative = Negative::pcd(2), .learning_rate = 0}, {},
                  std::move(sampler));
  Eigen::VectorXd data_law = Eigen::VectorXd::Zero(8);
  data_law[3] = 1;
  const Eigen::MatrixXd matrix = oracle::sweep_matrix(rbm, {.flip = 1});
  for (int update = 1; update <= 2; ++update) {
    trainer.step();
    law = matrix.transpose() * (matrix.transpose() * law);
    check_gradient(trainer.gradient(), oracle::means(rbm, data_law), oracle::means(rbm, law));
  }
}

TEST_CASE(
    "the first draw of cases that are means is Gibbs whatever the rule, of states it is not") {
  // A rule that looks at the value now has none to start from.
  for (const char* units : {"bernoulli", "1", "2", "4"}) {
    const Unit unit = Unit::parse(units);
    Layered model = Layered::rbm(0.3 * Eigen::MatrixXd::Ones(4, 3), Eigen::VectorXd::Ones(4) / 2,
                                 Eigen::VectorXd::Ones(3) / 3);
    model = Layered({{unit, model.bias(0), {}}, {Unit::bernoulli(), model.bias(1), {}}},
                    {model.weights(0)});
    Eigen::MatrixXf means = Eigen::MatrixXf::Constant(4, 40, 0.3F),
                    states = Eigen::MatrixXf::Constant(4, 40, 1);
    states.row(0).setConstant(static_cast<float>(unit.lowest()));
    states.row(1).setConstant(static_cast<float>(unit.value(unit.steps() / 2)));
    const auto gradient = [&](const Eigen::MatrixXf& data, const Rule& rule, int k) {
      Trainer trainer(model, data,
                      {.negative = Negative::cd(k), .rule = rule, .learning_rate = 0, .batch = 40},
                      make_key(3));
      trainer.step();
      return trainer.gradient().weights[0];
    };
    INFO(units);
    for (const Rule& rule : {Rule::flip(), Rule::blended(0.5)}) {
      CHECK(gradient(means, rule, 1) == gradient(means, Rule::gibbs(), 1));
      CHECK(gradient(means, rule, 2) != gradient(means, Rule::gibbs(), 2));
      CHECK(gradient(states, rule, 1) != gradient(states, Rule::gibbs(), 1));
      // One case that is no state is enough.
      Eigen::MatrixXf mixed = states;
      mixed(3, 39) = 0.3F;
      CHECK(gradient(mixed, rule, 1) == gradient(mixed, Rule::gibbs(), 1));
    }
  }
}

TEST_CASE("with zero weights a CD gradient has the closed form of independent units") {
  Eigen::MatrixXf data(5, 7);
  for (int i = 0; i < data.size(); ++i) data.data()[i] = static_cast<float>(i * i % 3 % 2);
  Eigen::VectorXd hidden_bias(3);
  hidden_bias << -1, 0, 2;
  for (const Rule& rule : {Rule::gibbs(), Rule::flip()}) {
    Trainer trainer(Layered::rbm(Eigen::MatrixXd::Zero(5, 3), Eigen::VectorXd::LinSpaced(5, -1, 1),
                                 hidden_bias),
                    data, {.negative = Negative::cd(3), .rule = rule, .learning_rate = 0},
                    make_key(3));
    trainer.step();
    const Parameters& gradient = trainer.gradient();
    // p(h|v) = 1/(1 + e^-c) whatever v: no gradient of c, and that of W is that of a times p.
    for (int j = 0; j < 3; ++j) {
      const double p = 1 / (1 + std::exp(-hidden_bias[j]));
      CHECK(std::abs(gradient.biases[1][j]) < 1e-6);
      CHECK((gradient.weights[0].col(j) - p * gradient.biases[0]).cwiseAbs().maxCoeff() < 1e-6);
    }
    const Eigen::VectorXd expected =
        data.cast<double>().rowwise().mean() -
        trainer.negative().get_layer(0).cast<double>().rowwise().mean();
    CHECK((gradient.biases[0] - expected).cwiseAbs().maxCoeff() < 1e-12);
  }
}
