// Phases of models whose log Z is worked out by hand, which modes of one side alone would not lead to.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "boltzmark/core/numeric.hpp"
#include "boltzmark/estimate/held.hpp"
#include "boltzmark/exact/known/known_model.hpp"
#include "boltzmark/exact/log_z.hpp"
#include "boltzmark/random/stream.hpp"

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

TEST_CASE("a run's base near a phase is on one side where that leads there, else on both") {
  const KnownModel well = make_known_model("well:100:12:5:1");
  const ChosenBase one = choose_auto_base(well.model, mode_search(well.model, 1), 1);
  CHECK(one.of_modes);
  CHECK(one.base.logits[static_cast<std::size_t>(one.modes->parity)].isZero());
  // The visible units are the fewer: from means of the hidden ones alone chains leave the pattern.
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
  for (const Eigen::VectorXd& logits : both.base.logits) CHECK_FALSE(logits.isZero());
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
