// Phases of models whose log Z is worked out by hand, which modes of one side alone would not lead to.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <utility>
#include <vector>

#include "boltzmark/core/numeric.hpp"
#include "boltzmark/estimate/held/held.hpp"
#include "boltzmark/estimate/held/held_estimate.hpp"
#include "boltzmark/estimate/methods.hpp"
#include "boltzmark/estimate/places/phases.hpp"
#include "boltzmark/exact/log_z.hpp"
#include "boltzmark/random/stream.hpp"
#include "verification/checks/known/known_model.hpp"

using namespace boltzmark;

namespace {

double log_sum(const std::vector<double>& logs) {
  return log_sum_exp(Eigen::VectorXd::Map(logs.data(), std::ssize(logs)));
}

// An RBM, beside so many clusters of three visible units and one hidden one with two states of equal mass,
// whose states hide in their number what any few of them hold.
KnownModel beside_clusters(const Layered& rbm, double log_z, int clusters) {
  const int visible = rbm.size(0), hidden = rbm.size(1);
  Eigen::MatrixXd weights = Eigen::MatrixXd::Zero(visible + 3 * clusters, hidden + clusters);
  Eigen::VectorXd below = Eigen::VectorXd::Constant(weights.rows(), -2.5);
  Eigen::VectorXd above = Eigen::VectorXd::Constant(weights.cols(), -7.5);
  weights.topLeftCorner(visible, hidden) = rbm.weights(0);
  below.head(visible) = rbm.bias(0);
  above.head(hidden) = rbm.bias(1);
  for (int c = 0; c < clusters; ++c)
    weights.block(visible + 3 * c, hidden + c, 3, 1).setConstant(5);
  const double cluster = log_sum({3 * softplus(-2.5), -7.5 + 3 * softplus(2.5)});
  return {Layered::rbm(weights, below, above), {log_z + clusters * cluster, 1e-9, "by hand"}};
}

void check_phases(const KnownModel& known) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    INFO("seed " << seed);
    const ChosenBase chosen = choose_auto_base(known.model, mode_search(known.model, seed), seed);
    REQUIRE(chosen.phases);
    CHECK(chosen.phases->log_z() == Approx(known.known.log_z).epsilon(0).margin(0.75));
  }
}

}  // namespace

TEST_CASE("a phase is found of which no state is a mode on the side that is listed") {
  // A strong hidden unit holds a pattern of 36 visible ones, and e^2 times what there is without it; but
  // every state of twenty weak units of the same pattern is likelier where the strong one is off.
  constexpr int kVisible = 36, kWeak = 20;
  constexpr double kStrong = 8, kTilt = 0.5;
  Eigen::MatrixXd weights(kVisible, 1 + kWeak);
  for (int i = 0; i < kVisible; ++i) {
    weights.row(i).setConstant(i % 2 == 0 ? 1 : -1);
    weights(i, 0) *= kStrong;
  }
  const int half = kVisible / 2;
  const auto term = [&](double strong_bias, int strong, int weak) {
    return std::lgamma(kWeak + 1.0) - std::lgamma(weak + 1.0) - std::lgamma(kWeak - weak + 1.0) +
           strong_bias * strong - (kTilt + half) * weak +
           half * (softplus(kStrong * strong + weak) + softplus(-kStrong * strong - weak));
  };
  std::vector<double> off, on;
  for (int weak = 0; weak <= kWeak; ++weak) {
    off.push_back(term(0, 0, weak));
    on.push_back(term(0, 1, weak));
  }
  const double bias = 2 + log_sum(off) - log_sum(on);
  CHECK(term(bias, 1, 0) < term(bias, 0, 0));
  Eigen::VectorXd above = Eigen::VectorXd::Constant(1 + kWeak, -kTilt - half);
  above[0] = bias;
  const KnownModel known =
      beside_clusters(Layered::rbm(weights, Eigen::VectorXd::Zero(kVisible), above),
                      log_sum({log_sum(off), log_sum(on) + bias}), 6);
  const Modes modes = find_modes(known.model, Base::uniform(known.model));
  REQUIRE(modes.parity == 1);
  CHECK(modes.states.get_layer(1).row(0).isZero());
  REQUIRE(modes.others);
  const Eigen::MatrixXf others = modes.others->get_layer(0).topRows(kVisible);
  const Eigen::VectorXf pattern = (weights.col(0).array() > 0).cast<float>();
  CHECK((others.colwise() - pattern).colwise().squaredNorm().minCoeff() == 0);
  check_phases(known);
}

