// Rare units that hold something together only when there are many of them, whichever value each is usually at.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "boltzmark/core/numeric.hpp"
#include "boltzmark/estimate/held/rare_switches.hpp"
#include "boltzmark/estimate/held/switches.hpp"
#include "verification/exact/support/gates.hpp"

using namespace boltzmark;
using namespace gates;

namespace {

// The same model with some hidden units in the other sense: 1 - h in place of h.
Layered turned(Eigen::MatrixXd w, Eigen::VectorXd b, Eigen::VectorXd c,
               const std::vector<bool>& turns) {
  for (Eigen::Index j = 0; j < c.size(); ++j) {
    if (!turns[static_cast<std::size_t>(j)]) continue;
    b += w.col(j);
    w.col(j) *= -1;
    c[j] *= -1;
  }
  return Layered::rbm(w, b, c);
}

// Samples with no hidden unit on but those that were turned.
Chains ground(const Layered& model, const std::vector<bool>& turns) {
  Chains states(model, 100);
  states.randomise(make_key(9, "ground"));
  for (int n = 0; n < states.chains(); ++n)
    for (int j = 0; j < model.size(1); ++j) states.set(1, j, n, turns[static_cast<std::size_t>(j)]);
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

}  // namespace

TEST_CASE("what many units hold together is found, though the weights of no two are alike") {
  const double bias = (std::log(kOn) - block_nats(kUnits, 0)) / kUnits;
  CHECK(block_nats(3, bias) < -15);  // between
  Eigen::MatrixXd w = Eigen::MatrixXd::Zero(kBlocks * kVisible, kBlocks * kUnits);
  for (int p = 0; p < kBlocks; ++p)
    for (int j = 0, pair = 0; j < kUnits; ++j)
      for (int k = 0; k < j; ++k, ++pair)
        for (const int unit : {j, k})
          w.col(p * kUnits + unit)
              .segment(p * kVisible + pair * kShared, kShared)
              .setConstant(kWeight);
  CHECK(w.col(0).dot(w.col(1)) < 0.3 * w.col(0).squaredNorm());
  for (const bool some : {false, true}) {
    std::vector<bool> turns(kBlocks * kUnits, false);
    for (std::size_t j = 0; j < turns.size(); ++j) turns[j] = some && j % 3 == 0;
    const Layered model = turned(w, Eigen::VectorXd::Constant(w.rows(), kBias),
                                 Eigen::VectorXd::Constant(w.cols(), bias), turns);
    Chains states = ground(model, turns);
    for (int n = 0; n < states.chains(); ++n)
      for (int i = 0; i < model.size(0); ++i) states.set(0, i, n, 0);
    const NumberedSides even(model, 0), odd(model, 1);
    int blocks = 0;
    for (const RareSwitch& of : rare_switches(even, odd, samples_of(model, {.states = {states}}))) {
      if (of.units.size() != kUnits) continue;
      ++blocks;
      CHECK(of.likely == Approx(std::log(kOn)).margin(0.02));
      for (std::size_t k = 0; k < kUnits; ++k) {
        CHECK(of.units[k] / kUnits == of.units[0] / kUnits);
        const SwitchedUnit unit = unit_of(of.of, k);
        CHECK(unit.unit == model.size(0) + of.units[k]);
        CHECK(unit.from == turns[static_cast<std::size_t>(of.units[k])]);
        CHECK(unit.to == 1 - unit.from);
      }
    }
    CHECK(blocks == kBlocks);
    const Switches found = switch_units(model, {.states = {states}}, make_key(9, "switches"));
    double mass = 0;  // of the blocks alone: visible units have some as well
    for (const UnitSwitch& of : found.units)
      if (of.others.size() + 1 == kUnits) mass += of.share * std::exp(of.log_ratio);
    CHECK(mass == Approx(kBlocks * kOn).epsilon(0.3));
    CHECK(refuses(found));
  }
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
  const Layered model = turned(w, Eigen::VectorXd::Zero(w.rows()), c, turns);
  const NumberedSides even(model, 0), odd(model, 1);
  int pairs = 0;
  for (const RareSwitch& of :
       rare_switches(even, odd, samples_of(model, {.states = {ground(model, turns)}}))) {
    if (of.units.size() != 2) continue;
    ++pairs;
    CHECK(of.units[0] / 2 == of.units[1] / 2);
    CHECK(of.likely == Approx(std::log(kOn)).margin(0.02));
  }
  CHECK(pairs == kPatterns);
}
