// The verifier verified: its checks refuse what is wrong, and look where they say that they look.
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <regex>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/random/draws.hpp"
#include "verification/checks/adaptive_pairs.hpp"
#include "verification/checks/check_cases.hpp"
#include "verification/checks/check_slopes.hpp"
#include "verification/checks/check_tempered_cases.hpp"
#include "verification/checks/decision_bound.hpp"
#include "verification/checks/states.hpp"
#include "verification/checks/subjects.hpp"
#include "verification/checks/verifier.hpp"
#include "verification/checks/worst.hpp"

using namespace boltzmark;

namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

using MakeCheck = Check (*)(Check check, CaseStatistic statistic);

CheckOutcome made_up(MakeCheck make, double bound, const CaseStatistic& statistic, int cases) {
  return make({.name = "n", .subject = "s", .statement = "", .bound = bound}, statistic)
      .run(cases, 7);
}

// A statistic of the values 1, 2, 3, .. in the order in which cases come.
CaseStatistic counting(std::atomic<int>& cases) {
  return [&cases](Stream&) { return CaseOutcome{static_cast<double>(++cases), ""}; };
}

struct Seen {
  const char *name, *subject;
  std::vector<std::string> patterns;  // each of some case's detail
};

// The patterns that no detail has of 120 cases, each the only one of a run.
std::vector<std::string> not_seen(const Seen& seen) {
  std::vector<std::string> left = seen.patterns;
  for (const Check& check : registered_checks()) {
    if (check.name != seen.name || check.subject != seen.subject) continue;
    for (int i = 0; i < 120 && !left.empty(); ++i) {
      const std::string detail = check.run(1, 100 + i).detail;
      std::erase_if(left, [&](const std::string& pattern) {
        return std::regex_search(detail, std::regex(pattern));
      });
    }
  }
  return left;
}

constexpr const char* kRbm = "^[0-9]+x[0-9]+,";
constexpr const char* kDeep = "^[0-9]+x[0-9]+x[0-9]+";

}  // namespace

TEST_CASE("a NaN is worse than any error, and is not lost among those that come after") {
  CHECK(worse(1, 2) == 2);
  CHECK(worse(2, 1) == 2);
  CHECK(worse(-2, -1) == -1);
  CHECK(std::isnan(worse(kNoNumber, 1)));
  CHECK(std::isnan(worse(1, kNoNumber)));
  for (Eigen::Index place = 0; place < 9; ++place) {
    Eigen::VectorXd values = Eigen::VectorXd::LinSpaced(9, -5, 3);
    CHECK(largest_of(values) == 5);
    values[place] = kNoNumber;
    CHECK(std::isnan(largest_of(values)));
    CHECK(std::isnan(largest_of(values.cast<float>() * 2)));
  }
  JointLaw law(3, Eigen::MatrixXd::Ones(2, 2)), other = law;
  other[1](0, 1) = 0.25;
  CHECK(largest_difference(law, other) == 0.75);
  other[0](1, 0) = kNoNumber;
  CHECK(std::isnan(largest_difference(law, other)));
}

TEST_CASE("parameters differ by as much as any weight or bias does") {
  const Parameters zero{
      .weights = {Eigen::MatrixXd::Zero(2, 3), Eigen::MatrixXd::Zero(3, 1)},
      .biases = {Eigen::VectorXd::Zero(2), Eigen::VectorXd::Zero(3), Eigen::VectorXd::Zero(1)}};
  CHECK(largest_difference(zero, zero) == 0);
  for (const double value : {-1.0, kNoNumber}) {
    const auto is_told = [&](double& parameter, const Parameters& of) {
      parameter = value;
      const double found = largest_difference(of, zero);
      parameter = 0;
      return std::isnan(value) ? std::isnan(found) : found == 1;
    };
    Parameters other = zero;
    for (Eigen::MatrixXd& weights : other.weights)
      for (double& weight : weights.reshaped()) CHECK(is_told(weight, other));
    for (Eigen::VectorXd& biases : other.biases)
      for (double& bias : biases) CHECK(is_told(bias, other));
  }
}

