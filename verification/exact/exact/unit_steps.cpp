// Steps of all units of a side, once each, from the likeliest mode, and the climbs from where they lead.
#include "boltzmark/exact/modes/unit_steps.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "boltzmark/core/numeric.hpp"
#include "boltzmark/exact/enumeration/enumeration.hpp"
#include "boltzmark/exact/modes/modes.hpp"
#include "boltzmark/exact/modes/state_list.hpp"
#include "boltzmark/model/base.hpp"
#include "boltzmark/random/stream.hpp"

using namespace boltzmark;

namespace {

Modes stepped_modes(const Layered& model, int seed) {
  ModeSearch search;
  search.climbs.starts = 64;
  search.climbs.key = make_key(static_cast<std::uint64_t>(seed), "modes");
  return find_modes(model, Base::uniform(model), search);
}

constexpr double kAhead = 8;

// Gates that each hold a tenth of a pattern, all of them kAhead nats before none and any alone 10 behind, after
// other hidden units that hold patterns of their own whole: from these climbs lead away from every gate.
Layered gates_among_others(int units, int others) {
  constexpr int kGates = 30;
  constexpr double kWeight = 3, kBias = 0.3, kBehind = 10;
  Stream stream(make_key(7, "gates"), Purpose::test);
  const auto sign = [&] { return stream.uniform() < 0.5 ? -1.0 : 1.0; };
  Eigen::VectorXd visible(units), hidden(others + kGates);
  for (double& bias : visible) bias = kBias * sign();
  Eigen::MatrixXd weights = Eigen::MatrixXd::Zero(units, others + kGates);
  for (int j = 0; j < others; ++j)
    for (double& weight : weights.col(j)) weight = kWeight * sign();
  std::vector<int> held(static_cast<std::size_t>(units));
  std::iota(held.begin(), held.end(), 0);
  for (int j = others; j < others + kGates; ++j)
    for (std::size_t k = 0; k < held.size() / 10; ++k) {
      std::swap(held[k], held[k + static_cast<std::size_t>(stream.below(held.size() - k))]);
      weights(held[k], j) = kWeight;
    }
  // log f of hidden units is their biases' sum and this of the visible units' inputs.
  const auto log_partitions = [](const Eigen::VectorXd& inputs) {
    return inputs.unaryExpr([](double x) { return softplus(x); }).sum();
  };
  const double off = log_partitions(visible);
  const double on = log_partitions(visible + weights.rightCols(kGates).rowwise().sum());
  hidden.tail(kGates).setConstant((off + kAhead - on) / kGates);
  for (int j = 0; j < others; ++j)
    hidden[j] = off - kBehind - log_partitions(visible + weights.col(j));
  // The same model with half of the pattern's units off.
  for (int i = 0; i < units; ++i) {
    if (sign() > 0) continue;
    hidden += weights.row(i).transpose();
    weights.row(i) *= -1;
    visible[i] *= -1;
  }
  return Layered::rbm(weights, visible, hidden);
}

}  // namespace

TEST_CASE("a pattern that many units hold is found among units that hide it, which go first") {
  constexpr int kVisible = 200, kGates = 30, kDead = 40;
  Stream stream(make_key(11, "hidden gates"), Purpose::test);
  const Eigen::VectorXd visible = Eigen::VectorXd::Constant(kVisible, -2);
  Eigen::MatrixXd weights = Eigen::MatrixXd::Zero(kVisible, kGates + kDead);
  std::vector<int> held(kVisible);
  std::iota(held.begin(), held.end(), 0);
  for (int j = 0; j < kGates; ++j)
    for (std::size_t k = 0; k < kVisible / 10; ++k) {
      std::swap(held[k], held[k + static_cast<std::size_t>(stream.below(held.size() - k))]);
      weights(held[k], j) = 4;
    }
  // Dead units share more with gates than these do with each other, and hold e^-40.
  for (int j = kGates; j < kGates + kDead; ++j)
    for (double& weight : weights.col(j)) weight = stream.uniform() < 0.5 ? -4 : 4;
  const auto log_partitions = [](const Eigen::VectorXd& inputs) {
    return inputs.unaryExpr([](double x) { return softplus(x); }).sum();
  };
  const double off = log_partitions(visible);
  Eigen::VectorXd hidden(kGates + kDead);
  hidden.head(kGates).setConstant(
      (off + kAhead - log_partitions(visible + weights.leftCols(kGates).rowwise().sum())) / kGates);
  for (int j = kGates; j < kGates + kDead; ++j)
    hidden[j] = off - 40 - log_partitions(visible + weights.col(j));
  const Modes modes = stepped_modes(Layered::rbm(weights, visible, hidden), 1);
  CHECK(modes.log_f.front() == Approx(off + kAhead).epsilon(1e-9));
}

