// Rare units that a run never switched, and what they hold: by hand, by closed forms, and of right samples.
#include "boltzmark/estimate/held/switches.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "boltzmark/estimate/held/hold_to_switches.hpp"
#include "boltzmark/estimate/held/rare_switches.hpp"
#include "boltzmark/random/stream.hpp"
#include "verification/exact/support/gates.hpp"

using namespace boltzmark;
using namespace gates;

namespace {

// Chains of that model whose gates are on with so large a probability, all else given them.
Chains gate_states(const Layered& model, int chains, double on, std::uint64_t seed) {
  Chains states(model, chains);
  Stream stream(make_key(seed, "gates"), Purpose::test);
  for (int c = 0; c < chains; ++c) {
    for (int j = 0; j < kGates + kWeak; ++j)
      states.set(1, j, c, stream.bernoulli(j < kGates ? on : 0.5) ? 1.0F : 0.0F);
    for (int i = 0; i < model.size(0); ++i) {
      double input = 0;
      for (int j = 0; j < kGates + kWeak; ++j)
        input += model.weights(0)(i, j) * static_cast<double>(states.get(1, j, c));
      states.set(0, i, c, stream.bernoulli(1 / (1 + std::exp(-input))) ? 1.0F : 0.0F);
    }
  }
  return states;
}

}  // namespace

TEST_CASE("gates that a run never opened are found, with their masses, and refuse it together") {
  const Layered model = gates_model();
  const Chains closed = gate_states(model, 100, 0, 1);
  const Switches found = switch_units(model, {.states = {closed}}, make_key(1, "switches"));
  CHECK(found.visits == Approx(100));
  int gates = 0;
  for (const UnitSwitch& of : found.units) {
    if (of.unit < model.size(0) || of.unit >= model.size(0) + kGates) continue;
    ++gates;
    CHECK((of.from == 0 && of.to == 1 && of.met == 0));
    CHECK(of.share == Approx(1));
    CHECK(std::abs(std::exp(of.log_ratio) - kOn) < 5 * of.error * std::exp(of.log_ratio));
    CHECK(of.error < 0.5);
  }
  CHECK(gates == kGates);
  Estimate estimate = ok_estimate();
  hold_to_switches(found, 0, estimate);
  CHECK(estimate.status == Status::not_converged);
  REQUIRE(estimate.warnings.size() == 1);
  CHECK_THAT(estimate.warnings[0], Catch::Contains("never switched"));
  CHECK(estimate.std_error == 0.01);
}

TEST_CASE("right samples of gates that are hardly open refuse nothing, whatever they met") {
  const Layered model = gates_model();
  int refused = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Chains states = gate_states(model, 100, kOn / (1 + kOn), seed);
    Estimate estimate = ok_estimate();
    hold_to_switches(switch_units(model, {.states = {states}}, make_key(seed, "switches")), 0,
                     estimate);
    refused += estimate.status != Status::ok;
  }
  CHECK(refused == 0);
}

TEST_CASE("patterns that three parallel units hold together, none of them by itself, are found") {
  constexpr int kPatterns = 12, kCopies = 3, kVisible = 40;
  Eigen::MatrixXd w = Eigen::MatrixXd::Zero(kPatterns * kVisible, kPatterns * kCopies);
  Eigen::VectorXd c = Eigen::VectorXd::Zero(kPatterns * kCopies);
  const double weight = 4;
  // All copies on are e^{3 c} prod (1 + e^{3 w}) / 2 or (1 + e^{-3 w}) / 2 of all off: four percent.
  for (int j = 0; j < kPatterns * kCopies; ++j) {
    for (int i = 0; i < kVisible; ++i) {
      const double s = (i + j / kCopies) % 2 == 0 ? 1 : -1;
      w(j / kCopies * kVisible + i, j) = s * weight;
      c[j] -= (std::log1p(std::exp(s * kCopies * weight)) - std::log(2)) / kCopies;
    }
    c[j] += std::log(kOn) / kCopies;
  }
  const Layered model = Layered::rbm(w, Eigen::VectorXd::Zero(kPatterns * kVisible), c);
  Chains off(model, 100);
  off.randomise(make_key(3, "copies"));
  for (int n = 0; n < 100; ++n)
    for (int j = 0; j < kPatterns * kCopies; ++j) off.set(1, j, n, 0);
  const Switches found = switch_units(model, {.states = {off}}, make_key(3, "switches"));
  double mass = 0;
  for (const UnitSwitch& of : found.units) mass += of.share * std::exp(of.log_ratio);
  CHECK(found.units.size() >= kPatterns);
  CHECK(mass == Approx(kPatterns * kOn).epsilon(0.3));
  CHECK(refuses(found));
}

