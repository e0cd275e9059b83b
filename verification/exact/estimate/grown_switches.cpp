// Rare units that hold something together only when there are many of them, whichever value each is usually at.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <utility>
#include <vector>

#include "boltzmark/core/numeric.hpp"
#include "boltzmark/estimate/held/rare_switches.hpp"
#include "boltzmark/estimate/held/switches.hpp"
#include "verification/exact/support/gates.hpp"

using namespace boltzmark;
using namespace gates;

namespace {

// The same model with some units of the first hidden layer in the other sense: 1 - h in place of h.
Layered turned(const Layered& model, const std::vector<bool>& turns) {
  std::vector<Layer> layers;
  for (int l = 0; l < model.layers(); ++l) layers.push_back(model.layer(l));
  std::vector<Eigen::MatrixXd> weights = model.weights();
  for (Eigen::Index j = 0; j < model.size(1); ++j) {
    if (!turns[static_cast<std::size_t>(j)]) continue;
    layers[0].bias += weights[0].col(j);
    weights[0].col(j) *= -1;
    layers[1].bias[j] *= -1;
    if (model.layers() < 3) continue;
    layers[2].bias += weights[1].row(j).transpose();
    weights[1].row(j) *= -1;
  }
  return {std::move(layers), std::move(weights)};
}

// The same RBM with 2 h - 1 in place of h.
Layered of_spins(const Layered& model) {
  return {{Layer{Unit::bernoulli(), model.bias(0) + model.weights(0).rowwise().sum() / 2, {}},
           Layer{Unit::multivalued(1), model.bias(1) / 2, {}}},
          {model.weights(0) / 2}};
}

// Samples with no hidden unit on but those that were turned.
Chains ground(const Layered& model, const std::vector<bool>& turns) {
  Chains states(model, 100);
  states.randomise(make_key(9, "ground"));
  const Unit unit = model.layer(1).unit;
  for (int n = 0; n < states.chains(); ++n)
    for (int j = 0; j < model.size(1); ++j)
      states.set(
          1, j, n,
          static_cast<float>(turns[static_cast<std::size_t>(j)] ? unit.highest() : unit.lowest()));
  return states;
}

constexpr int kBlocks = 12, kUnits = 5, kShared = 3;  // visible units of every two hidden ones
constexpr int kPairs = kUnits * (kUnits - 1) / 2, kVisible = kPairs * kShared;
constexpr double kBias = -6.2, kWeight = 4.2;

// Nats of so many hidden units of a block on, against none: pairs of both, of one.
double block_nats(int on, double bias) {
  const auto gained = [](int of_two) {
    return softplus(kBias + of_two * kWeight) - softplus(kBias);
  };
  return on * bias + kShared * (on * (on - 1) / 2 * gained(2) + on * (kUnits - on) * gained(1));
}

Layered blocks_model() {
  const double bias = (std::log(kOn) - block_nats(kUnits, 0)) / kUnits;
  Eigen::MatrixXd w = Eigen::MatrixXd::Zero(kBlocks * kVisible, kBlocks * kUnits);
  for (int p = 0; p < kBlocks; ++p)
    for (int j = 0, pair = 0; j < kUnits; ++j)
      for (int k = 0; k < j; ++k, ++pair)
        for (const int unit : {j, k})
          w.col(p * kUnits + unit)
              .segment(p * kVisible + pair * kShared, kShared)
              .setConstant(kWeight);
  return Layered::rbm(w, Eigen::VectorXd::Constant(w.rows(), kBias),
                      Eigen::VectorXd::Constant(w.cols(), bias));
}

// Those blocks below a layer that moves with them, and makes of each as much as before.
Layered deep_blocks_model() {
  constexpr int kTop = 4;
  constexpr double kOfTop = 0.1;
  const Layered below = blocks_model();
  const double gained = kTop * (softplus(kUnits * kOfTop) - softplus(0.0));
  return {{below.layer(0), Layer{Unit::bernoulli(), below.bias(1).array() - gained / kUnits, {}},
           Layer{Unit::bernoulli(), Eigen::VectorXd::Zero(kTop), {}}},
          {below.weights(0), Eigen::MatrixXd::Constant(below.size(1), kTop, kOfTop)}};
}

// Holds what is found of blocks whose units are usually off, or on where they are turned; returns by how much
// the inputs of each block's units change on the way.
std::vector<double> check_blocks(const Layered& model, const std::vector<bool>& turns) {
  Chains states = ground(model, turns);
  for (int n = 0; n < states.chains(); ++n)
    for (int i = 0; i < model.size(0); ++i) states.set(0, i, n, 0);
  const NumberedSides even(model, 0), odd(model, 1);
  const Unit kind = model.layer(1).unit;
  std::vector<double> changes;
  for (const RareSwitch& of :
       rare_switches(even, odd, samples_of(model, {.states = {states}})).likely) {
    if (of.units.size() != kUnits) continue;
    changes.push_back(of.change);
    CHECK(of.likely == Approx(std::log(kOn)).margin(0.02));
    for (std::size_t k = 0; k < kUnits; ++k) {
      CHECK(of.units[k] / kUnits == of.units[0] / kUnits);
      const SwitchedUnit unit = unit_of(of.of, k);
      const bool is_turned = turns[static_cast<std::size_t>(of.units[k])];
      CHECK(unit.unit == model.size(0) + of.units[k]);
      CHECK(unit.from == (is_turned ? kind.highest() : kind.lowest()));
      CHECK(unit.to == (is_turned ? kind.lowest() : kind.highest()));
    }
  }
  CHECK(changes.size() == kBlocks);
  const Switches found = switch_units(model, {.states = {states}}, make_key(9, "switches"));
  double mass = 0;  // of the blocks alone: visible units have some as well
  for (const UnitSwitch& of : found.units)
    if (of.others.size() + 1 == kUnits) mass += of.share * std::exp(of.log_ratio);
  CHECK(mass == Approx(kBlocks * kOn).epsilon(0.3));
  CHECK(refuses(found));
  return changes;
}

}  // namespace

