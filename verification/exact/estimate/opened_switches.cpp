// Units of a top layer that let many detectors follow, none of which gains anything alone: by closed forms, and of right
// samples.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "boltzmark/estimate/held/rare_switches.hpp"
#include "boltzmark/estimate/held/switches.hpp"
#include "boltzmark/random/stream.hpp"
#include "verification/exact/support/gates.hpp"

using namespace boltzmark;
using namespace gates;

namespace {

constexpr int kParts = 8, kPixels = 8;
constexpr double kWeight = 5, kDetected = 14, kLift = 18;
constexpr int kTop = kParts * (kPixels + 2);  // its number among all units

// log of what a part's state weighs: `on` pixels on, the detectors of all on and of all off on or not, the top unit, too.
double log_weight(int on, bool of_on, bool of_off, bool top) {
  const double lifted = kDetected - (top ? 0 : kLift);
  return (of_on ? kWeight * (on - kPixels) + lifted : 0) + (of_off ? lifted - kWeight * on : 0);
}

double choose(int on) {
  return std::exp(std::lgamma(kPixels + 1) - std::lgamma(on + 1) - std::lgamma(kPixels - on + 1));
}

double log_z_of_part(bool top) {
  double sum = 0;
  for (int on = 0; on <= kPixels; ++on)
    for (int detectors = 0; detectors < 4; ++detectors)
      sum += choose(on) * std::exp(log_weight(on, detectors % 2 == 1, detectors / 2 == 1, top));
  return std::log(sum);
}

// An object of parts in two variants, whose states with the top unit on hold `odds` times those with it off.
Layered object(double odds) {
  Eigen::MatrixXd lower = Eigen::MatrixXd::Zero(kParts * kPixels, 2 * kParts);
  Eigen::VectorXd detectors(2 * kParts);
  for (int p = 0; p < kParts; ++p) {
    lower.col(2 * p).segment(p * kPixels, kPixels).setConstant(kWeight);
    lower.col(2 * p + 1).segment(p * kPixels, kPixels).setConstant(-kWeight);
    detectors.segment(2 * p, 2) << kDetected - kLift - kWeight * kPixels, kDetected - kLift;
  }
  const double top = std::log(odds) - kParts * (log_z_of_part(true) - log_z_of_part(false));
  const Unit bits = Unit::bernoulli();
  return {{{bits, Eigen::VectorXd::Zero(kParts * kPixels), {}},
           {bits, detectors, {}},
           {bits, Eigen::VectorXd::Constant(1, top), {}}},
          {lower, Eigen::MatrixXd::Constant(2 * kParts, 1, kLift)}};
}

// Independent samples of it, whose top unit is on with such a probability.
Chains samples_of_object(const Layered& model, double top_on, int count, std::uint64_t seed) {
  Chains states(model, count);
  Stream stream(make_key(seed, "object"), Purpose::test);
  for (int c = 0; c < count; ++c) {
    const bool top = stream.bernoulli(top_on);
    states.set(2, 0, c, top ? 1 : 0);
    for (int p = 0; p < kParts; ++p) {
      double left = stream.uniform() * std::exp(log_z_of_part(top));
      int on = 0, detectors = 0;
      for (int k = 0; k < 4 * (kPixels + 1) && left >= 0; ++k) {
        on = k / 4;
        detectors = k % 4;
        left -= choose(on) * std::exp(log_weight(on, detectors % 2 == 1, detectors / 2 == 1, top));
      }
      for (int d = 0; d < 2; ++d)
        states.set(1, 2 * p + d, c, static_cast<float>(detectors >> d & 1));
      for (int i = 0, open = on; i < kPixels; ++i) {
        const bool is_on =
            static_cast<int>(stream.below(static_cast<std::uint32_t>(kPixels - i))) < open;
        states.set(0, p * kPixels + i, c, is_on ? 1 : 0);
        open -= is_on ? 1 : 0;
      }
    }
  }
  return states;
}

}  // namespace

TEST_CASE("a unit that opens what mean field does not see is moved for what its weights allow") {
  const double odds = 0.8;
  const Layered model = object(odds);
  const VisitedStates visited{.states = {samples_of_object(model, 0, 100, 1)}};
  const NumberedSides even(model, 0), odd(model, 1);
  const RareSwitches rare = rare_switches(even, odd, samples_of(model, visited));
  REQUIRE_FALSE(rare.unlikely.empty());
  const RareSwitch& top = rare.unlikely[0];
  CHECK(top.of.unit == kTop);
  CHECK(top.greatest == Approx(model.layer(2).bias[0] + 2 * kParts * kLift).epsilon(1e-12));
  CHECK(top.likely < -50);
  // Of a detector, all of its pixels as it wants them, and the top unit on.
  const auto detector =
      std::find_if(rare.unlikely.begin(), rare.unlikely.end(),
                   [](const RareSwitch& of) { return of.of.unit == kParts * kPixels + 1; });
  if (detector != rare.unlikely.end())
    CHECK(detector->greatest == Approx(kDetected).epsilon(1e-12));
  int refused = 0;
  double mean = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const Switches found = switch_units(model, visited, make_key(seed, "switches"));
    const auto of = std::find_if(found.units.begin(), found.units.end(),
                                 [](const UnitSwitch& one) { return one.unit == kTop; });
    REQUIRE(of != found.units.end());
    INFO(of->log_ratio << " +- " << of->error << ", at least " << of->log_least);
    mean += std::exp(of->log_ratio) / 8;
    CHECK(of->log_ratio > std::log(odds) - 2);
    CHECK(of->log_least < std::log(odds));
    CHECK(of->log_least > std::log(odds) - 3);
    refused += refuses(found);
  }
  CHECK(refused == 8);
  CHECK(mean == Approx(odds).epsilon(0.5));  // of eight, each a quarter or half of it off
}

TEST_CASE("right samples of a unit that opens much refuse nothing, whatever they met") {
  for (const double odds : {0.02, 0.002}) {
    const Layered model = object(odds);
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const VisitedStates visited{
          .states = {samples_of_object(model, odds / (1 + odds), 100, seed)}};
      CHECK_FALSE(refuses(switch_units(model, visited, make_key(seed, "switches"))));
    }
  }
}