TEST_CASE(
    "patterns that several units hold together, whose weights are otherwise apart, are found") {
  // Of each pattern's three units any has ten visible ones of its own, flat where it is off; all three share five, which
  // two do not bring on: 4 % of the mass without, behind seven nats for two of them.
  constexpr int kPatterns = 12, kUnits = 3, kOwn = 10, kShared = 5;
  constexpr int kHeld = kPatterns * kUnits,
                kIdle = 2;  // the latter without weights, and nearly always off
  constexpr double own = 4, shared = 6, threshold = 2.4;
  const int visible = kUnits * kOwn + kShared;
  Eigen::MatrixXd w = Eigen::MatrixXd::Zero(kPatterns * visible, kHeld + kIdle);
  Eigen::VectorXd b = Eigen::VectorXd::Zero(w.rows());
  const double flat = kOwn * (std::log1p(std::exp(own)) - std::log(2));
  const auto gained = [&](int on) {
    return kShared * (std::log1p(std::exp(shared * (on - threshold))) -
                      std::log1p(std::exp(-shared * threshold)));
  };
  const double bias = (std::log(kOn) - gained(kUnits)) / kUnits - flat;
  CHECK(2 * (bias + flat) + gained(2) < -7);
  for (int p = 0; p < kPatterns; ++p)
    for (int k = 0; k < kUnits; ++k) {
      w.col(p * kUnits + k).segment(p * visible + k * kOwn, kOwn).setConstant(own);
      w.col(p * kUnits + k).segment(p * visible + kUnits * kOwn, kShared).setConstant(shared);
      b.segment(p * visible + kUnits * kOwn, kShared).setConstant(-shared * threshold);
    }
  Eigen::VectorXd c = Eigen::VectorXd::Constant(kHeld + kIdle, bias);
  c.tail(kIdle).setConstant(-12);
  const Layered model = Layered::rbm(w, b, c);
  Chains off(model, 100);
  off.randomise(make_key(5, "patterns"));
  for (int n = 0; n < 100; ++n) {
    for (int j = 0; j < kHeld + kIdle; ++j) off.set(1, j, n, 0);
    for (int i = 0; i < model.size(0); ++i)
      if (i % visible >= kUnits * kOwn) off.set(0, i, n, 0);
  }
  const Switches found = switch_units(model, {.states = {off}}, make_key(5, "switches"));
  double mass = 0;
  int patterns = 0;
  for (const UnitSwitch& of : found.units) {
    mass += of.share * std::exp(of.log_ratio);
    patterns += of.others.size() == kUnits - 1;
  }
  CHECK(patterns == kPatterns);
  CHECK(mass == Approx(kPatterns * kOn).epsilon(0.3));
  // The five that are shared lead there and back: they are not moved too.
  const NumberedSides even(model, 0), odd(model, 1);
  for (const RareSwitch& of : rare_switches(even, odd, samples_of(model, {.states = {off}})).likely)
    CHECK(of.units.size() <= kUnits);
  CHECK(refuses(found));
}

