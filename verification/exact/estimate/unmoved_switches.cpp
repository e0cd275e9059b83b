// Rare units of which there are many: those drawn among them, right samples of them, and regions that several share.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "boltzmark/estimate/held/hold_to_switches.hpp"
#include "boltzmark/estimate/held/switches.hpp"
#include "boltzmark/random/stream.hpp"
#include "verification/exact/support/gates.hpp"

using namespace boltzmark;
using namespace gates;

TEST_CASE("units that are next to nothing each are looked at where all together they are not") {
  // Six hundred of e^-7.5 each: of a hundred right samples some 28 have such a unit, and few units are met.
  constexpr int kUnits = 600;
  const double odds = std::exp(-7.5);
  const Layered model = Layered::rbm(Eigen::MatrixXd::Zero(1, kUnits), Eigen::VectorXd::Zero(1),
                                     Eigen::VectorXd::Constant(kUnits, -7.5));
  const auto held = [&](double share, std::uint64_t seed) {
    Chains states(model, 100);
    Stream stream(make_key(seed, "rare"), Purpose::test);
    for (int n = 0; n < 100; ++n) {
      states.set(0, 0, n, static_cast<float>(n % 2));
      for (int j = 0; j < kUnits; ++j) states.set(1, j, n, stream.bernoulli(share) ? 1.0F : 0.0F);
    }
    const Switches found = switch_units(model, {.states = {states}}, make_key(seed, "switches"));
    double mass = 0;  // of any of them, which are independent: all but that of none
    for (const UnitSwitch& of : found.units) mass += of.share * std::exp(of.log_ratio);
    CHECK(mass == Approx(1 - std::exp(-kUnits * odds)).epsilon(0.05));
    Estimate estimate = ok_estimate();
    hold_to_switches(found, 0, estimate);
    return estimate;
  };
  CHECK(held(0, 1).status == Status::not_converged);
  for (std::uint64_t seed = 2; seed <= 4; ++seed) {
    const Estimate right = held(odds / (1 + odds), seed);
    CHECK((right.status == Status::ok && right.std_error == 0.01));
  }
}

