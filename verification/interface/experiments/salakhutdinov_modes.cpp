// What the experiments of salakhutdinov2010 compute themselves: training on Artificial Modes, statistics
// of its curves, and slopes.
#include <catch2/catch.hpp>
#include <cmath>

#include "boltzmark/core/parallel.hpp"
#include "experiments/salakhutdinov2010/support/convergence.hpp"
#include "experiments/salakhutdinov2010/support/curves.hpp"
#include "experiments/salakhutdinov2010/support/modes.hpp"

namespace boltzmark::experiments {
namespace {

std::vector<double> trained_curve(const char* network, const char* negative, int seed) {
  const Json inputs = {{"network", network},
                       {"data", "artificial-modes-0.01"},
                       {"negative", negative},
                       {"seed", seed},
                       {"updates", 30}};
  TrialContext context;
  context.experiment = "salakhutdinov2010/modes";
  return numbers(train_on_modes(inputs, context).at("log_likelihood"));
}

}  // namespace

TEST_CASE("the late part of a curve is its last fifth, its deviation that about a line") {
  std::vector<double> curve(20, 100);
  for (const double y : {1.0, 2.0, 3.0, 4.0, 5.0}) curve.push_back(y);
  CHECK(late_mean(curve) == Approx(3));
  CHECK(std::abs(late_deviation(curve)) < 1e-12);
  std::vector<double> zigzag(21, -7);
  for (const double y : {0.0, 1.0, 0.0, 1.0, 0.0}) zigzag.push_back(y);
  CHECK(late_mean(zigzag) == Approx((1 + 1 - 7) / 6.0));  // 26 records have a last fifth of 6
  zigzag.erase(zigzag.begin());
  CHECK(late_mean(zigzag) == Approx(0.4));
  // Slope 0; residuals of -0.4 thrice and 0.6 twice, two degrees of freedom taken by the line.
  CHECK(late_deviation(zigzag) == Approx(std::sqrt(1.2 / 3)));
  CHECK(std::isnan(late_deviation({1, 2, 3})));
}

TEST_CASE("the trend of a curve is what its last half rises by") {
  // 0, 1, .., 100: from 50 to 100; of 0, .., 99 from 50 to 99.
  std::vector<double> curve;
  for (int i = 0; i <= 100; ++i) curve.push_back(i);
  CHECK(last_half_trend(curve) == Approx(50));
  curve.pop_back();
  CHECK(last_half_trend(curve) == Approx(49));
}

TEST_CASE("the slope of an error that falls as a power of time is the power") {
  CHECK(doubling_times(64, 3) == std::vector<double>{64, 128, 256});
  std::vector<double> curve;
  for (const double t : doubling_times(64, 6)) curve.push_back(3 * std::pow(t, -0.5));
  const std::vector<double> slopes = log_slopes({curve, {1, 2, 4}});
  REQUIRE(slopes.size() == 2);
  CHECK(slopes[0] == Approx(-0.5));
  CHECK(slopes[1] == Approx(1));
}

// The shares of 10,000 cases have less entropy than the law that they are drawn from, by about
// (distinct cases - 1) / 20,000 < 0.02; its own error is below 0.02.
TEST_CASE("no model exceeds the likelihood of Artificial Modes under the cases' own shares") {
  CHECK(std::abs(modes_ceiling("artificial-modes-0.01") - -2.2823) < 0.04);
  CHECK(std::abs(modes_ceiling("artificial-modes-0.001") - -1.5128) < 0.04);
}

TEST_CASE("runs on Artificial Modes start alike for every negative phase of a seed") {
  for (const char* network : {"rbm", "dbm"}) {
    const auto chains = trained_curve(network, "pcd:1 --chains 10", 1);
    REQUIRE(chains.size() == 2);
    CHECK(chains[0] == trained_curve(network, "pt:5:1 --chains 10", 1)[0]);
    CHECK(chains[0] != trained_curve(network, "pcd:1 --chains 10", 2)[0]);
    CHECK(chains[1] != chains[0]);
    const ThreadLimit one(1);
    CHECK(chains == trained_curve(network, "pcd:1 --chains 10", 1));
  }
}

}  // namespace boltzmark::experiments
