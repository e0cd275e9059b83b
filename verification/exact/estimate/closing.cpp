// What can be no estimate is never ok, whatever the method and the model.
#include "boltzmark/estimate/closing.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "boltzmark/estimate/estimators/thermodynamic_integration.hpp"
#include "boltzmark/estimate/held/held.hpp"
#include "boltzmark/estimate/methods.hpp"
#include "boltzmark/exact/log_z.hpp"
#include "boltzmark/target/layered_target.hpp"

using namespace boltzmark;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

Layered constant_model(double value) {
  return Layered::rbm(Eigen::MatrixXd::Constant(10, 6, value), Eigen::VectorXd::Constant(10, value),
                      Eigen::VectorXd::Constant(6, value));
}

/// Weights of both signs, none like another.
Layered mixed_model(double scale) {
  Layered model = constant_model(0);
  Eigen::MatrixXd weights(10, 6);
  for (int i = 0; i < weights.size(); ++i) weights.data()[i] = scale * std::sin(1 + 37.0 * i);
  return Layered::rbm(weights, weights.col(0), weights.row(0).transpose());
}

/// What |log Z| cannot exceed: all parameters, and the logarithm of the number of states.
double bound_of(const Layered& model) {
  return model.weights(0).cwiseAbs().sum() + model.bias(0).cwiseAbs().sum() +
         model.bias(1).cwiseAbs().sum() + 16 * std::log(2.0);
}

/// An estimate with every number that one must have.
Estimate sound() {
  return {.log_z = 10, .std_error = 0.1, .lower = 9.8, .upper = 10.2, .effective_samples = 100};
}

void check_honest(const Estimate& estimate) {
  const bool finite = std::isfinite(estimate.log_z) && std::isfinite(estimate.std_error) &&
                      std::isfinite(estimate.lower) && std::isfinite(estimate.upper) &&
                      std::isfinite(estimate.effective_samples);
  CHECK((finite || estimate.status != Status::ok));
  CHECK((estimate.status == Status::ok || !estimate.warnings.empty()));
  for (const double number : {estimate.log_z, estimate.std_error, estimate.lower, estimate.upper})
    CHECK_FALSE(std::isinf(number));
}

/// Ten bundles of samples whose D grow with the rung, `scale` times too large.
SampleStore store_of(double scale) {
  SampleStore store{.ladder = Ladder::linear(5),
                    .log_prior = Eigen::VectorXd::Constant(5, -std::log(5.0)),
                    .log_z_hat = Eigen::VectorXd::LinSpaced(5, 0, 10),
                    .log_ratio = Eigen::MatrixXd(200, 10),
                    .rung = Eigen::MatrixXi(200, 10)};
  for (int c = 0; c < 10; ++c)
    for (int s = 0; s < 200; ++s) {
      const int step = (s + c) % 8;  // up and down the ladder
      store.rung(s, c) = step < 5 ? step : 8 - step;
      store.log_ratio(s, c) = scale * (9 + 0.5 * store.rung(s, c) + std::sin(7.0 * s + c));
    }
  return store;
}

}  // namespace

TEST_CASE("no method says ok of an extreme model unless it gives its log Z") {
  std::vector<Layered> models;
  for (const double value : {1e3, 1e9, 1e30, 1e37, -1e3, -1e9, -1e30, -1e37, 0.0})
    models.push_back(constant_model(value));
  for (const double scale : {1e2, 1e9, 1e30, 1e37}) models.push_back(mixed_model(scale));
  for (const Layered& model : models) {
    const LayeredTarget target(model, Base::uniform(model));
    const double bound = bound_of(model);
    const double truth = bound < 1e14 ? exact_log_z(model).log_z : Estimate::kNone;
    for (const int rungs : {2, 5}) {
      MethodRuns runs(target,
                      {.sweeps = 1000, .ladder = Ladder::linear(rungs), .key = make_key(1)});
      for (const Method& method : registered_methods()) {
        if (method.source == Source::own)
          continue;  // a test registers some, which answer for themselves
        const Estimate estimate = runs.estimate(method.name);
        INFO(fmt::format("{} of a model with log Z = {}, {} rungs: {} +- {} {}", method.name, truth,
                         rungs, estimate.log_z, estimate.std_error, name(estimate.status)));
        check_honest(estimate);
        // A regression of one seed: within ten standard errors of log Z.
        if (estimate.status != Status::ok) continue;
        CHECK(std::abs(estimate.log_z) <= bound + 10 * estimate.std_error + 1e-9 * bound);
        CHECK(estimate.std_error <= bound);
        if (std::isnan(truth)) continue;  // the sums of such a model cannot be enumerated
        CHECK(std::abs(estimate.log_z - truth) <= 10 * estimate.std_error + 1e-9 * std::abs(truth));
      }
    }
  }
}