TEST_CASE("the steepest climb takes the best step each time, worked out by hand") {
  // Three hidden units without a visible one between them: alone they gain -1, 3 and 2.
  const Layered model = Layered::rbm(Eigen::MatrixXd::Zero(1, 3), Eigen::VectorXd::Zero(1),
                                     Eigen::Vector3d(-1, 3, 2));
  const Bipartite sides = list_side(model, 1);
  const auto after = [&](int steps) {
    return climb_steepest(sides, weigh(sides, {1, 0, 0}), steps).indices;
  };
  CHECK(after(0) == std::u16string{1, 0, 0});
  CHECK(after(1) == std::u16string{1, 1, 0});
  CHECK(after(2) == std::u16string{1, 1, 1});
  CHECK(after(3) == std::u16string{0, 1, 1});
  CHECK(after(9) == std::u16string{0, 1, 1});
}

TEST_CASE("a pattern is found that many units hold together, each of which loses by itself") {
  // The larger model is too large to step every unit first.
  for (const auto& [visible, others, seed] :
       {std::tuple{300, 20, 1}, {300, 20, 2}, {600, 370, 1}}) {
    const Layered model = gates_among_others(visible, others);
    const double none = model.bias(0).unaryExpr([](double b) { return softplus(b); }).sum();
    const Modes modes = stepped_modes(model, seed);
    CHECK(modes.log_f.front() == Approx(none + kAhead).epsilon(1e-12));
    CHECK(modes.log_f.back() == Approx(none).epsilon(1e-12));
  }
}

TEST_CASE("all units are stepped once, in the order that pairs tell") {
  constexpr int kUnits = 6;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Stream stream(make_key(seed, "steps"), Purpose::test);
    Eigen::MatrixXd weights(5, kUnits);
    Eigen::VectorXd visible(5), hidden(kUnits);
    for (double& w : weights.reshaped()) w = 2 * stream.normal();
    for (double& b : visible) b = stream.normal();
    for (double& b : hidden) b = stream.normal();
    const Unit kind = seed % 2 == 0 ? Unit::bernoulli() : Unit::multivalued(2);
    const Layered model({{Unit::bernoulli(), visible, {}}, {kind, hidden, {}}}, {weights});
    const Bipartite sides = list_side(model, 1);
    const int highest = sides.enumerated[0].values() - 1;
    std::u16string start(kUnits, u'\0');
    for (char16_t& index : start)
      index = static_cast<char16_t>(stream.below(static_cast<std::uint64_t>(highest) + 1));
    const auto step = [&](std::u16string of, int unit) {
      char16_t& index = of[static_cast<std::size_t>(unit)];
      index = 2 * index > highest ? u'\0' : static_cast<char16_t>(highest);
      return of;
    };
    const auto log_f = [&](const std::u16string& of) { return weigh(sides, of).log_weight; };
    // What each step gains by itself, and two of them besides.
    Eigen::VectorXd gains(kUnits);
    Eigen::MatrixXd shared = Eigen::MatrixXd::Zero(kUnits, kUnits);
    for (int i = 0; i < kUnits; ++i) gains[i] = log_f(step(start, i)) - log_f(start);
    for (int i = 0; i < kUnits; ++i)
      for (int k = 0; k < kUnits; ++k)
        if (k != i)
          shared(i, k) = log_f(step(step(start, i), k)) - log_f(start) - gains[i] - gains[k];
    std::vector<UnitStep> all;
    for (int i = 0; i < kUnits; ++i) {
      const Unit of = sides.enumerated[static_cast<std::size_t>(i)];
      all.push_back({i, of.value(step(start, i)[static_cast<std::size_t>(i)]) -
                            of.value(start[static_cast<std::size_t>(i)])});
    }
    const ListedState from = weigh(sides, start);
    const UnitSteps steps(sides, from.inputs, from.linear, all);
    CHECK(steps.start() == from.log_weight);
    for (const StepOrder order : {StepOrder::gains, StepOrder::shared}) {
      if (order == StepOrder::shared) gains.setZero();
      Eigen::VectorXd after = gains;
      std::u16string state = start;
      std::vector<int> left(kUnits), made;
      std::vector<double> log_weights;
      std::iota(left.begin(), left.end(), 0);
      for (int next = 3;;) {
        state = step(state, next);
        made.push_back(next);
        log_weights.push_back(log_f(state));
        after += shared.col(next);
        left.erase(std::find(left.begin(), left.end(), next));
        if (left.empty()) break;
        next = *std::max_element(left.begin(), left.end(),
                                 [&](int a, int b) { return after[a] < after[b]; });
      }
      const StepWalk found = steps.walk(3, order, kUnits);
      CHECK(found.order == made);
      REQUIRE(found.log_weights.size() == kUnits);
      for (std::size_t k = 0; k < kUnits; ++k)
        CHECK(found.log_weights[k] == Approx(log_weights[k]).margin(1e-12));
      CHECK(steps.walk(3, order, 2).order == std::vector<int>(made.begin(), made.begin() + 2));
    }
  }
}
