// Thermodynamic integration, where arithmetic decides.
#include <Eigen/Core>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>

#include "boltzmark/core/error.hpp"
#include "boltzmark/estimate/estimators/thermodynamic_integration.hpp"
#include "boltzmark/estimate/held/held.hpp"
#include "verification/exact/support/gaussian_tempering.hpp"

namespace {

using namespace estimate_test;

const Ladder& uneven(int rungs) {
  static const Ladder odd({0, 0.125, 0.5, 0.625, 1}), even({0, 0.125, 0.5, 0.625, 0.75, 1});
  return rungs == 5 ? odd : even;
}

// The rule applied to b^degree and its slope.
double integral_of_power(Quadrature quadrature, const Ladder& ladder, int degree) {
  double sum = 0;
  for (const QuadratureTerm& t : quadrature_terms(quadrature, ladder)) {
    const double b = ladder[t.rung];
    sum += t.value * std::pow(b, degree) +
           t.slope * (degree == 0 ? 0 : degree * std::pow(b, degree - 1));
  }
  return sum;
}

// A store in which every rung has the same D, mean(b), with `spread` on both sides.
SampleStore rigid_store(const Ladder& ladder, const std::function<double(double)>& mean,
                        double spread, Eigen::Index chains = 4) {
  const int rungs = ladder.rungs();
  SampleStore store = store_on(ladder, 2 * rungs, chains);
  for (Eigen::Index c = 0; c < chains; ++c)
    for (int n = 0; n < 2 * rungs; ++n) {
      store.rung(n, c) = n / 2;
      store.log_ratio(n, c) = mean(ladder[n / 2]) + (n % 2 == 0 ? spread : -spread);
    }
  return store;
}

double integrate(const SampleStore& store, Quadrature quadrature) {
  return thermodynamic_integration(store, Assignment::hard, {.quadrature = quadrature}).log_z;
}

}  // namespace

TEST_CASE("each rule integrates the polynomials of its degree exactly on uneven ladders") {
  for (const int rungs : {5, 6}) {
    const Ladder& ladder = uneven(rungs);
    const auto is_exact = [&](Quadrature quadrature, int degree) {
      return std::abs(integral_of_power(quadrature, ladder, degree) - 1.0 / (degree + 1)) < 1e-14;
    };
    CHECK(is_exact(Quadrature::left, 0));
    CHECK(is_exact(Quadrature::right, 0));
    CHECK_FALSE(is_exact(Quadrature::right, 1));
    CHECK(is_exact(Quadrature::trapezoid, 1));
    CHECK_FALSE(is_exact(Quadrature::trapezoid, 2));
    CHECK(is_exact(Quadrature::simpson, 2));
    CHECK(is_exact(Quadrature::corrected, 3));
    CHECK_FALSE(is_exact(Quadrature::corrected, 4));
  }
  CHECK(integral_of_power(Quadrature::simpson, Ladder::linear(5), 3) == Approx(0.25));
  CHECK(integral_of_power(Quadrature::simpson, Ladder::linear(2), 1) == Approx(0.5));
}

TEST_CASE("left and right sums miss log Z by the divergences of neighbouring rungs") {
  // Means are those of a Gaussian target; KL between neighbours is h^2 variance / 2 both ways.
  const GaussianTarget target;
  const auto mean = [&](double b) { return target.mean + target.variance * b; };
  for (const Ladder& ladder : {Ladder::linear(8), Ladder::geometric(12)}) {
    double divergence = 0;
    for (int k = 0; k + 1 < ladder.rungs(); ++k)
      divergence += 0.5 * target.variance * std::pow(ladder[k + 1] - ladder[k], 2);
    const SampleStore store = rigid_store(ladder, mean, std::sqrt(target.variance));
    CHECK(integrate(store, Quadrature::left) + divergence ==
          Approx(target.log_z(1)).epsilon(1e-13));
    CHECK(integrate(store, Quadrature::right) - divergence ==
          Approx(target.log_z(1)).epsilon(1e-13));
    CHECK(integrate(store, Quadrature::trapezoid) == Approx(target.log_z(1)).epsilon(1e-13));
  }
}