// x^2 y + b^2 at (2, 3), 5: slopes 12, 4 and 10.
TEST_CASE("a wrong slope of any parameter shows, and one that is no number") {
  Parameters at{.weights = {Eigen::RowVector2d(2, 3)}, .biases = {Eigen::VectorXd::Constant(1, 5)}};
  const auto value = [&] {
    const Eigen::MatrixXd& w = at.weights[0];
    return w(0, 0) * w(0, 0) * w(0, 1) + at.biases[0][0] * at.biases[0][0];
  };
  Parameters right{.weights = {Eigen::RowVector2d(12, 4)},
                   .biases = {Eigen::VectorXd::Constant(1, 10)}};
  CHECK(slope_error(at, right, value) < 1e-8);
  Parameters wrong = right;
  wrong.weights[0](0, 1) = 4.5;
  CHECK(slope_error(at, wrong, value) == Approx(0.5));
  wrong = right;
  wrong.biases[0][0] = 9;
  CHECK(slope_error(at, wrong, value) == Approx(1));
  CHECK(std::isnan(slope_error(at, right, [&] {
    const double size = at.weights[0].sum();
    return size > 5 ? kNoNumber : value();  // above the first weight, and not below the bias
  })));
}

TEST_CASE("a check runs every case on its own draws, and is as good as the worst or the mean") {
  for (const int cases : {1, 2, 21}) {
    std::atomic<int> ran = 0;
    const CheckOutcome worst = made_up(bounded_check, cases, counting(ran), cases);
    CHECK(ran == cases);
    CHECK(worst.value == cases);
    CHECK(worst.cases == cases);
    CHECK(worst.holds);
    ran = 0;
    CHECK_FALSE(made_up(bounded_check, cases - 0.5, counting(ran), cases).holds);
    ran = 0;
    CHECK(made_up(exceeding_check, cases - 0.5, counting(ran), cases).holds);
    ran = 0;
    const CheckOutcome mean =
        made_up(mean_check, 11, counting(ran), cases);  // of 1..n: (n + 1) / 2
    CHECK(mean.value == Approx((cases + 1) / 2.0));
    CHECK(mean.holds);
    ran = 0;
    CHECK(made_up(mean_check, (cases + 1) / 2.0 - 0.1, counting(ran), cases).holds == false);
  }
  // One NaN, wherever it comes.
  for (int place = 1; place <= 5; ++place)
    for (const MakeCheck make : {bounded_check, mean_check, exceeding_check}) {
      std::atomic<int> ran = 0;
      const CheckOutcome outcome = made_up(
          make, 1,
          [&](Stream&) {
            return CaseOutcome{++ran == place ? kNoNumber : 0, ""};
          },
          5);
      CHECK_FALSE(outcome.holds);
      CHECK(std::isnan(outcome.value));
    }
  // The mean of 400 numbers uniform on (0, 1): 0.5 +- 0.015, six of which are left on either side.
  const CheckOutcome uniform = made_up(
      mean_check, 1,
      [](Stream& s) {
        return CaseOutcome{s.uniform(), ""};
      },
      400);
  CHECK(std::abs(uniform.value - 0.5) < 0.09);
  const CheckOutcome largest = made_up(
      bounded_check, 1,
      [](Stream& s) {
        return CaseOutcome{s.uniform(), ""};
      },
      400);
  CHECK(largest.value > 0.95);  // all below with probability 1e-9
  std::atomic<int> ran = 0;
  CHECK_THROWS_AS(made_up(bounded_check, 1, counting(ran), 0), InvalidArgument);
}