TEST_CASE("patterns that several continuous units hold together are found with their masses") {
  // As above with h in [-1, 1], (1 + h) / 2 in place of being on; the biases by a sum over cells.
  constexpr int kPatterns = 12, kUnits = 3, kOwn = 10, kShared = 5, kCells = 30;
  constexpr double own = 4, shared = 6, threshold = 2.4;
  const auto at = [](int k) { return -1 + (k + 0.5) * 2 / kCells; };
  const auto alone = [&](double bias, double h) {
    return bias * h + kOwn * std::log1p(std::exp(own * (1 + h) / 2));
  };
  const auto together = [&](double sum) {  // of h
    return kShared * std::log1p(std::exp(shared * ((kUnits + sum) / 2 - threshold)));
  };
  const auto on_to_off = [&](double bias) {
    double on = 0, off = 0;
    for (int i = 0; i < kCells; ++i)
      for (int j = 0; j < kCells; ++j)
        for (int k = 0; k < kCells; ++k) {
          const double x = at(i), y = at(j), z = at(k);
          const double mass = std::exp(alone(bias, x) + alone(bias, y) + alone(bias, z) +
                                       together(x + y + z) - kUnits * alone(bias, -1));
          (std::min({x, y, z}) > 0 ? on : off) += mass;
        }
    return on / off;
  };
  double low = -40, high = 0;
  for (int n = 0; n < 40; ++n) (on_to_off((low + high) / 2) > kOn ? high : low) = (low + high) / 2;
  const int visible = kUnits * kOwn + kShared;
  Eigen::MatrixXd w = Eigen::MatrixXd::Zero(kPatterns * visible, kPatterns * kUnits);
  Eigen::VectorXd b = Eigen::VectorXd::Constant(w.rows(), own / 2);
  for (int p = 0; p < kPatterns; ++p) {
    for (int k = 0; k < kUnits; ++k) {
      w.col(p * kUnits + k).segment(p * visible + k * kOwn, kOwn).setConstant(own / 2);
      w.col(p * kUnits + k).segment(p * visible + kUnits * kOwn, kShared).setConstant(shared / 2);
    }
    b.segment(p * visible + kUnits * kOwn, kShared)
        .setConstant(shared * (kUnits / 2.0 - threshold));
  }
  const Layered model(
      {Layer{Unit::bernoulli(), b, {}},
       Layer{Unit::continuous(), Eigen::VectorXd::Constant(kPatterns * kUnits, low), {}}},
      {w});
  Chains off(model, 100);
  Stream stream(make_key(7, "patterns"), Purpose::test);
  double greatest = -1e300;
  for (int k = 0; k < kCells; ++k) greatest = std::max(greatest, alone(low, -1.0 * k / kCells));
  greatest = std::max(greatest, alone(low, -1));
  for (int n = 0; n < 100; ++n) {
    for (int j = 0; j < kPatterns * kUnits; ++j) {
      double h = 0;
      do h = stream.uniform(-1, 0);
      while (stream.uniform() > std::exp(alone(low, h) - greatest));
      off.set(1, j, n, static_cast<float>(h));
    }
    const Eigen::VectorXd inputs = b + w * off.get_chain(n)[1];
    for (int i = 0; i < model.size(0); ++i)
      off.set(0, i, n, stream.bernoulli(1 / (1 + std::exp(-inputs[i]))) ? 1.0F : 0.0F);
  }
  const Switches found = switch_units(model, {.states = {off}}, make_key(5, "switches"));
  double mass = 0;  // of the patterns alone: single units have some as well
  int patterns = 0;
  for (const UnitSwitch& of : found.units) {
    if (of.others.size() + 1 != kUnits) continue;
    mass += of.share * std::exp(of.log_ratio);
    ++patterns;
  }
  CHECK(patterns == kPatterns);
  CHECK(mass == Approx(kPatterns * kOn).epsilon(0.35));
  CHECK(refuses(found));
}

TEST_CASE(
    "ends of continuous units, and of those of many values, that a run never came to are found with their masses") {
  // Blocks of a hidden unit on [-1, 1] and visible ones of two values, free where it is at -1: Z(h) of a block is
  // e^{c h} (2 cosh(w (1 + h)))^12, with a barrier near 0 and four percent beyond it.
  constexpr int kBlocks = 16, kVisible = 12;
  constexpr double w = 3;
  const auto log_z_at = [](double c, double h) {
    const double input = w * (1 + h);
    return c * h + kVisible * (input + std::log1p(std::exp(-2 * input)));
  };
  constexpr int kCells = 4000;
  // Sums of Z(h) over cells from `low` to one above it, relative to that at -1.
  const auto sums = [&](double c, double low) {
    std::vector<double> all;
    double sum = 0;
    for (int k = 0; k < kCells; ++k)
      all.push_back(sum += std::exp(log_z_at(c, low + (k + 0.5) / kCells) + c) / kCells);
    return all;
  };
  double low = -100, high = 0;
  for (int n = 0; n < 60; ++n) {
    const double c = (low + high) / 2;
    (sums(c, 0).back() > kOn * sums(c, -1).back() ? high : low) = c;
  }
  const double c = low;
  const std::vector<double> near = sums(c, -1), far = sums(c, 0);
  for (const Unit unit : {Unit::continuous(), Unit::multivalued(400)}) {
    Eigen::MatrixXd weights = Eigen::MatrixXd::Zero(kBlocks * kVisible, kBlocks);
    for (int j = 0; j < kBlocks; ++j) weights.block(j * kVisible, j, kVisible, 1).setConstant(w);
    const Layered model(
        {Layer{Unit::multivalued(1), Eigen::VectorXd::Constant(kBlocks * kVisible, w), {}},
         Layer{unit, Eigen::VectorXd::Constant(kBlocks, c), {}}},
        {weights});
    const auto sampled = [&](double share, std::uint64_t seed) {
      Chains states(model, 100);
      Stream stream(make_key(seed, "ends"), Purpose::test);
      for (int n = 0; n < 100; ++n)
        for (int j = 0; j < kBlocks; ++j) {
          const bool is_far = stream.uniform() < share;
          const std::vector<double>& law = is_far ? far : near;
          const auto cell =
              std::lower_bound(law.begin(), law.end(), stream.uniform() * law.back()) - law.begin();
          double h = (is_far ? 0 : -1) + (static_cast<double>(cell) + 0.5) / kCells;
          if (unit.is_discrete())
            h = unit.value(static_cast<int>(std::lround((h + 1) / unit.spacing())));
          states.set(1, j, n, static_cast<float>(h));
          for (int i = 0; i < kVisible; ++i)
            states.set(0, j * kVisible + i, n,
                       stream.uniform() * (1 + std::exp(-2 * w * (1 + h))) < 1 ? 1.0F : -1.0F);
        }
      return states;
    };
    const Switches found =
        switch_units(model, {.states = {sampled(0, 1)}}, make_key(1, "switches"));
    CHECK(found.units.size() == kBlocks);
    double all = 0;
    for (const UnitSwitch& of : found.units) {
      CHECK((of.to == 1 && of.from < -0.5));
      all += of.share * std::exp(of.log_ratio);
    }
    CHECK(all == Approx(kBlocks * kOn).epsilon(0.3));
    CHECK(refuses(found));
    int refused = 0;
    for (std::uint64_t seed = 2; seed <= 11; ++seed) {
      Estimate estimate = ok_estimate();
      hold_to_switches(switch_units(model, {.states = {sampled(kOn / (1 + kOn), seed)}},
                                    make_key(seed, "switches")),
                       0, estimate);
      refused += estimate.status != Status::ok;
    }
    CHECK(refused == 0);
  }
}