TEST_CASE("samples whose D are 1e160 times too large give no method an ok") {
  for (const double scale : {1e160, -1e160, 1e300})
    for (const Method& method : registered_methods()) {
      if (method.source != Source::tempered || method.name == "rts-mixed") continue;
      const Estimate estimate = estimate_from(method.name, store_of(scale));
      INFO(fmt::format("{}: {} {}", method.name, estimate.log_z, name(estimate.status)));
      CHECK(estimate.status != Status::ok);
      check_honest(estimate);
    }
  CHECK(estimate_from("ti", store_of(1)).status == Status::ok);
}

TEST_CASE("log Z by a rule without slopes is there although the variance of D overflows") {
  for (const char* method : {"ti", "ti-riemann", "ti-simpson"}) {
    const double plain = estimate_from(method, store_of(1)).log_z;
    CHECK(estimate_from(method, store_of(1e160)).log_z == Approx(1e160 * plain).epsilon(1e-12));
  }
}

TEST_CASE(
    "an estimate with a number that is not finite is closed as not converged, with a reason") {
  CHECK(closed(sound()).status == Status::ok);
  CHECK(closed(sound()).warnings.empty());
  for (const double bad : {kInf, -kInf, Estimate::kNone})
    for (double Estimate::*number : {&Estimate::log_z, &Estimate::std_error, &Estimate::lower,
                                     &Estimate::upper, &Estimate::effective_samples}) {
      Estimate estimate = sound();
      estimate.*number = bad;
      estimate = closed(estimate);
      check_honest(estimate);
      CHECK(estimate.status == Status::not_converged);
      REQUIRE(estimate.warnings.size() == 1);
    }
}

TEST_CASE("the reason why there is no log Z comes first, and a method's own is kept") {
  Estimate estimate{.warnings = {"cases are from a tempered run"}};
  CHECK_THAT(closed(estimate).warnings.front(), Catch::Contains("not finite"));
  Estimate refused;
  refused.refuse(Status::unvisited_rung, "a rung has no sample");
  CHECK(closed(refused).status == Status::unvisited_rung);
  CHECK(closed(refused).warnings == std::vector<std::string>{"a rung has no sample"});
}

TEST_CASE("an estimate without log Z is not converged at least, whatever its own reason") {
  Estimate few;
  few.refuse(Status::few_effective_samples, "few");
  CHECK(closed(few).status == Status::not_converged);
  CHECK(closed(few).warnings == std::vector<std::string>{"few"});
}

TEST_CASE("an ok estimate within ten standard errors of the range of D stays so, and others not") {
  CHECK(closed(sound(), {9, 11}).status == Status::ok);
  CHECK(closed(sound(), {11 - 0.01, 12}).status == Status::ok);
  CHECK(closed(sound(), {11 + 0.01, 12}).status == Status::not_converged);
  CHECK(closed(sound(), {1, 9 + 0.01}).status == Status::ok);
  CHECK(closed(sound(), {1, 9 - 0.01}).status == Status::not_converged);
  CHECK_THAT(closed(sound(), {11 + 0.01, 12}).warnings.at(0),
             Catch::Contains("within 11.01 .. 12: use more rungs"));
  Estimate blind = sound();
  blind.std_error = 3.1;  // above the largest |D| and a nat
  CHECK(closed(blind, {-2, 2}).status == Status::not_converged);
  CHECK(closed(blind, {-2, 2.2}).status == Status::ok);
  CHECK(closed(blind, {-2.2, 2}).status == Status::ok);
}