// Each kind comes with probability 1/50 or more: 2,000 draws miss one with e^-40.
TEST_CASE("random models of checks are of every depth, size of parameters and kind of units") {
  std::set<int> depths, unit_depths, codes;
  std::set<double> largest;
  bool tied = false, ternary = false;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    Stream stream(make_key(i, "random models of checks"), Purpose::test);
    const Layered model = draw_check_model(stream, 3);
    depths.insert(model.layers());
    double weight = 0, bias = 0;
    for (int l = 0; l < model.layers(); ++l) {
      bias = std::max(bias, model.bias(l).cwiseAbs().maxCoeff());
      if (l + 1 == model.layers()) break;
      weight = std::max(weight, model.weights(l).cwiseAbs().maxCoeff());
      REQUIRE((model.weights(l) * 256).array().isApprox((model.weights(l) * 256).array().round()));
    }
    tied = tied || (weight == 0 && bias == 0);
    ternary = ternary || (weight == 1 && bias == 1);
    largest.insert(std::min(weight, bias));
    const Layered units = draw_unit_model(stream);
    unit_depths.insert(units.layers());
    double states = 1;
    for (int l = 0; l < units.layers(); ++l) {
      codes.insert(units.layer(l).unit.code());
      states *= std::pow(units.layer(l).unit.values(), units.size(l));
    }
    REQUIRE(states <= 1024);
  }
  CHECK(depths == std::set{2, 3, 4, 5});
  CHECK(unit_depths == depths);
  CHECK(codes == std::set{0, 1, 2, 3, 4, 5, 8, 16, 64});
  CHECK(tied);
  CHECK(ternary);
  CHECK(*largest.rbegin() == 100);
}

TEST_CASE("random tempered cases have every kind of ladder, base, prior, Zhat and states") {
  std::set<bool> linear, geometric, uneven, uniform_base, uniform_prior, exact_z_hat, joint;
  for (std::uint64_t i = 0; i < 60; ++i) {
    Stream stream(make_key(i, "random tempered cases"), Purpose::test);
    const TemperedCase c = draw_tempered_case(stream, draw_generic_model(stream, 1, 2), 6);
    const auto is = [&](const Ladder& other) { return c.ladder.singles() == other.singles(); };
    if (const int rungs = c.ladder.rungs(); rungs > 2) {  // of two there is one
      linear.insert(is(Ladder::linear(rungs)));
      geometric.insert(is(Ladder::geometric(rungs)));
      uneven.insert(!is(Ladder::linear(rungs)) && !is(Ladder::geometric(rungs)));
    }
    uniform_base.insert(c.base.logits[0].isZero() && c.base.logits[1].isZero());
    uniform_prior.insert(c.log_prior.isApproxToConstant(c.log_prior[0]));
    CHECK(c.log_prior.array().exp().sum() == Approx(1));
    const double off = (c.log_z_hat - c.space(States::joint).log_z()).cwiseAbs().maxCoeff();
    exact_z_hat.insert(off < 1e-10);
    joint.insert(draw_states(stream) == States::joint);
  }
  const std::set both{false, true};
  CHECK(linear == both);
  CHECK(geometric == both);
  CHECK(uneven == both);
  CHECK(uniform_base == both);
  CHECK(uniform_prior == both);
  CHECK(exact_z_hat == both);
  CHECK(joint == both);
}

