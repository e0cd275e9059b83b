// Chains of a model that was trained before: at its cases, and the trainer's own when asked for.
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "boltzmark/learn/trainer.hpp"
#include "boltzmark/sample/chains/persistent_chains.hpp"
#include "verification/exact/support/every_path.hpp"

using namespace boltzmark;

namespace {

constexpr int kBits = 6;

// Each hidden unit copies its visible one whatever is above it, and each unit of the third layer
// copies that: v given h is the case again, and the whole state is known.
Layered copying_network() {
  const auto layer = [](double bias) {
    return Layer{
        .unit = Unit::bernoulli(), .bias = Eigen::VectorXd::Constant(kBits, bias), .sigma0 = {}};
  };
  const Eigen::MatrixXd copies = 80 * Eigen::MatrixXd::Identity(kBits, kBits);
  return Layered({layer(-40), layer(-60), layer(-20)}, {copies, copies / 2});
}

// The first `count` numbers in binary.
Eigen::MatrixXf counted_cases(int count) {
  Eigen::MatrixXf cases(kBits, count);
  for (int c = 0; c < count; ++c)
    for (int u = 0; u < kBits; ++u) cases(u, c) = static_cast<float>(c >> u & 1);
  return cases;
}

std::multiset<int> numbers_of(const Eigen::MatrixXf& states) {
  std::multiset<int> numbers;
  for (int c = 0; c < states.cols(); ++c) {
    int number = 0;
    for (int u = 0; u < kBits; ++u) number += static_cast<int>(states(u, c)) << u;
    numbers.insert(number);
  }
  return numbers;
}

}  // namespace

TEST_CASE("chains at cases are at different ones, and again at them where there are no more") {
  const Layered model = copying_network();
  const Eigen::MatrixXf cases = counted_cases(10);
  GivenCases source(cases, Unit::bernoulli());
  const std::multiset<int> few =
      numbers_of(chains_at_cases(model, source, 7, make_key(1)).get_layer(0));
  CHECK(std::set<int>(few.begin(), few.end()).size() == 7);
  CHECK(*few.rbegin() < 10);
  CHECK(few != numbers_of(chains_at_cases(model, source, 7, make_key(2)).get_layer(0)));
  const Chains many = chains_at_cases(model, source, 25, make_key(1));
  const std::multiset<int> all = numbers_of(many.get_layer(0));
  for (int number = 0; number < 10; ++number) CHECK(all.count(number) == (number < 5 ? 3 : 2));
  for (const int layer : {1, 2}) CHECK(many.get_layer(layer) == many.get_layer(0));
  const Eigen::MatrixXf narrow = cases.topRows(5);
  GivenCases other(narrow, Unit::bernoulli());
  CHECK_THROWS_AS(chains_at_cases(model, other, 7, make_key(1)), InvalidArgument);
}

TEST_CASE("chains at cases have left their start on every layer") {
  // Each layer copies the one below, the surer the lower it is: what the case says goes up one in a sweep.
  std::vector<Layer> layers;
  std::vector<Eigen::MatrixXd> weights;
  for (const double bias : {-160, -240, -120, -60, -20})
    layers.push_back({Unit::bernoulli(), Eigen::VectorXd::Constant(kBits, bias), {}});
  for (const double weight : {320, 160, 80, 40})
    weights.emplace_back(weight * Eigen::MatrixXd::Identity(kBits, kBits));
  const Layered model(layers, weights);
  GivenCases source(counted_cases(10), Unit::bernoulli());
  const Chains chains = chains_at_cases(model, source, 20, make_key(1));
  for (int layer = 1; layer < 5; ++layer) CHECK(chains.get_layer(layer) == chains.get_layer(0));
}

TEST_CASE("a trainer's persistent chains start at cases only where it is asked to") {
  const Layered model = copying_network();
  const Eigen::MatrixXf cases = counted_cases(4);
  TrainOptions options{.negative = parse_negative("pcd:1"), .batch = 4, .start_at_cases = true};
  for (const char* name : {"pcd:1", "fpcd:1", "st:3:0.5", "cast:3:0.5", "tt:3:0.5", "pt:3:1"}) {
    INFO(name);
    options.negative = parse_negative(name);
    const Trainer trainer(model, cases, options, make_key(3));
    Chains states(model, trainer.sampler().chains());
    trainer.sampler().copy_states(states);
    const std::multiset<int> at = numbers_of(states.get_layer(0));
    CHECK(*at.rbegin() < 4);
    if (const auto* ladders = dynamic_cast<const PersistentLadders*>(&trainer.sampler()))
      CHECK(*numbers_of(ladders->ladders().chains().get_layer(0)).rbegin() < 4);
  }
  options = {.negative = parse_negative("pcd:1"), .batch = 4};
  options.negative.chains = 9;  // more than a batch
  options.start_at_cases = true;
  const Trainer at_cases(model, cases, options, make_key(3));
  options.start_at_cases = false;
  Trainer anywhere(model, cases, options, make_key(3));
  Chains states(model, 9);
  at_cases.sampler().copy_states(states);
  CHECK(*numbers_of(states.get_layer(0)).rbegin() < 4);
  anywhere.sampler().copy_states(states);
  CHECK(*numbers_of(states.get_layer(0)).rbegin() >= 4);
  CHECK_THROWS_AS(anywhere.restore(at_cases.checkpoint()), Error);
}

TEST_CASE("chains at drawn cases hold those of the first update") {
  const Layered model = copying_network();
  const Eigen::MatrixXf levels = Eigen::MatrixXf::Constant(kBits, 7, 0.5F);
  DrawnCases source(levels, Unit::bernoulli(), make_key(6));
  Chains drawn(model, 7);
  const std::vector<int> all = {0, 1, 2, 3, 4, 5, 6};
  source.fill(drawn, all, 0);
  CHECK(numbers_of(chains_at_cases(model, source, 7, make_key(1)).get_layer(0)) ==
        numbers_of(drawn.get_layer(0)));
}

TEST_CASE("chains at grey cases are drawn given their levels, on every SIMD path") {
  // Of 48 chains wide kernels take tables of two-valued units: levels of 1/2 are none. Inputs are
  // 4, where bits would make them 8 or 0.
  constexpr int kUnits = 200, kChains = 48;
  const Layered model = Layered::rbm(Eigen::MatrixXd::Constant(2, kUnits, 4),
                                     Eigen::VectorXd::Zero(2), Eigen::VectorXd::Zero(kUnits));
  GivenCases source(Eigen::MatrixXf::Constant(2, 3, 0.5F), Unit::bernoulli());
  const double p = 1 / (1 + std::exp(-4.0)), error = std::sqrt(p * (1 - p) / (kUnits * kChains));
  on_every_path([&] {
    const Chains chains = chains_at_cases(model, source, kChains, make_key(1));
    CHECK(std::abs(chains.get_layer(1).cast<double>().mean() - p) < 5 * error);
  });
}