namespace {

// Each of sixty hidden units holds a state of forty visible ones, and 0.4 % of what there is without
// them; one holds 28 of these, and e^2 times that.
KnownModel behind_decoys() {
  constexpr int kVisible = 40, kDecoys = 60, kHeld = 28;
  Stream draws(make_key(1, "decoys"), Purpose::test);
  Eigen::MatrixXd weights = Eigen::MatrixXd::Zero(kVisible, kDecoys + 1);
  Eigen::VectorXd above(kDecoys + 1);
  for (int j = 0; j <= kDecoys; ++j) {
    above[j] = j < kDecoys ? std::log(0.004) : 2;
    for (int i = 0; i < (j < kDecoys ? kVisible : kHeld); ++i) {
      weights(i, j) = draws.bernoulli(0.5) ? 8 : -8;
      above[j] += std::log(2.0) - softplus(weights(i, j));
    }
  }
  const double log_z = kVisible * std::log(2.0) + std::log(1 + 0.004 * kDecoys + std::exp(2.0));
  return beside_clusters(Layered::rbm(weights, Eigen::VectorXd::Zero(kVisible), above), log_z, 8);
}

}  // namespace

TEST_CASE("a phase of many unlikely states is found behind sixty likely ones of little mass") {
  check_phases(behind_decoys());
}

TEST_CASE(
    "a run's base near a phase is on one side where that leads there, or where a unit holds it") {
  const KnownModel well = make_known_model("well:100:12:5:1");
  const ChosenBase one = choose_auto_base(well.model, mode_search(well.model, 1), 1);
  CHECK(one.of_modes);
  CHECK(one.base.logits[static_cast<std::size_t>(one.modes->parity)].isZero());
  // The visible units are the fewer, and of the hidden ones the one that holds the pattern is enough.
  Stream draws(make_key(1, "pattern"), Purpose::test);
  Eigen::MatrixXd weights = Eigen::MatrixXd::Zero(30, 40);
  for (double& w : weights.col(0)) w = draws.bernoulli(0.5) ? 8 : -8;
  Eigen::VectorXd above = Eigen::VectorXd::Zero(40);
  above[0] = 6;
  for (const double w : weights.col(0)) above[0] += std::log(2.0) - softplus(w);
  const Layered model = Layered::rbm(weights, Eigen::VectorXd::Zero(30), above);
  const ChosenBase both = choose_auto_base(model, mode_search(model, 1), 1);
  REQUIRE(both.modes->parity == 0);
  CHECK(both.of_modes);
  REQUIRE(both.phases->holds[1]);
  const Base& holding = both.phases->bases[1];
  CHECK(holding.logits[0].isZero());
  CHECK((holding.logits[1].array() != 0).count() == 1);
  CHECK(holding.logits[1][0] == Approx(60));
}

TEST_CASE("both states are found that a hidden unit locks two visible ones in") {
  // On together or off together, of equal mass; six other hidden units see their sum less their sum.
  constexpr double kLock = 3000;
  Eigen::MatrixXd weights = Eigen::MatrixXd::Zero(10, 7);
  weights.block(0, 0, 2, 1).setConstant(kLock);
  weights.row(0).tail(6).setConstant(kLock / 20);
  weights.row(1).tail(6).setConstant(-kLock / 20);
  Eigen::VectorXd below = Eigen::VectorXd::Zero(10), above = Eigen::VectorXd::Zero(7);
  below.head(2).setConstant(-kLock / 2);
  above[0] = -kLock;
  const Layered model = Layered::rbm(weights, below, above);
  const Modes modes = find_modes(model, Base::uniform(model));
  REQUIRE(modes.others);
  const Eigen::VectorXf sums = modes.others->get_layer(0).topRows(2).colwise().sum();
  CHECK(sums.minCoeff() == 0);
  CHECK(sums.maxCoeff() == 2);
  const ChosenBase chosen = choose_auto_base(model, mode_search(model, 1), 1);
  CHECK(chosen.phases->log_z() == Approx(exact_log_z(model).log_z).epsilon(0).margin(0.2));
}