// One case a run, so that its detail is of that case. A pattern is of one case in 20 or more, which
// 120 miss with probability 0.2 %.
TEST_CASE("checks meet the models, units, rungs and rules that they are about") {
  const std::vector<Seen> all = {
      {"production-law",
       "flip",
       {kRbm, kDeep, "beta 0\\.", "beta 1,", "for 1 chains x 1 sweeps", "for 100 chains x 1 sweeps",
        "for 1 chains x 1000 sweeps", "for 100 chains x 1000 sweeps"}},
      {"production-law (discrete units)", "flip", {"value 1 ", "value [2-9]"}},
      {"invariance", "flip", {kRbm, kDeep}},
      {"invariance (discrete units)", "flip", {kDeep, "X\\(64\\)", "X\\(3\\)"}},
      {"enumeration", "log_z", {kRbm, kDeep}},
      {"mean-weight", "ais", {kRbm, kDeep, "odd layers", "even layers", "2 temp", "6 temp"}},
      {"mean-weight (discrete units)", "ais", {kDeep, "X\\(1\\)", "X\\(2\\)", "X\\(3\\)"}},
      {"mean-weight (discrete units)", "raise", {kDeep, "X\\(1\\)", "X\\(2\\)", "X\\(3\\)"}},
      {"phi-closed-form", "multivalued", {"s = [56][0-9],", "x = -", "x = [1-6][0-9]"}},
      {"psi-slope", "multivalued", {"X\\(1\\)", "X\\(7\\)", "continuous"}},
      {"gradient-slope", "multivalued", {"X\\(1\\)", "X\\(7\\)", "continuous"}},
      {"gradient-slope", "discriminative", {"Bernoulli", "X\\(7\\)", "continuous"}},
      {"detailed-balance",
       "tempered-transitions",
       {kRbm, kDeep, "gibbs", "flip", "blend", "2 temp", "3 temp", "4 temp"}},
      {"production-law", "tempered-transitions", {kRbm, kDeep, "2 temp", "3 temp"}},
      {"pair-invariance", "adaptive-tempering", {kRbm, kDeep, "2 rungs", "5 rungs", "from 0$"}},
      {"pair-invariance", "wang-landau", {kRbm, kDeep, "2 rungs", "5 rungs"}},
      {"fast-weights", "fpcd", {kRbm, kDeep, "decay 0$", "decay 0.5", "decay 1$"}},
      {"tied-statistics", "pretraining", {"2 x 1 copies", "1 x 2 copies", "2 x 2 copies"}},
      {"gradient-slope", "gaussian", {kRbm, kDeep, "Bernoulli", "X\\(2\\)"}},
      {"below-log-z", "lower_bound", {kRbm, kDeep, "all [0-9]+ states", ", [0-9]+ states"}},
      {"below-log-z (discrete units)", "lower_bound", {"X\\(64\\)", "X\\(3\\)"}},
      {"exact-occupancies", "rts", {", [2-5][0-9] rungs"}}};  // of K = 2..50 the worst may be any
  for (const Seen& seen : all) {
    CAPTURE(seen.name, seen.subject);
    CHECK(not_seen(seen) == std::vector<std::string>{});
  }
}

// A hidden unit of bias 1/2 above three visible ones that are on, of weights w, 2 w and 3 w: of
// exact sums for w = 1/8, and for w = 0.1 of terms that float32 must round. u = 2^-24.
TEST_CASE("the bound of a threshold is of some roundings of float32, not of a thousand") {
  const auto bound_of = [](double w) {
    const Layered model = Layered::rbm(Eigen::Vector3d(w, 2 * w, 3 * w), Eigen::Vector3d::Zero(),
                                       Eigen::VectorXd::Constant(1, 0.5));
    const StateSpace space(model);
    const std::size_t on = index_of(space, {Eigen::Vector3d::Ones(), Eigen::VectorXd::Zero(1)});
    return decision_bound(model, Base::uniform(model), Rule::gibbs(), 1, space, 3, on);
  };
  const DecisionBound exact = bound_of(0.125), rounded = bound_of(0.1);
  CHECK(exact.input_error == 0);
  CHECK(rounded.input_error > 0x1p-25);
  CHECK(rounded.input == Approx(1.1));
  // Four terms, whose sizes add up to 1.1, and three more roundings at most.
  CHECK(rounded.input_error < 8 * 0x1p-24 * 1.11);
  for (const DecisionBound& bound : {exact, rounded}) {
    CHECK(bound.errors[0] > 0.5 * 0x1p-32);
    CHECK(bound.errors[0] < 30 * 0x1p-24);  // the slope of a threshold is at most 1/4
  }
}
