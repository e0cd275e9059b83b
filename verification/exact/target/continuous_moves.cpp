// Metropolis moves of continuous states and their step sizes, where nothing is left to chance.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <memory>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/target/continuous.hpp"
#include "boltzmark/target/continuous_target.hpp"
#include "boltzmark/target/layered_target.hpp"
#include "verification/checks/known/gaussian_mixture.hpp"

using namespace boltzmark;

namespace {

double energy(const ContinuousDensity& density, double b, const Phase& phase) {
  return 0.5 * phase.momentum.squaredNorm() - density.log_density(phase.position, b);
}

// The change of energy over time 1.
double energy_error(double b, int steps) {
  const GaussianMixture mixture({.dimension = 3});
  Phase phase{Eigen::Vector3d(0.7, -0.4, 1.1), Eigen::Vector3d(1.3, 0.2, -0.6)};
  const double start = energy(mixture, b, phase);
  leapfrog(mixture, b, 1.0 / steps, steps, phase);
  return energy(mixture, b, phase) - start;
}

ContinuousTarget target() {
  return {std::make_shared<GaussianMixture>(), std::make_shared<Hmc>(),
          StepSizes(Ladder::linear(2), Eigen::Vector2d(6, 0.8))};
}

std::vector<double> ratios_after_moves(int first_chain, int chains) {
  const auto population = target().populate(first_chain, chains, make_key(5, "grouping"));
  population->draw_base();
  std::vector<float> b(chains);
  for (int c = 0; c < chains; ++c) b[c] = static_cast<float>(first_chain + c) / 48;
  for (int t = 0; t < 5; ++t) population->move(b);
  std::vector<double> ratios(chains);
  population->log_ratio(ratios);
  return ratios;
}

/// A standard normal law of three numbers, cut at -3 of the first: f is 0 below, or next to nothing.
class WalledNormal final : public ContinuousDensity {
 public:
  explicit WalledNormal(double below) : below_(below) {}
  int dimension() const override { return 3; }
  void draw_base(Stream& stream, PointOut x) const override {
    for (double& value : x) value = 3 * stream.normal();
  }
  double log_f(const PointRef& x) const override {
    return x[0] < -3 ? below_ : -0.5 * x.squaredNorm();
  }
  double log_base(const PointRef& x) const override {
    return -x.squaredNorm() / 18 - 3 * std::log(3 * std::sqrt(2 * M_PI));
  }
  void gradient(const PointRef& x, double b, PointOut out) const override {
    out = -(b + (1 - b) / 9) * x;
  }

 private:
  double below_;
};

}  // namespace

TEST_CASE("a wall that is a number is sampled around, and one of minus infinity is refused") {
  const auto population = [](double below) {
    return ContinuousTarget(std::make_shared<WalledNormal>(below), std::make_shared<Hmc>(5),
                            StepSizes::fixed(0.5))
        .populate(0, 48, make_key(7, "wall"));
  };
  // At b = 0 chains cross it: 16 % of p1 lies beyond.
  for (const double below : {-1000.0, -HUGE_VAL}) {
    const auto chains = population(below);
    chains->draw_base();
    for (int t = 0; t < 200; ++t) chains->move(std::vector<float>(48, 0));
    std::vector<double> ratios(48), densities(96);
    if (below > -HUGE_VAL) {
      chains->log_ratio(ratios);
      CHECK(std::count_if(ratios.begin(), ratios.end(), [](double d) { return d < -900; }) > 0);
      continue;
    }
    CHECK_THROWS_WITH(chains->log_ratio(ratios), Catch::Contains("must be finite"));
    CHECK_THROWS_WITH(chains->log_densities(Ladder::linear(2), densities),
                      Catch::Contains("must be finite"));
  }
  const WalledNormal walled(-HUGE_VAL);
  const Eigen::Vector3d beyond(-4, 0, 0);
  CHECK(walled.log_density(beyond, 0) == walled.log_base(beyond));
  CHECK(walled.log_density(beyond, 0.5) == -HUGE_VAL);
  CHECK(walled.log_density(beyond, 1) == -HUGE_VAL);
  CHECK_THROWS_AS(ContinuousTarget(nullptr, std::make_shared<Hmc>(), StepSizes::fixed(1)),
                  InvalidArgument);
  CHECK_THROWS_AS(ContinuousTarget(std::make_shared<WalledNormal>(0), nullptr, StepSizes::fixed(1)),
                  InvalidArgument);
  CHECK_THROWS_WITH(LayeredTarget(std::shared_ptr<const TemperedModel>()),
                    Catch::Contains("must be a tempered model"));
}