TEST_CASE("where rare units are too many to be moved, those drawn among them tell what all hold") {
  // Gates of their own patches, at e^-5.8 to e^-4.2 of the mass without, so that many states have several.
  constexpr int kMany = 200, kOf = 6, kSamples = 100;
  Eigen::MatrixXd w = Eigen::MatrixXd::Zero(kMany * kOf, kMany);
  Eigen::VectorXd c(kMany);
  std::vector<double> odds;
  for (int j = 0; j < kMany; ++j) {
    const double log_odds = -4.2 - 1.6 * (j * 29 % kMany) / (kMany - 1);
    w.col(j).segment(j * kOf, kOf).setConstant(j % 2 == 0 ? 4 : -4);
    c[j] = log_odds - kOf * (std::log1p(std::exp(w(j * kOf, j))) - std::log(2));
    odds.push_back(std::exp(log_odds));
  }
  const Layered model = Layered::rbm(w, Eigen::VectorXd::Zero(w.rows()), c);
  const auto draw = [&](double times, std::uint64_t seed, int every = 1) {
    Chains states(model, kSamples);
    states.randomise(make_key(seed, "many gates"));
    Stream stream(make_key(seed, "many gates"), Purpose::test);
    for (int n = 0; n < kSamples; ++n)
      for (int j = 0; j < kMany; ++j) {
        const double odd = odds[static_cast<std::size_t>(j)] * times;
        const bool on = stream.uniform() * (1 + odd) < odd && j % every == 0;
        states.set(1, j, n, on ? 1.0F : 0.0F);
        for (int i = 0; on && i < kOf; ++i) states.set(0, j * kOf + i, n, j % 2 == 0 ? 1.0F : 0.0F);
      }
    return states;
  };
  // Of disjoint states, the rarest units first: what is met up to 1/2 and up to 2 times.
  std::vector<double> sorted = odds;
  std::sort(sorted.begin(), sorted.end());
  double none = 1, rarer[] = {0, 0};
  for (const double odd : sorted) {
    rarer[kSamples * odd > 0.5] += none * odd;
    none /= 1 + odd;
  }
  const auto check = [&](const Switches& found) {
    CHECK(found.units.empty());
    REQUIRE(found.unmoved.size() == 2);
    for (std::size_t k = 0; k < 2; ++k) {
      const UnmovedSwitches& of = found.unmoved[k];
      CHECK(of.most == (k == 0 ? 0.5 : 2));
      // Of the rarest, as many as hold e^-5 are left out.
      CHECK(std::abs(of.mass - rarer[k]) < 4.5 * of.error + (k == 0 ? std::exp(-5) : 0));
      CHECK(of.error < 0.15 * of.mass);
    }
  };
  Chains closed = draw(0, 1);
  const Switches never = switch_units(model, {.states = {closed}}, make_key(1, "switches"));
  check(never);
  CHECK((never.unmoved[0].met == 0 && never.unmoved[1].met == 0));
  Estimate estimate = ok_estimate();
  hold_to_switches(never, 0, estimate);
  CHECK(estimate.status == Status::not_converged);
  // One sample with the likeliest gate, another with it and a rarer one.
  const auto gate_of = [&](double rank) {
    return static_cast<int>(
        std::find(odds.begin(), odds.end(), sorted[static_cast<std::size_t>(rank * (kMany - 1))]) -
        odds.begin());
  };
  closed.set(1, gate_of(1), 7, 1);
  closed.set(1, gate_of(1), 8, 1);
  closed.set(1, gate_of(0.2), 8, 1);
  const Switches met = switch_units(model, {.states = {closed}}, make_key(2, "switches"));
  check(met);
  CHECK(met.unmoved[0].met == Approx(0.01));
  CHECK(met.unmoved[1].met == Approx(0.01));
  // What no sample has is told apart: of four gates three are never on, and the fourth three times too often.
  const Chains fourth = draw(3, 6, 4);
  const Switches apart = switch_units(model, {.states = {fourth}}, make_key(6, "switches"));
  double unmet = 0, left_out = 0, told = 0, by_chance = 0, error = 0;
  none = 1;
  for (const bool which : {false, true})  // those that were met after the others
    for (const double odd : sorted) {
      const auto j = static_cast<int>(std::find(odds.begin(), odds.end(), odd) - odds.begin());
      bool is_met = false;
      for (int n = 0; n < kSamples; ++n) is_met = is_met || fourth.get(1, j, n) != 0;
      if (is_met != which) continue;
      if (!is_met) unmet += none * odd;
      left_out += none * odd * std::pow(1 + odd, -kSamples);
      none /= 1 + odd;
    }
  for (const UnmovedSwitches& of : apart.unmoved) {
    told += of.unmet;
    by_chance += of.by_chance;
    error = std::hypot(error, of.unmet_error);
    CHECK(of.of_one == Approx(of.most == 0.5 ? 0.005 : 0.012).epsilon(0.3));  // weights scatter
  }
  CHECK(told == Approx(unmet).epsilon(0.2));
  CHECK(by_chance == Approx(left_out).epsilon(0.3));
  CHECK((error > 0.005 && error < 0.1));
  for (std::uint64_t seed = 3; seed <= 5; ++seed) {
    estimate = ok_estimate();
    hold_to_switches(switch_units(model, {.states = {draw(1, seed)}}, make_key(seed, "switches")),
                     0, estimate);
    CHECK((estimate.status == Status::ok && estimate.std_error == 0.01));
  }
}

TEST_CASE("units of one rare region count once, and right samples that missed it refuse nothing") {
  // A visible unit of 2 % brings forty hidden ones to be on or off, each by even chance; without it they are off, and any
  // of them brings it.
  constexpr int kOthers = 40;
  const Layered model =
      Layered::rbm(Eigen::MatrixXd::Constant(1, kOthers, 40),
                   Eigen::VectorXd::Constant(1, std::log(0.02) - kOthers * std::log(2)),
                   Eigen::VectorXd::Constant(kOthers, -40));
  Chains closed(model, 100);
  for (int c = 0; c < 100; ++c)
    for (int l = 0; l < 2; ++l)
      for (int u = 0; u < model.size(l); ++u) closed.set(l, u, c, 0);
  const Switches found = switch_units(model, {.states = {closed}}, make_key(4, "region"));
  double mass = 0;
  for (const UnitSwitch& of : found.units) mass += of.share * std::exp(of.log_ratio);
  CHECK(mass == Approx(0.02).epsilon(0.5));
  Estimate estimate = ok_estimate();  // 0.98^100 = 0.13
  hold_to_switches(found, 0, estimate);
  CHECK(estimate.status == Status::ok);
  CHECK(estimate.std_error == 0.01);
}