TEST_CASE("what many units hold together is found, though the weights of no two are alike") {
  const Layered blocks = blocks_model();
  const Eigen::MatrixXd& w = blocks.weights(0);
  CHECK(block_nats(3, blocks.bias(1)[0]) < -15);  // between
  CHECK(w.col(0).dot(w.col(1)) < 0.3 * w.col(0).squaredNorm());
  const std::vector<bool> none(kBlocks * kUnits, false);
  std::vector<bool> some = none;
  for (std::size_t j = 0; j < some.size(); j += 3) some[j] = true;
  const std::vector<double> change = check_blocks(blocks, none);
  // Which sense a unit has changes nothing, the nats by which inputs change among it.
  const std::vector<double> turned_change = check_blocks(turned(blocks, some), some);
  REQUIRE(turned_change.size() == change.size());
  for (std::size_t p = 0; p < change.size(); ++p)
    CHECK(turned_change[p] == Approx(change[p]).epsilon(1e-3));
  check_blocks(of_spins(blocks), none);
  check_blocks(deep_blocks_model(), none);
  check_blocks(turned(deep_blocks_model(), some), some);
}

TEST_CASE("groups of one unit and as many others draw their own") {
  RareSwitch one, other;
  one.numbers = {3, 5};
  other.numbers = {3, 7};
  CHECK(draws_of(one) == "3 5");
  CHECK(draws_of(other) != draws_of(one));
  other.numbers = {35};  // nor are two units one
  CHECK(draws_of(other) != draws_of(one));
}

TEST_CASE(
    "units whose weights are opposite are alike where they go opposite ways, of however many pairs") {
  // More pairs than are computed, so that weights alone tell.
  constexpr int kPatterns = 210, kOfEach = 8, kIdle = 2;  // the latter without weights, and off
  const double gained = softplus(2 * kWeight) - softplus(0.0);
  Eigen::MatrixXd w = Eigen::MatrixXd::Zero(kPatterns * kOfEach, 2 * kPatterns + kIdle);
  std::vector<bool> turns;
  for (int p = 0; p < kPatterns; ++p) {
    for (const int copy : {0, 1})
      w.col(2 * p + copy).segment(p * kOfEach, kOfEach).setConstant(kWeight);
    turns.insert(turns.end(), {false, p % 2 == 0});
  }
  turns.resize(turns.size() + kIdle, false);
  Eigen::VectorXd c = Eigen::VectorXd::Constant(w.cols(), (std::log(kOn) - kOfEach * gained) / 2);
  c.tail(kIdle).setConstant(-12);
  const Layered model = turned(Layered::rbm(w, Eigen::VectorXd::Zero(w.rows()), c), turns);
  const NumberedSides even(model, 0), odd(model, 1);
  int pairs = 0;
  for (const RareSwitch& of :
       rare_switches(even, odd, samples_of(model, {.states = {ground(model, turns)}})).likely) {
    if (of.units.size() != 2) continue;
    ++pairs;
    CHECK(of.units[0] / 2 == of.units[1] / 2);
    CHECK(of.likely == Approx(std::log(kOn)).margin(0.02));
  }
  CHECK(pairs == kPatterns);
}