TEST_CASE("a continuous chain moves by the step of its own inverse temperature") {
  const auto states = [](const StepSizes& steps, float b) {
    const ContinuousTarget target(std::make_shared<GaussianMixture>(), std::make_shared<Hmc>(),
                                  steps);
    const auto population = target.populate(0, 8, make_key(6, "steps"));
    population->draw_base();
    population->move(std::vector<float>(8, b));
    std::vector<double> ratios(8);
    population->log_ratio(ratios);
    return ratios;
  };
  const StepSizes two(Ladder::linear(2), Eigen::Vector2d(6, 0.8));
  CHECK(states(two, 0) == states(StepSizes::fixed(6), 0));
  CHECK(states(two, 1) == states(StepSizes::fixed(0.8), 1));
  CHECK(states(two, 0) != states(StepSizes::fixed(0.8), 0));
}

TEST_CASE("the leapfrog's energy error falls with the square of the step") {
  for (const double b : {0.2, 1.0}) {
    const double coarse = energy_error(b, 200), fine = energy_error(b, 400);
    // The next term is O(step^4): relative to the first it is (1/200)^2 times derivatives of the
    // potential of about tilt^2 = 25, 6e-4.
    CHECK(std::abs(coarse / fine - 4) < 0.01);
    CHECK(std::abs(coarse) > 1e-8);
  }
}

TEST_CASE("a proposal is accepted with probability min(1, ratio)") {
  const Eigen::VectorXd proposal = Eigen::VectorXd::Ones(1);
  for (const double log_ratio : {-800.0, -2.0, -0.1, 0.0, 3.0, 800.0}) {
    for (std::uint64_t i = 0; i < 100; ++i) {
      Stream stream(make_key(1), Purpose::test, i), same(make_key(1), Purpose::test, i);
      Eigen::VectorXd x = Eigen::VectorXd::Zero(1);
      const double probability = accept(log_ratio, proposal, stream, x);
      CHECK(probability == std::min(1.0, std::exp(log_ratio)));
      CHECK((x[0] == 1) == (same.uniform() < probability));
    }
  }
}

TEST_CASE("a diverged trajectory is never accepted") {
  Stream stream(make_key(1), Purpose::test);
  Eigen::VectorXd x = Eigen::VectorXd::Zero(1);
  for (const double log_ratio : {std::nan(""), std::log(0.0)})
    CHECK(accept(log_ratio, Eigen::VectorXd::Ones(1), stream, x) == 0);
  CHECK(x[0] == 0);
  const GaussianMixture mixture;
  Eigen::VectorXd far = Eigen::VectorXd::Constant(10, 1.0);
  for (int i = 0; i < 20; ++i) Hmc(200).move(mixture, 1, 50, stream, far);
  CHECK(far == Eigen::VectorXd::Constant(10, 1.0));
}

TEST_CASE("continuous chains do not depend on how they are grouped") {
  std::vector<double> apart = ratios_after_moves(0, 16);
  for (const double ratio : ratios_after_moves(16, 32)) apart.push_back(ratio);
  CHECK(apart == ratios_after_moves(0, 48));
}

TEST_CASE("a continuous population's densities and increments are those of its target") {
  const auto population = target().populate(0, 3, make_key(2));
  population->draw_base();
  const Ladder ladder = Ladder::geometric(5);
  std::vector<double> densities(15), ratio(3), increment(3);
  population->log_densities(ladder, densities);
  population->log_ratio(ratio);
  population->log_increment(ladder.single(1), ladder.single(3), increment);
  for (int c = 0; c < 3; ++c) {
    // Densities are sums of terms below 1000: 4 roundings of 1e-13.
    const double* row = densities.data() + 5 * c;
    CHECK(std::abs(row[4] - row[0] - ratio[c]) < 1e-12);
    CHECK(std::abs(row[3] - row[1] - increment[c]) < 1e-12);
  }
  const auto copy = target().populate(16, 2, make_key(3));
  copy->copy_chain(1, *population, 2);
  std::vector<double> copied(2);
  copy->log_ratio(copied);
  CHECK(copied[1] == ratio[2]);
}

TEST_CASE("an acceptance curve is recovered from its own probabilities") {
  const AcceptanceCurve curve{.log_half = -0.3, .slope = 2.5};
  std::vector<double> log_steps, acceptance;
  for (int i = 0; i < 20000; ++i) {
    log_steps.push_back(-1.3 + 2.0 * i / 19999);
    acceptance.push_back(curve(std::exp(log_steps.back())));
  }
  const AcceptanceCurve fit = fit_acceptance(log_steps, acceptance);
  // The prior pulls the slope by 0.01 * 1.5 over a curvature of 20000 * 0.05, 2e-5.
  CHECK(std::abs(fit.slope - 2.5) < 1e-4);
  CHECK(std::abs(fit.log_half + 0.3) < 1e-4);
  CHECK(std::abs(fit(std::exp(fit.log_step(0.651))) - 0.651) < 1e-12);
}

TEST_CASE("an acceptance curve is finite when all or none are accepted") {
  const std::vector<double> log_steps{-0.1, 0.0, 0.1};
  for (const double value : {0.0, 1.0}) {
    const AcceptanceCurve fit = fit_acceptance(log_steps, std::vector(3, value));
    CHECK(std::isfinite(fit.log_half));
    CHECK((fit.log_step(0.5) > 0) == (value == 1));
  }
  CHECK_THROWS_AS(fit_acceptance({}, {}), InvalidArgument);
}