TEST_CASE("a phase that one unit holds is found whole, in all states of what else moves") {
  // What is behind the gate is in 2^12 configurations of wells; short annealing from one of them finds one.
  for (const char* name : {"gate:60:2.5:12:1", "gate:80:4:8:3"}) {
    INFO(name);
    const KnownModel gate = make_known_model(name);
    check_phases(gate);
    const ModeSearch search = mode_search(gate.model, 1);
    const ChosenBase chosen = choose_auto_base(gate.model, search, 1);
    CHECK(chosen.of_modes);
    for (const bool from_uniform : {true, false}) {
      const LayeredTarget target(gate.model,
                                 from_uniform ? Base::uniform(gate.model) : chosen.base);
      const FoundStates found{.modes = chosen.modes, .phases = chosen.phases};
      MethodRuns runs(target, {.chains = 100, .sweeps = 1000, .key = make_key(1)});
      Estimate estimate = runs.estimate("ais");
      CHECK(estimate.status == Status::ok);
      hold_to_found(target, search, visited_states(runs.top_states()), found, estimate);
      if (from_uniform) {
        CHECK(estimate.log_z < gate.known.log_z - 2);
        CHECK(estimate.status != Status::ok);
      } else {
        CHECK(estimate.status == Status::ok);
        CHECK(std::abs(estimate.log_z - gate.known.log_z) < 5 * estimate.std_error + 0.05);
      }
    }
  }
}

TEST_CASE("states are told apart by what a base holds, whatever else of them is near another") {
  // Eight wells beside what is behind the gate: their states are places of bases that hold no units.
  const KnownModel gate = make_known_model("gate:60:3:8:196");
  const ChosenBase chosen = choose_auto_base(gate.model, mode_search(gate.model, 1), 1);
  const Phases& phases = *chosen.phases;
  const auto holds = std::find(phases.holds.begin(), phases.holds.end(), true);
  REQUIRE(holds != phases.holds.end());
  const auto part = static_cast<int>(holds - phases.holds.begin());
  const Eigen::VectorXd& logits = phases.bases[static_cast<std::size_t>(part)].logits[1];
  Eigen::Index unit = 0;
  logits.cwiseAbs().maxCoeff(&unit);
  CHECK((logits.array() != 0).count() == 1);
  const float behind = logits[unit] > 0 ? 1 : 0;
  Chains states(gate.model, 64);
  states.randomise(make_key(3));
  // The second half in all else as what is near another base.
  const int other = part == 1 ? 2 : 1;
  REQUIRE(other < std::ssize(phases.bases));
  const Base& near = phases.bases[static_cast<std::size_t>(other)];
  for (int l = 0; l < 2; ++l)
    for (int i = 0; i < gate.model.size(l); ++i)
      for (int c = 32; c < 64; ++c)
        states.set(l, i, c, near.logits[static_cast<std::size_t>(l)][i] > 0);
  for (int c = 0; c < 64; ++c)
    states.set(1, static_cast<int>(unit), c, c % 2 == 0 ? behind : 1 - behind);
  const std::vector<int> parts = phases.parts_of(states);
  for (int c = 0; c < 64; ++c) CHECK((parts[static_cast<std::size_t>(c)] == part) == (c % 2 == 0));
}

