#include "verification/checks/laws/asymptotic.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "boltzmark/core/error.hpp"
#include "boltzmark/exact/spectrum/operator.hpp"
#include "verification/exact/support/transition_models.hpp"

using namespace boltzmark;
using namespace transition_models;

namespace {

// N Var(mean of N) of a stationary chain by its definition, long double:
//   sum over |t| < N of (1 - |t|/N) Cov(f(x_0), f(x_t)); the limit by Richardson's step
//   2 V(2N) - V(N), exact up to the correlation left after N steps.
long double variance_of_mean(const Layered& model, const Rule& rule, const Eigen::VectorXd& f) {
  const auto matrix = sweep_of(model, rule);
  const auto p = oracle::transition::probabilities(network(model));
  const oracle::transition::LongVector centred =
      f.cast<long double>().array() - p.dot(f.cast<long double>());
  const auto value = [&](int n) {
    oracle::transition::LongVector later = centred;
    long double sum = p.cwiseProduct(centred).dot(centred);
    for (int t = 1; t < n; ++t) {
      later = (matrix * later).eval();
      sum += 2 * (1 - static_cast<long double>(t) / n) * p.cwiseProduct(centred).dot(later);
    }
    return sum;
  };
  return 2 * value(4000) - value(2000);
}

}  // namespace

TEST_CASE("the asymptotic variance is the limit of N times the variance of the mean") {
  for (std::uint64_t i = 0; i < 4; ++i) {
    const Layered model = uniform_rbm(2, 2, 1.5, 900 + i);
    const StateSpace space(model);
    const Eigen::VectorXd f = state_energies(space);
    for (const Rule& rule : {Rule::gibbs(), Rule::flip(), Rule::blended(0.3)}) {
      const auto expected = static_cast<double>(variance_of_mean(model, rule, f));
      const AsymptoticVariance found = asymptotic_variance(space, rule, Scan::periodic, f);
      REQUIRE(found.asymptotic == Approx(expected).epsilon(1e-9));
      const AsymptoticVariance dense = asymptotic_variance(sweep_matrix(space, rule), space.p(), f);
      REQUIRE(dense.asymptotic == Approx(expected).epsilon(1e-9));
      REQUIRE(dense.time == Approx(found.time).epsilon(1e-9));
      REQUIRE(spectral_autocorrelation_time(space, rule, Scan::periodic, f) ==
              Approx(found.time).epsilon(1e-9));
    }
  }
}

TEST_CASE("a constant has no variance and a time of 0, by either route") {
  const StateSpace space(uniform_rbm(2, 2, 1.5, 911));
  const Eigen::VectorXd f = Eigen::VectorXd::Constant(16, 3);
  const AsymptoticVariance found = asymptotic_variance(space, Rule::gibbs(), Scan::periodic, f);
  CHECK(found.mean == Approx(3));
  CHECK(found.variance == 0);
  CHECK(found.time == 0);
  CHECK(spectral_autocorrelation_time(space, Rule::gibbs(), Scan::periodic, f) == 0);
}

TEST_CASE("a reducible chain has no asymptotic variance") {
  const StateSpace space(zero_rbm(2, 2));
  const Eigen::VectorXd f = Eigen::VectorXd::LinSpaced(16, 0, 1);
  REQUIRE_THROWS_AS(asymptotic_variance(space, Rule::metropolis(), Scan::periodic, f), Error);
  REQUIRE_THROWS_AS(
      asymptotic_variance(Eigen::MatrixXd::Identity(2, 2), Eigen::Vector2d(0.5, 0.5), f.head(2)),
      Error);
}

TEST_CASE("asymptotic covariances of a rotating chain are worked out by hand") {
  // Half of the steps go on around a cycle of three states: of centred functions the sum of T^n is
  // 1 + (P - P') / 3. f now and g later go together as g now and f later go apart.
  Eigen::Matrix3d matrix;
  matrix << 0.5, 0.5, 0,  //
      0, 0.5, 0.5,        //
      0.5, 0, 0.5;
  Eigen::MatrixXd functions(3, 2), expected(2, 2);
  functions << 2, 0, -1, 1, -1, -1;
  expected << 2, 0, 0, 2.0 / 3;
  const Eigen::MatrixXd found =
      asymptotic_covariance(matrix, Eigen::Vector3d::Constant(1.0 / 3), functions);
  CHECK((found - expected).cwiseAbs().maxCoeff() < 1e-12);
}