TEST_CASE("an error that leaves Z unknown by powers of ten is no ok, whatever one D there is") {
  Estimate estimate = sound();
  for (const auto& [error, status] : {std::pair{9.9, Status::ok}, {10.1, Status::not_converged}}) {
    estimate.std_error = error;
    CHECK(closed(estimate, {-1e4, 1e4}).status == status);
    CHECK(closed(estimate, {-HUGE_VAL, HUGE_VAL}).status == status);
  }
  CHECK_THAT(closed(estimate, {-1e4, 1e4}).warnings.front(), Catch::Contains("10.1 nats"));
}

TEST_CASE(
    "an estimate of an error or of limits that are impossible is no ok, a method's own or not") {
  const auto closed_as = [](const auto& change) {
    Estimate estimate = sound();
    change(estimate);
    return closed(estimate);
  };
  CHECK(closed_as([](Estimate&) {}).status == Status::ok);
  CHECK(closed_as([](Estimate& e) { e.effective_samples = 0; }).status == Status::ok);  // unknown
  CHECK(closed_as([](Estimate& e) { e.lower = e.upper = e.log_z; }).status == Status::ok);
  CHECK(closed_as([](Estimate& e) { e.std_error = 0; }).status == Status::ok);
  for (const Estimate& wrong : {closed_as([](Estimate& e) { e.std_error = -0.1; }),
                                closed_as([](Estimate& e) { e.lower = 10.1; }),
                                closed_as([](Estimate& e) { e.upper = 9.9; }),
                                closed_as([](Estimate& e) { std::swap(e.lower, e.upper); }),
                                closed_as([](Estimate& e) { e.effective_samples = -3; })}) {
    CHECK(wrong.status == Status::not_converged);
    CHECK(wrong.log_z == 10);
    CHECK_THAT(wrong.warnings.back(), Catch::Contains("must be limits around log Z"));
  }
}

TEST_CASE("an estimate below what log Z certainly is says which of its numbers is too low") {
  Estimate by_limit{.log_z = 0, .std_error = 0.1, .lower = -1, .upper = 1};
  refuse_below(by_limit, 2);
  CHECK(by_limit.status == Status::below_bound);
  CHECK_THAT(by_limit.warnings.at(0), Catch::Contains("above the upper limit") &&
                                          Catch::Contains("missed 86.5 % of the mass"));
  CHECK_THAT(by_limit.warnings.at(0), !Catch::Contains("longer tours"));
  Estimate by_tours{.log_z = 0, .std_error = 0.1, .lower = -1, .upper = 1, .missing = 0.5};
  refuse_below(by_tours, 2);
  CHECK_THAT(by_tours.warnings.at(0),
             Catch::Contains("above the upper limit without what longer tours may hold: "));
  Estimate by_error{.log_z = 0, .std_error = 0.1, .lower = -1, .upper = 100};
  refuse_below(by_error, 2);
  CHECK(by_error.status == Status::below_bound);
  CHECK_THAT(by_error.warnings.at(0), Catch::Contains("more than five standard errors above"));
  // Just beyond the limit, as a right estimate may be.
  Estimate by_chance{.log_z = 0, .std_error = 0.1, .lower = -0.2, .upper = 0.2};
  refuse_below(by_chance, 0.21);
  CHECK(by_chance.status == Status::below_bound);
  CHECK_THAT(by_chance.warnings.at(0),
             Catch::Contains("one right estimate in forty is so by chance"));
}

TEST_CASE("an estimate is refused where its upper limit is below the bound, and nowhere else") {
  const auto refused = [](double lowest, Status before = Status::ok) {
    Estimate estimate{.log_z = 10, .std_error = 1, .lower = 8, .upper = 12, .status = before};
    refuse_below(estimate, lowest);
    return estimate.status;
  };
  CHECK(refused(12 + 1e-9) == Status::below_bound);
  CHECK(refused(12 + 1e-11) == Status::ok);  // the rounding of either
  CHECK(refused(12) == Status::ok);
  CHECK(refused(11) == Status::ok);
  CHECK(refused(Estimate::kNone) == Status::ok);
  CHECK(refused(13, Status::unvisited_rung) == Status::below_bound);
  CHECK(refused(11, Status::not_converged) == Status::not_converged);
  CHECK(name(Status::below_bound) == "below_bound");
  // Thermodynamic integration's limits are wider than its error says: five errors and half a nat.
  const auto wide = [](double lowest, double std_error) {
    Estimate estimate{.log_z = 10, .std_error = std_error, .lower = 5, .upper = 20};
    refuse_below(estimate, lowest);
    return estimate.status;
  };
  CHECK(wide(10.99, 0.2) == Status::ok);
  CHECK(wide(11.01, 0.2) == Status::below_bound);
  CHECK(wide(10.49, 0.01) == Status::ok);
  CHECK(wide(10.51, 0.01) == Status::below_bound);
}