TEST_CASE("limits of integration hold the sampling errors of the sums that bracket it") {
  // D = e^b, 0.3 more in half of the chains and 0.3 less in the others: so is every sum.
  SampleStore store = rigid_store(
      Ladder::linear(5), [](double b) { return std::exp(b); }, 0, 40);
  for (Eigen::Index c = 0; c < 40; ++c) store.log_ratio.col(c).array() += c % 2 == 0 ? 0.3 : -0.3;
  const Estimate estimate =
      thermodynamic_integration(store, Assignment::hard, {.quadrature = Quadrature::trapezoid});
  double left = 0, right = 0;
  for (int k = 0; k < 4; ++k) left += std::exp(k / 4.0) / 4, right += std::exp((k + 1) / 4.0) / 4;
  const double student = 2.0226909, error = 0.3 / std::sqrt(39.0);  // of 39 degrees of freedom
  CHECK(estimate.log_z == Approx((left + right) / 2).epsilon(1e-12));
  CHECK(estimate.lower == Approx(left - student * error).epsilon(1e-6));
  CHECK(estimate.upper == Approx(right + student * error).epsilon(1e-6));
}

TEST_CASE("integration joins the batches of chains that have not moved on") {
  // D is 0.3 in the first half of both chains' 64 sweeps and -0.3 in the second, at either rung: so
  // are the influences, and eight batches of 16 sweeps are left.
  SampleStore store = store_on(Ladder::linear(2), 64, 2);
  store.log_ratio.topRows(32).setConstant(0.3);
  store.log_ratio.bottomRows(32).setConstant(-0.3);
  for (Eigen::Index s = 1; s < 64; s += 2) store.rung.row(s).setOnes();
  const Estimate estimate =
      thermodynamic_integration(store, Assignment::hard, {.quadrature = Quadrature::trapezoid});
  CHECK(estimate.log_z == Approx(0).margin(1e-12));
  CHECK(estimate.std_error == Approx(0.3 / std::sqrt(7)).epsilon(1e-12));
}

TEST_CASE("the standard error of integration contains the discretisation error") {
  // Without sampling error: mean e^b, slope e^b only in name, so the corrected rule is off by known
  // amounts and the intervals are those of the left and right sums.
  const auto mean = [](double b) { return std::exp(b); };
  const SampleStore store = rigid_store(Ladder::linear(5), mean, 0);
  const auto left = integrate(store, Quadrature::left), right = integrate(store, Quadrature::right);
  const Estimate simpson =
      thermodynamic_integration(store, Assignment::hard, {.quadrature = Quadrature::simpson});
  const double trapezoid = integrate(store, Quadrature::trapezoid);  // no slopes: = corrected
  // What rises between rungs no slope tells: as steps, anywhere between them.
  double steps = 0;
  for (int k = 0; k < 4; ++k)
    steps += std::pow(0.25 * (std::exp(0.25 * (k + 1)) - std::exp(0.25 * k)), 2) / 12;
  CHECK(simpson.std_error == Approx(std::abs(simpson.log_z - trapezoid)).epsilon(1e-12));
  CHECK(simpson.steps == Approx(std::sqrt(steps)).epsilon(1e-12));
  CHECK(simpson.lower == Approx(left));
  CHECK(simpson.upper == Approx(right));
  CHECK(simpson.lower < std::exp(1) - 1);
  CHECK(simpson.upper > std::exp(1) - 1);
  CHECK(simpson.log_z == Approx(std::exp(1) - 1).epsilon(1e-4));
  // The corrected rule itself is held to Simpson's: 1.7272219 and 1.7183188.
  const Estimate corrected =
      thermodynamic_integration(store, Assignment::hard, {.quadrature = Quadrature::corrected});
  CHECK(corrected.std_error == Approx(0.0089030626).epsilon(1e-7));
}

TEST_CASE("effective samples of integration by shares are those of the shares' influences") {
  // D is 1 in half of the chains and -1 in the others: of t = tanh(1/2) the rungs' means are -t, t.
  // By its shares of both a sample has the influence 1 - t^2 or t^2 - 1, its chain's other one too.
  SampleStore store = store_on(Ladder::linear(2), 2, 40);
  store.rung.row(1).setOnes();
  for (Eigen::Index c = 0; c < 40; ++c) store.log_ratio.col(c).setConstant(c % 2 == 0 ? 1 : -1);
  const double t = std::tanh(0.5);
  const Estimate soft = thermodynamic_integration(store, Assignment::soft);
  CHECK(soft.std_error == Approx((1 - t * t) / std::sqrt(39)).epsilon(1e-12));
  CHECK(soft.effective_samples == Approx(39).epsilon(1e-12));
}

