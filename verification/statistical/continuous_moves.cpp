// Whether Metropolis kernels on continuous states leave their target unchanged, and find it.
#include <boost/math/distributions/chi_squared.hpp>
#include <catch2/catch.hpp>
#include <cmath>

#include "boltzmark/target/continuous.hpp"
#include "boltzmark/target/continuous_target.hpp"
#include "decide.hpp"
#include "verification/checks/known/gaussian_mixture.hpp"

namespace {

using namespace boltzmark;
using verification::Claim;
using verification::decide_proportion;
using verification::one_by_one;
using verification::StatisticalTest;

const StatisticalTest hmc_invariant{
    {.name = "HMC leaves the mixture unchanged", .deviation = 0.03, .cases = 2}};
const StatisticalTest walk_invariant{
    {.name = "the random walk leaves the tempered Gaussian unchanged", .deviation = 0.03}};
const StatisticalTest hmc_finds{
    {.name = "HMC finds the Gaussian from its base", .deviation = 0.05}};
const StatisticalTest hmc_tuned{
    {.name = "tuned HMC is accepted as aimed at", .deviation = 0.05, .cases = 2}};
const StatisticalTest walk_tuned{
    {.name = "the tuned random walk is accepted as aimed at", .deviation = 0.05, .cases = 2}};

/// The median of |x|^2 times the precision over `axes` standard normal axes.
double radius_median(int axes) { return quantile(boost::math::chi_squared(axes), 0.5); }

/// Draws exactly from the mixture at b = 1.
Eigen::VectorXd draw_mixture(Stream& stream) {
  Eigen::VectorXd x(10);
  for (double& value : x) value = std::sqrt(0.5) * stream.normal();
  x[0] += stream.uniform() < 0.5 ? 2.5 : -2.5;
  return x;
}

/// How often a move of this kernel and step is accepted at b = 1 of the mixture.
verification::DrawOutcomes<int> acceptances(const ContinuousKernel& kernel, double step) {
  return one_by_one<int>([&kernel, step](Stream& stream) {
    const GaussianMixture mixture;
    Eigen::VectorXd x = draw_mixture(stream);
    const Eigen::VectorXd before = x;
    kernel.move(mixture, 1, step, stream, x);
    return x != before;
  });
}

double tuned_step(const ContinuousKernel& kernel) {
  return tune_steps(GaussianMixture(), kernel, Ladder::geometric(6), {},
                    make_key(1, "tuned acceptance"))
      .steps(1);
}

}  // namespace

TEST_CASE("HMC leaves the mixture unchanged when a third of its proposals is refused") {
  const GaussianMixture mixture;
  const Hmc hmc;
  const double median = radius_median(9);
  // A point of N(m, s) lies beyond its mean half of the time; so does the radius of its other axes.
  for (const bool radius : {false, true}) {
    const auto outcome = one_by_one<int>([&](Stream& stream) {
      Eigen::VectorXd x = draw_mixture(stream);
      for (int i = 0; i < 2; ++i) hmc.move(mixture, 1, 0.9, stream, x);
      return radius ? x.tail(9).squaredNorm() / 0.5 > median : std::abs(x[0]) > 2.5;
    });
    // P(|x_1| > 2.5) = P(N > 0) + P(N < -10): the far tail is below 1e-11.
    const auto decision = decide_proportion(hmc_invariant, 0.5, Claim::equal, outcome);
    INFO(decision.summary);
    CHECK(decision.holds);
  }
}

TEST_CASE("the random walk leaves a tempered Gaussian unchanged") {
  const GaussianMixture mixture({.dimension = 5, .separation = 0});
  const double b = 0.3, precision = mixture.precision(b), median = radius_median(5);
  const auto outcome = one_by_one<int>([&](Stream& stream) {
    Eigen::VectorXd x(5);
    for (double& value : x) value = stream.normal() / std::sqrt(precision);
    for (int i = 0; i < 10; ++i) RandomWalk().move(mixture, b, 1, stream, x);
    return x.squaredNorm() * precision > median;
  });
  const auto decision = decide_proportion(walk_invariant, 0.5, Claim::equal, outcome);
  INFO(decision.summary);
  CHECK(decision.holds);
}

TEST_CASE("HMC finds a Gaussian from its base") {
  const GaussianMixture mixture({.separation = 0});
  const double median = radius_median(10);
  const auto outcome = one_by_one<int>([&](Stream& stream) {
    Eigen::VectorXd x(10);
    mixture.draw_base(stream, x);
    for (int i = 0; i < 25; ++i) Hmc().move(mixture, 1, 0.5, stream, x);
    return x.squaredNorm() / 0.5 > median;
  });
  const auto decision = decide_proportion(hmc_finds, 0.5, Claim::equal, outcome);
  INFO(decision.summary);
  CHECK(decision.holds);
}

TEST_CASE("tuned steps are accepted nearly as often as was aimed at") {
  // Tuning on 1600 proposals leaves a standard error near 0.02 of acceptance, and the curve is
  // logistic only nearly: 0.07 either way is allowed, and 0.12 is seen.
  const auto check = [](const StatisticalTest& test, const ContinuousKernel& kernel) {
    const auto sampler = acceptances(kernel, tuned_step(kernel));
    const double aim = kernel.target_acceptance();
    const auto low = decide_proportion(test, aim - 0.07, Claim::at_least, sampler);
    INFO(low.summary);
    CHECK(low.holds);
    const auto high = decide_proportion(test, aim + 0.07, Claim::at_most, sampler);
    INFO(high.summary);
    CHECK(high.holds);
  };
  check(hmc_tuned, Hmc());
  check(walk_tuned, RandomWalk());
}