TEST_CASE("of estimates that are told together each has the limits that all of them have") {
  // 1.96 errors of one; of a hundred 3.4808 (0.025/100 on either side), of ten 2.807.
  const auto refused = [](double lowest, int together) {
    Estimate estimate{.log_z = 10, .std_error = 1, .lower = 10 - 1.95996, .upper = 10 + 1.95996};
    refuse_below(estimate, lowest, together);
    return estimate.status == Status::below_bound;
  };
  CHECK(refused(11.97, 1));
  CHECK_FALSE(refused(11.97, 2));
  CHECK_FALSE(refused(12.80, 10));
  CHECK(refused(12.81, 10));
  CHECK_FALSE(refused(13.48, 100));
  CHECK(refused(13.482, 100));
  CHECK(refused(15.1, 1 << 30));  // five errors are no chance
}

TEST_CASE("above a great bound an estimate may be by what sums of D are rounded by") {
  // A part in 10^9 of 10^8 nats is a tenth; five errors are 0.005.
  const auto status = [](double above) {
    const double log_z = 1e8 + above;
    Estimate estimate{.log_z = log_z, .std_error = 1e-3, .lower = log_z, .upper = log_z};
    refuse_above(estimate, 1e8);
    return estimate.status;
  };
  CHECK(status(0.05) == Status::ok);
  CHECK(status(0.11) == Status::not_converged);
}

TEST_CASE(
    "an estimate whose lower limit is above log Z itself is refused, and none above a bound that is less") {
  const auto status = [](Estimate estimate, double highest, int together = 1) {
    refuse_above(estimate, highest, together);
    return estimate.status;
  };
  const Estimate estimate{.log_z = 10, .std_error = 0.01, .lower = 9.97, .upper = 10.03};
  CHECK(status(estimate, 9.94) == Status::not_converged);
  CHECK(status(estimate, 9.968) == Status::not_converged);
  CHECK(status(estimate, 9.97) == Status::ok);
  CHECK(status(estimate, 11) == Status::ok);
  Estimate wide = estimate;  // of few groups, or of sums that bracket an integral
  wide.lower = 9.9;
  CHECK(status(wide, 9.94) == Status::ok);
  CHECK(status(wide, 9.89) == Status::not_converged);
  const Estimate rounded{.log_z = 10, .std_error = 1e-9, .lower = 10, .upper = 10};
  CHECK(status(rounded, 9.9991) == Status::ok);
  CHECK(status(rounded, 9.9989) == Status::not_converged);
  // Of ten told together each limit is that of 99.75 % (both sides), 2.807 errors for 1.960.
  CHECK(status(estimate, 10 - 0.001 - 0.03 * 2.806 / 1.960, 10) == Status::ok);
  CHECK(status(estimate, 10 - 0.001 - 0.03 * 2.810 / 1.960, 10) == Status::not_converged);
  const auto told = [&](double highest) {
    Estimate above = estimate;
    refuse_above(above, highest);
    return above.warnings.at(0);
  };
  CHECK_THAT(told(9.96), Catch::Contains("by chance"));
  CHECK_THAT(told(9.94), !Catch::Contains("by chance"));
  LowerBound bound{.log_z = 9.96, .error_bound = 1e-12, .all_states = true};
  Estimate held = estimate;
  hold_to_bound(bound, held, 10);
  CHECK(held.status == Status::ok);
  hold_to_bound(bound, held);
  CHECK(held.status == Status::not_converged);
  bound.all_states = false;
  held = estimate;
  hold_to_bound(bound, held);
  CHECK(held.status == Status::ok);
}