TEST_CASE("step sizes are the given ones on rungs and log-linear between them") {
  const StepSizes steps(Ladder({0, 0.25, 1}), Eigen::Vector3d(8, 2, 0.5));
  CHECK(steps(0) == Approx(8).epsilon(1e-14));
  CHECK(steps(0.125) == Approx(4).epsilon(1e-14));
  CHECK(steps(0.25) == Approx(2).epsilon(1e-14));
  CHECK(steps(0.625) == Approx(1).epsilon(1e-14));
  CHECK(steps(1) == Approx(0.5).epsilon(1e-14));
  CHECK(steps.mean() == Approx(3.5).epsilon(1e-14));
  CHECK(StepSizes::fixed(3)(0.7) == Approx(3).epsilon(1e-14));
  CHECK_THROWS_AS(StepSizes::fixed(0), InvalidArgument);
  CHECK_THROWS_AS(StepSizes(Ladder::linear(2), Eigen::Vector3d(1, 1, 1)), InvalidArgument);
}

TEST_CASE("tuned steps never rise with b and do not depend on the threads") {
  const GaussianMixture mixture;
  const Ladder ladder = Ladder::geometric(6);
  const TuningOptions options{.chains = 16, .moves = 10, .first_step = 1e-3};
  const auto tuned = tune_steps(mixture, RandomWalk(), ladder, options, make_key(4));
  for (int k = 1; k < 6; ++k) CHECK(tuned.steps.log_steps()[k] <= tuned.steps.log_steps()[k - 1]);
  CHECK(tuned.curves.size() == 6);
  const ThreadLimit one(1);
  const auto again = tune_steps(mixture, RandomWalk(), ladder, options, make_key(4));
  CHECK(again.steps.log_steps() == tuned.steps.log_steps());
  CHECK_THROWS_AS(tune_steps(mixture, Hmc(), ladder, {.chains = 1}, make_key(1)), InvalidArgument);
  CHECK_THROWS_WITH(tune_steps(mixture, Hmc(), ladder, {.moves = 0}, make_key(1)),
                    Catch::Contains("moves = 0"));
  for (const double step : {0.0, std::numeric_limits<double>::infinity()})
    CHECK_THROWS_WITH(tune_steps(mixture, Hmc(), ladder, {.first_step = step}, make_key(1)),
                      Catch::Contains("first_step"));
  CHECK_THROWS_AS(Hmc(0), InvalidArgument);
}

namespace {

// A normal density whose gradient is none.
class WithoutGradient final : public ContinuousDensity {
 public:
  int dimension() const override { return 2; }
  double log_base(const PointRef&) const override { return 0; }
  double log_f(const PointRef& x) const override { return -0.5 * x.squaredNorm(); }
  void gradient(const PointRef&, double, PointOut out) const override {
    out.setConstant(std::numeric_limits<double>::quiet_NaN());
  }
  void draw_base(Stream&, PointOut out) const override { out.setZero(); }
};

TEST_CASE(
    "a density without a gradient where a chain is, is refused, and not a chain that never moves") {
  Stream stream(make_key(3), Purpose::test);
  Eigen::VectorXd x = Eigen::VectorXd::Ones(2);
  CHECK_THROWS_WITH(Hmc(5).move(WithoutGradient(), 1, 0.1, stream, x),
                    Catch::Contains("gradient (must be finite"));
  CHECK(x == Eigen::VectorXd::Ones(2));
  CHECK_NOTHROW(RandomWalk().move(WithoutGradient(), 1, 0.1, stream, x));  // which needs none
}

// A flat density that counts how often its gradient is asked for.
class CountedDensity final : public ContinuousDensity {
 public:
  int dimension() const override { return 1; }
  void draw_base(Stream&, PointOut x) const override { x[0] = 0; }
  double log_f(const PointRef&) const override { return 0; }
  double log_base(const PointRef&) const override { return 0; }
  void gradient(const PointRef&, double, PointOut out) const override {
    ++asked;
    out[0] = 0;
  }
  mutable int asked = 0;
};

}  // namespace

TEST_CASE("a trajectory has any number of steps from one to the longest") {
  const CountedDensity density;
  std::map<int, int> counts;
  Eigen::VectorXd x = Eigen::VectorXd::Zero(1);
  Stream stream(make_key(8), Purpose::test);
  for (int i = 0; i < 200; ++i) {
    density.asked = 0;
    Hmc(3).move(density, 1, 0.1, stream, x);
    ++counts[density.asked];
  }
  // 200 draws of three: none below 30 but with probability below 1e-7.
  REQUIRE(counts.size() == 3);
  const int first = counts.begin()->first;
  for (const auto& [asked, count] : counts) {
    CHECK(asked - first <= 2);
    CHECK(count > 30);
  }
}