TEST_CASE("effective samples of the corrected rule count what the slopes add to influences") {
  // D is 0 in 30 chains and 4 in 10, at either rung: of mean 1, variance 3 and slopes of 1/6 and
  // -1/6 influences are -4/3 and 4, then -2/3 and 2, of mean square 10/3, and of chains -2 and 6.
  SampleStore store = store_on(Ladder::linear(2), 2, 40);
  store.rung.row(1).setOnes();
  store.log_ratio.leftCols(10).setConstant(4);
  const Estimate estimate =
      thermodynamic_integration(store, Assignment::hard, {.quadrature = Quadrature::corrected});
  CHECK(estimate.log_z == Approx(1).epsilon(1e-12));
  CHECK(estimate.effective_samples == Approx(390.0 / 9).epsilon(1e-12));
}

TEST_CASE(
    "the standard error of integration has a step between two rungs, which neither end tells") {
  // D is 5 beyond a step, with a variance of 0.01 everywhere: the corrected rule and the trapezoid agree.
  for (const double at : {0.26, 0.37, 0.49}) {
    INFO("a step at " << at);
    const auto mean = [&](double b) { return b > at ? 5.0 : 0.0; };
    const SampleStore store = rigid_store(Ladder::linear(5), mean, 0.1, 400);
    for (const Quadrature quadrature :
         {Quadrature::trapezoid, Quadrature::simpson, Quadrature::corrected}) {
      Estimate estimate =
          thermodynamic_integration(store, Assignment::hard, {.quadrature = quadrature});
      add_unseen(estimate);
      CHECK(estimate.steps == 0);
      CHECK(std::abs(estimate.log_z - 5 * (1 - at)) < 2 * estimate.std_error);
      CHECK(estimate.std_error < 1);
    }
    const Estimate trapezoid = thermodynamic_integration(store, Assignment::hard);
    const double size = 5 - 0.25 * 0.01, others = 0.25 * 0.01;
    CHECK(trapezoid.steps ==
          Approx(0.25 * std::sqrt((size * size + 3 * others * others) / 12)).epsilon(1e-3));
  }
  // A slope that tells of the whole rise leaves none.
  const auto line = [](double b) { return 4 * b; };
  const Estimate smooth =
      thermodynamic_integration(rigid_store(Ladder::linear(5), line, 2, 40000), Assignment::hard);
  CHECK(smooth.steps < 0.01);
}

TEST_CASE("rungs without samples are refused, or interpolated linearly in b") {
  const auto mean = [](double b) { return 1 + b * b; };
  SampleStore store = rigid_store(uneven(6), mean, 0.5);
  const SampleStore whole = rigid_store(Ladder({0, 0.125, 0.625, 1}), mean, 0.5);
  for (Eigen::Index n = 0; n < store.rung.size(); ++n) {
    int& k = store.rung.data()[n];
    double& d = store.log_ratio.data()[n];
    if (k == 2 || k == 4) {  // these samples go to the rung below
      const double sign = d - mean(store.ladder[k]);
      d = mean(store.ladder[--k]) + sign;
    }
  }
  store.random_rungs = false;
  const Estimate refused = thermodynamic_integration(store, Assignment::hard);
  CHECK(refused.status == Status::unvisited_rung);
  CHECK(std::isnan(refused.log_z));
  const Estimate filled =
      thermodynamic_integration(store, Assignment::hard, {.interpolate_empty = true});
  CHECK(filled.status == Status::unvisited_rung);
  CHECK(filled.log_z == Approx(integrate(whole, Quadrature::trapezoid)).epsilon(1e-13));
  CHECK(std::isfinite(filled.std_error));
}

TEST_CASE("continuous integration averages D over the density of b") {
  Eigen::MatrixXd d(2, 2), density(2, 2);
  d << 1, 2, 3, 4;
  density << 0.5, 1, 2, 4;
  const Estimate estimate = ti_continuous(d, density);
  CHECK(estimate.log_z == Approx((2 + 2 + 1.5 + 1) / 4));
  CHECK_THROWS_AS(ti_continuous(d, -density), InvalidArgument);
  CHECK_THROWS_AS(ti_continuous(d, density.leftCols(1)), InvalidArgument);
}