TEST_CASE(
    "many likely modes that differ little do not hide a phase of states that are unlikely each") {
  // 100 weak hidden units of one pattern hold e^5 times what 5 strong ones of another do, a state of which
  // is likelier, beside ten cells of 6 x 2 units that each have two phases.
  const double weak_bias = -3.43801, strong_bias = -263.5921;
  const int signs[2][4] = {{1, 1, -1, -1}, {1, -1, 1, -1}};
  Eigen::MatrixXd weights = Eigen::MatrixXd::Zero(460, 125);
  Eigen::VectorXd visible = Eigen::VectorXd::Zero(460), hidden(125);
  hidden << Eigen::VectorXd::Constant(100, weak_bias), Eigen::VectorXd::Constant(5, strong_bias),
      Eigen::VectorXd::Constant(20, -3.6);
  for (int quarter = 0; quarter < 4; ++quarter) {
    weights.block(100 * quarter, 0, 100, 100).setConstant(0.03 * signs[0][quarter]);
    weights.block(100 * quarter, 100, 100, 5).setConstant(1.6 * signs[1][quarter]);
  }
  visible.tail(60).setConstant(-1.2);
  for (int cell = 0; cell < 10; ++cell)
    weights.block(400 + 6 * cell, 105 + 2 * cell, 6, 2).setConstant(1.2);
  const Layered model = Layered::rbm(weights, visible, hidden);
  // By the numbers of weak and of strong units that are on, and of a cell's.
  const auto choose = [](int n, int k) {
    return std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0);
  };
  const auto softplus = [](double x) {
    return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
  };
  std::vector<double> terms;
  for (int weak = 0; weak <= 100; ++weak)
    for (int strong = 0; strong <= 5; ++strong) {
      double term = choose(100, weak) + choose(5, strong) + weak * weak_bias + strong * strong_bias;
      for (int quarter = 0; quarter < 4; ++quarter)
        term += 100 * softplus(0.03 * signs[0][quarter] * weak + 1.6 * signs[1][quarter] * strong);
      terms.push_back(term);
    }
  std::vector<double> cell;
  for (int on = 0; on <= 2; ++on)
    cell.push_back(choose(2, on) - 3.6 * on + 6 * softplus(1.2 * on - 1.2));
  const auto sum = [](const std::vector<double>& logs) {
    return log_sum_exp(Eigen::VectorXd::Map(logs.data(), std::ssize(logs)));
  };
  const double truth = sum(terms) + 10 * sum(cell);
  for (const std::uint64_t seed : {1, 2, 3}) {
    INFO("seed " << seed);
    const ChosenBase chosen = choose_auto_base(model, mode_search(model, seed), seed);
    REQUIRE(chosen.phases);
    CHECK(std::abs(chosen.phases->log_z() - truth) < 0.5);
    const LayeredTarget target(model, chosen.base);
    MethodRuns runs(target, {.chains = 100, .sweeps = 2000, .key = make_key(seed)});
    Estimate estimate = runs.estimate("rts");
    hold_to_phases(meet_phases(*chosen.phases, visited_states(runs.top_states())), estimate);
    if (estimate.status == Status::ok)
      CHECK(std::abs(estimate.log_z - truth) < 4 * estimate.std_error);
  }
}

TEST_CASE("a phase is found whichever side of a network it is a pattern of") {
  Stream draws(make_key(2, "votes"), Purpose::test);
  const KnownModel votes =
      make_votes({.visible = 200, .weak = 60, .strong = 8, .ahead = 10}, draws);
  const Layered& rbm = votes.model;
  const Layered turned =
      Layered::rbm(rbm.weights(0).transpose(), Eigen::VectorXd(rbm.bias(1)), rbm.bias(0));
  // Below three visible units that nothing depends on.
  std::vector<Layer> layers = {
      {Unit::bernoulli(), Eigen::Vector3d::Zero(), {}}, rbm.layer(0), rbm.layer(1)};
  const Layered deeper(layers, {Eigen::MatrixXd::Zero(3, 200), rbm.weights(0)});
  for (const auto& [model, log_z] : {std::pair(turned, votes.known.log_z),
                                     std::pair(deeper, votes.known.log_z + 3 * std::log(2.0))}) {
    const ChosenBase chosen = choose_auto_base(model, mode_search(model, 1), 1);
    REQUIRE(chosen.phases);
    CHECK(chosen.phases->log_z() == Approx(log_z).epsilon(0).margin(1));
  }
}
