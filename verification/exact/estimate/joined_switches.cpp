// Rare units of both sides that hold something together.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "boltzmark/estimate/held/hold_to_switches.hpp"
#include "boltzmark/estimate/held/rare_switches.hpp"
#include "boltzmark/estimate/held/switches.hpp"
#include "verification/exact/support/gates.hpp"

using namespace boltzmark;
using namespace gates;

namespace {

constexpr int kParts = 6, kPartVisible = 10, kPartHidden = 8;  // of each, beside the two units
constexpr double kAlone = -8, kTogether = 0.1, kPartWeight = 4;

// A hidden unit on a patch of visible ones, a visible one on a patch of hidden ones: of the mass without either, each alone holds
// e^-8, and both, by the weight between them, a tenth. Of odd parts the visible unit is usually on.
Layered parts_model(double together = kTogether, double alone = kAlone) {
  Eigen::MatrixXd w =
      Eigen::MatrixXd::Zero(kParts * (kPartVisible + 1), kParts * (kPartHidden + 1));
  Eigen::VectorXd b = Eigen::VectorXd::Zero(w.rows()), c = Eigen::VectorXd::Zero(w.cols());
  const double gained = std::log1p(std::exp(kPartWeight)) - std::log(2),
               joined = std::log(together) - 2 * alone;
  for (int p = 0; p < kParts; ++p) {
    const int visible = p * (kPartVisible + 1), hidden = p * (kPartHidden + 1);
    const double sign = p % 2 == 0 ? 1 : -1;
    w.col(hidden).segment(visible + 1, kPartVisible).setConstant(kPartWeight);
    w.row(visible).segment(hidden + 1, kPartHidden).setConstant(sign * kPartWeight);
    w(visible, hidden) = sign * joined;
    c[hidden] = alone - kPartVisible * gained;
    b[visible] = sign * (alone - kPartHidden * gained);
    if (sign > 0) continue;
    c[hidden] += joined;
    c.segment(hidden + 1, kPartHidden).setConstant(kPartWeight);
  }
  return Layered::rbm(w, b, c);
}

// Samples without any.
Chains ground(const Layered& model, int count) {
  Chains states(model, count);
  states.randomise(make_key(7, "ground"));
  for (int n = 0; n < count; ++n)
    for (int p = 0; p < kParts; ++p) {
      states.set(0, p * (kPartVisible + 1), n, static_cast<float>(p % 2));
      states.set(1, p * (kPartHidden + 1), n, 0);
    }
  return states;
}

}  // namespace

TEST_CASE("what units of both sides hold together, and neither by itself, is found") {
  const Layered model = parts_model();
  const Chains states = ground(model, 100);
  const NumberedSides even(model, 0), odd(model, 1);
  const std::vector<RareSwitch> rare =
      rare_switches(even, odd, samples_of(model, {.states = {states}})).likely;
  REQUIRE(rare.size() >= kParts);
  for (int k = 0; k < kParts; ++k) {
    const RareSwitch& pair = rare[static_cast<std::size_t>(k)];
    REQUIRE(pair.numbers.size() == 2);
    const auto part = pair.numbers[0] / (kPartVisible + 1);
    CHECK(pair.numbers[0] == part * (kPartVisible + 1));
    CHECK(pair.numbers[1] == model.size(0) + part * (kPartHidden + 1));
    CHECK(pair.likely == Approx(std::log(kTogether)).margin(0.01));
    CHECK((pair.of.from == part % 2 && pair.of.to == 1 - part % 2));
    REQUIRE(pair.of.others.size() == 1);
    CHECK((pair.of.others[0].from == 0 && pair.of.others[0].to == 1));
  }
  const Switches found = switch_units(model, {.states = {states}}, make_key(7, "switches"));
  double mass = 0;
  std::set<int> parts;  // which one unit of them may tell of as well, that the other follows
  for (const UnitSwitch& of : found.units) {
    mass += of.share * std::exp(of.log_ratio);
    if (of.log_ratio > std::log(kTogether) - 1)
      parts.insert(of.unit < model.size(0) ? of.unit / (kPartVisible + 1)
                                           : (of.unit - model.size(0)) / (kPartHidden + 1));
  }
  CHECK(parts.size() == kParts);
  CHECK(mass == Approx(kParts * kTogether).epsilon(0.25));
  CHECK(refuses(found));
}

TEST_CASE("samples of what units of both sides hold together are met, and refuse nothing") {
  const Layered model = parts_model();
  Chains states = ground(model, 100);
  for (int p = 0; p < kParts; ++p)
    for (int n = 10 * p; n < 10 * p + 9; ++n) {
      states.set(0, p * (kPartVisible + 1), n, static_cast<float>(1 - p % 2));
      states.set(1, p * (kPartHidden + 1), n, 1);
      for (int i = 1; i <= kPartVisible; ++i) states.set(0, p * (kPartVisible + 1) + i, n, 1);
      for (int j = 1; j <= kPartHidden; ++j)
        states.set(1, p * (kPartHidden + 1) + j, n, p % 2 == 0);
    }
  Estimate estimate = ok_estimate();
  hold_to_switches(switch_units(model, {.states = {states}}, make_key(8, "switches")), 0, estimate);
  CHECK((estimate.status == Status::ok && estimate.std_error == 0.01));
}

TEST_CASE("units of both sides that hold less together than alone are no pair") {
  const Layered model = parts_model(std::exp(-5), -4);
  const Chains states = ground(model, 100);
  const NumberedSides even(model, 0), odd(model, 1);
  const std::vector<RareSwitch> rare =
      rare_switches(even, odd, samples_of(model, {.states = {states}})).likely;
  CHECK(rare.size() == 2 * kParts);
  for (const RareSwitch& of : rare) CHECK(of.numbers.size() == 1);
}
