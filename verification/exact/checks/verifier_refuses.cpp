// The verifier verified: its checks refuse what is wrong, and look where they say that they look.
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <regex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/random/draws.hpp"
#include "verification/checks/check_cases.hpp"
#include "verification/checks/check_slopes.hpp"
#include "verification/checks/check_tempered_cases.hpp"
#include "verification/checks/laws/adaptive_pairs.hpp"
#include "verification/checks/laws/decision_bound.hpp"
#include "verification/checks/laws/states.hpp"
#include "verification/checks/verifier.hpp"
#include "verification/checks/worst.hpp"

using namespace boltzmark;

namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

using MakeCheck = Check (*)(std::string, std::string, std::string, double, CaseStatistic);

CheckOutcome made_up(MakeCheck make, double bound, const CaseStatistic& statistic, int cases) {
  return make("n", "s", "", bound, statistic).run(cases, 7);
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
constexpr const char* kFiveLayers = "^[0-9]+x[0-9]+x[0-9]+x[0-9]+x[0-9]+";

// A pattern is of one case in 20 or more, which 120 miss with probability 0.2 %.
const std::vector<Seen>& seen_checks() {
  static const std::vector<Seen> all = {
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
      {"spins-are-bits", "multivalued", {", [1-9][0-9]* of [0-9]+ values -1"}},
      {"gradient-slope",
       "multivalued",
       {"X\\(1\\)", "X\\(7\\)", "continuous", ", [1-9][0-9]* of [0-9]+ values -1"}},
      {"gradient-slope",
       "discriminative",
       {"Bernoulli", "X\\(7\\)", "continuous", "[0-9]-[0-9]-2, ", "[0-9]-[0-9]-5, ",
        "labels.* [1-9]"}},
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
      {"mean-weight (base of modes)", "ais", {"hidden ones <= 0$", "\\|logits\\| <= [0-9.]*[1-9]"}},
      {"bound-below", "mean-field", {kRbm, kFiveLayers, "X\\(3\\)", "\\|w\\| <= [1-9][0-9]"}},
      {"bound-never-falls", "mean-field", {kFiveLayers, "X\\(3\\)", "\\|w\\| <= [1-9][0-9]"}},
      {"updates-follow-law",
       "mean-field",
       {kRbm, kFiveLayers, "X\\(3\\)", "\\|w\\| <= [1-9][0-9]"}},
      {"bound-slope", "mean-field", {kFiveLayers, "X\\(3\\)"}},
      {"inverse-normal", "gaussian", {kRbm, kDeep, "\\|z\\| <= 6"}},
      {"log-z-quadrature", "gaussian", {kRbm, kDeep, "X\\(2\\)"}},
      {"standardised-density", "gaussian", {kRbm, kDeep, "X\\(2\\)"}},
      {"reweighted-law", "partition", {"in 2 sets", "in 4 sets", "\\|log g\\| <= [34]"}},
      {"every-path", "partition", {"in 2 sets", "in 4 sets", "constant factor", "fast weights"}},
      {"enumeration", "gradient", {", [1-9][0-9]* of [0-9]+ values 1"}},
      {"enumeration (discrete units)", "log_z", {kDeep, "X\\(64\\)", "X\\(3\\)"}},
      {"rung-law", "simulated-tempering", {kRbm, kDeep, ", 1[0-9] rungs", "exact", "off"}},
      {"likelihood-gradient", "rts", {kRbm, kDeep, "10 rungs", "exact", "off"}},
      {"composed-law", "pretraining", {"Bernoulli", "X\\(2\\)"}},
      // Of K = 2..50 the worst may be any.
      {"exact-occupancies", "rts", {", [2-5][0-9] rungs"}}};
  return all;
}

// The checks that some test gives what is wrong, and sees to refuse it: wrong_samplers.cpp, and
// own_rule.cpp of rules of one's own.
constexpr const char* kGivenWrong[] = {
    "(invariance|detailed-balance)( \\(discrete units\\))?/(gibbs|flip|blend:0.5|metropolis)",
    "production-stationarity( \\(discrete units\\))?/.*",
    "tempered-invariance( \\(discrete units\\))?/.*",
    "joint-invariance \\(.*\\)/parallel-tempering",
    "pair-invariance \\(.*\\)/simulated-tempering",
    "(lemma-1|theorem-1-climb|irreducible|modes-joined|modes-stay|aperiodic)/.*",
    "counter-example/metropolis",
    "changes-as-often/.*",
    "(activation-difference|whole-matrix-transform|periodic-scan)/flip",
    "(rung-chain|rao-blackwell)/simulated-tempering",
    "(production-)?joint-invariance/cast (each|lag)",
    "handed-over-distance/cast (entry|last)",
    "(positive-phase|negative-phase|still-at-the-data|leaves-p)/fpcd",
    "production-law/tempered-transitions",
    "mean-weight/(ais|raise|smc)",
    "mean-log-weight/ais",
    "(exact-occupancies|bias-sign)/rts",
    "bridge-identity/bar",
    "expected-counts/mbar",
    "discretisation/ti",
    "variance-correction/ti-corrected",
    "(spins-are-bits|inverse-transform|blocked-gibbs)/multivalued",
    "dbm-likelihood( \\(discrete units\\))?/likelihood",
    "(bound-never-falls|updates-follow-law)/mean-field",
    "inverse-normal/gaussian",
    "tied-statistics/pretraining",
    "below-log-z( \\(discrete units\\))?/lower_bound",
};

// Those that are neither given what is wrong nor looked at case by case, and why.
constexpr const char* kExempt[] = {
    // Of each rule the check that is seen of flip.
    "production-law( \\(discrete units\\))?/(gibbs|blend:0.5|metropolis)",
    // A number against its closed form, or that of another program: nothing that both share, and
    // a check that does not look finds 0, which verifier.cpp does not believe.
    "independent-units/(gibbs|flip)",
    "rate-of-convergence/.*",
    "autocorrelation-time/.*",
    "phi-limit/multivalued",
    "two-spins/(multivalued|partition)",
    "equal-weights/partition",
    "continuous-temperatures/ti-continuous",
    "continuous-limit/ti-rb",
    "first-order/sams",
    "spins-are-bits/discriminative",
    "riemann-sum/ais",
    "growing-acceptance/adaptive-tempering",
    // What is given wrong moments without it, with the law of the kernels, whose recovery is held to
    // the double law in exact/exact/recovered_sweep.cpp; and the law that it ends in.
    "mean-weight \\(production sweep\\)/(ais|raise)",
    "annealed-law/raise",
    // Laws of pairs that exact/sample/coupled_tempering.cpp holds to the paper's algorithm.
    "production-pair-invariance/adaptive-tempering",
    "(kept-states|constant-factor|constant-factor-distance)/adaptive-tempering",
    "handed-over-law/cast (entry|last)",
    "production-exchange/cast entry",
    "handed-over-kernel/cast last",
    // The largest eigenvalue and the excess of a variance are compared with 0 alone, and are found
    // well below it.
    "concave-likelihood/rts-mixed",
    "random-scan/flip",
};

// Of a hidden unit above three visible ones that are on, of weights w, 2 w and 3 w.
DecisionBound threshold_bound(double w, double bias, const Rule& rule = Rule::gibbs()) {
  const Layered model = Layered::rbm(Eigen::Vector3d(w, 2 * w, 3 * w), Eigen::Vector3d::Zero(),
                                     Eigen::VectorXd::Constant(1, bias));
  const StateSpace space(model);
  const std::size_t on = index_of(space, {Eigen::Vector3d::Ones(), Eigen::VectorXd::Zero(1)});
  return decision_bound(model, Base::uniform(model), rule, 1, space, 3, on);
}

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

// One case a run, so that its detail is of that case.
TEST_CASE("checks meet the models, units, rungs and rules that they are about") {
  for (const Seen& seen : seen_checks()) {
    CAPTURE(seen.name, seen.subject);
    CHECK(not_seen(seen) == std::vector<std::string>{});
  }
}

TEST_CASE(
    "every check has been seen to refuse, or its cases are seen, or there is a reason not to") {
  std::set<std::string> seen;
  for (const Seen& one : seen_checks()) seen.insert(std::string(one.name) + "/" + one.subject);
  std::set<const char*> matched;
  for (const Check& check : registered_checks()) {
    const std::string name = check.name + "/" + check.subject;
    CAPTURE(name);
    const auto is_one_of = [&](std::span<const char* const> patterns) {
      int count = 0;
      for (const char* pattern : patterns)
        if (std::regex_match(name, std::regex(pattern))) {
          matched.insert(pattern);
          ++count;
        }
      CHECK(count <= 1);
      return count > 0;
    };
    const bool refuses = is_one_of(kGivenWrong), is_exempt = is_one_of(kExempt);
    CHECK((refuses || seen.contains(name)) != is_exempt);
    // Of these not even the size of what they find tells whether they look: verifier.cpp.
    if (check.bound == 0 || check.name == "tied-statistics" || check.name == "variance-correction")
      CHECK(refuses);
  }
  CHECK(matched.size() == std::size(kGivenWrong) + std::size(kExempt));
}

// Of exact sums for w = 1/8, and for w = 0.1 of terms that float32 must round. u = 2^-24.
TEST_CASE("the bound of a threshold is of some roundings of float32, not of a thousand") {
  const DecisionBound exact = threshold_bound(0.125, 0.5), rounded = threshold_bound(0.1, 0.5);
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

TEST_CASE("a threshold of a rule of one's own is bounded as closely, and to 2^-32 of exact sums") {
  const Rule echo = Rule::of("echo of Gibbs", [](Unit unit, double input, int now, auto next) {
    next_law(Rule::gibbs(), unit, input, now, next);
  });
  CHECK(threshold_bound(0.125, 0.5, echo).errors[0] < 1e-9);
  CHECK(threshold_bound(0.1, 0.5, echo).errors[0] > 0x1p-28);
  CHECK(threshold_bound(0.1, 0.5, echo).errors[0] < 30 * 0x1p-24);
}

// Ties of exact sums are ties to float32 too, and 0.3 is a million times what is rounded.
TEST_CASE(
    "the law of a threshold is held to at every input but those that rounding may turn over") {
  CHECK(threshold_bound(0, 0).sign_is_certain);
  CHECK(threshold_bound(0.125, -0.75).sign_is_certain);
  CHECK(threshold_bound(0.125, 0.5).sign_is_certain);
  CHECK(threshold_bound(0.1, -0.3).sign_is_certain);
  CHECK(threshold_bound(0.1, -0.9).sign_is_certain);
  const DecisionBound near = threshold_bound(0.1, -0.6 + 1e-8);
  CHECK(near.input_error > 2e-8);
  CHECK_FALSE(near.sign_is_certain);
}