TEST_CASE("rare switches come in the order of what they hold, not of what they gain") {
  // A visible unit is on in 49.5 % of all states; a hidden one of X(3) is above 0 in half of them, but of the samples two
  // in a hundred are not where the others are.
  const Layered model({Layer{Unit::bernoulli(), Eigen::VectorXd::Constant(1, -0.02), {}},
                       Layer{Unit::multivalued(3), Eigen::VectorXd::Zero(1), {}}},
                      {Eigen::MatrixXd::Zero(1, 1)});
  Chains states(model, 100);
  for (int n = 0; n < 100; ++n) {
    states.set(0, 0, n, 0);
    states.set(1, 0, n, n < 98 ? -1 : static_cast<float>(-1.0 / 3));
  }
  const NumberedSides even(model, 0), odd(model, 1);
  const std::vector<RareSwitch> rare =
      rare_switches(even, odd, samples_of(model, {.states = {states}})).likely;
  REQUIRE(rare.size() == 2);
  CHECK((rare[0].of.unit == 0 && rare[1].of.unit == 1));
  CHECK(rare[0].likely < rare[1].likely);
  CHECK(rare[0].of.share == Approx(1));
  CHECK(rare[1].of.share == Approx(0.98));
  CHECK(rare[1].likely == Approx(std::log(0.5)));  // both values above 0
  CHECK(rare[1].expected(30) == Approx(0.98 * 15));
}

TEST_CASE("a group is switched where all of its units are") {
  const UnitSwitch pair{.unit = 0, .from = 0, .to = 1, .others = {{2, 0, 1}}};
  CHECK(is_switched(Eigen::Vector3f(1, 0, 1), pair));
  CHECK_FALSE(is_switched(Eigen::Vector3f(1, 0, 0), pair));
  CHECK_FALSE(is_switched(Eigen::Vector3f(0, 1, 1), pair));
  CHECK_FALSE(is_switched(Eigen::Vector3f(0, 1, 0), pair));
}

TEST_CASE("units that switch together are one mass, that of the first") {
  // A visible and a hidden unit that are on together with e^-4, and either alone with e^-12; five free ones.
  Eigen::MatrixXd w = Eigen::MatrixXd::Zero(6, 2);
  w(0, 0) = 20;
  Eigen::VectorXd b = Eigen::VectorXd::Zero(6), c = Eigen::VectorXd::Zero(2);
  b[0] = c[0] = -12;
  const Layered model = Layered::rbm(w, b, c);
  Chains off(model, 64);
  off.randomise(make_key(2, "together"));
  for (int n = 0; n < 64; ++n) {
    off.set(0, 0, n, 0);
    off.set(1, 0, n, 0);
  }
  const Switches found = switch_units(model, {.states = {off}}, make_key(2, "switches"));
  REQUIRE(found.units.size() == 1);
  CHECK((found.units[0].unit == 0 || found.units[0].unit == 6));
  CHECK(found.units[0].log_ratio == Approx(std::log(std::exp(-12) + std::exp(-4))).margin(0.5));
}
