// Errors by groups of samples, batches of sweeps and bundles of chains: worked out by hand.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "boltzmark/estimate/estimators/bar.hpp"
#include "boltzmark/estimate/estimators/mbar.hpp"
#include "boltzmark/estimate/estimators/stepping_stones.hpp"
#include "boltzmark/sample/estimate.hpp"
#include "boltzmark/sample/sample_store.hpp"
#include "verification/exact/support/gaussian_tempering.hpp"

using namespace boltzmark;
using Eigen::Index;

TEST_CASE("batches of chains need more effective samples than chains: worked out by hand") {
  const auto told = [](Index groups, int batches, double effective) {
    Estimate estimate{.log_z = 0};
    Eigen::VectorXd sums(groups);
    for (Index g = 0; g < groups; ++g) sums[g] = g % 4 < 2 ? 1 : -1;
    const auto n = static_cast<double>(groups);
    const double squared_error = n / (n - 1) * n / 1e6;
    set_error(estimate, {.groups = sums,
                         .batches = batches,
                         .samples = 1000,
                         .mean_square = effective * squared_error});
    CHECK(estimate.std_error == Approx(std::sqrt(squared_error)).epsilon(1e-14));
    CHECK(estimate.effective_samples == Approx(effective).epsilon(1e-12));
    return estimate;
  };
  const auto warnings = [](int found, int needed) {
    return std::vector<std::string>{fmt::format(
        "{} effective samples (fewer than {}): run more sweeps or chains", found, needed)};
  };
  CHECK(told(8, 1, 51).status == Status::ok);
  CHECK(told(8, 1, 49).status == Status::few_effective_samples);
  CHECK(told(8, 1, 49).warnings == warnings(49, 50));
  CHECK(told(8, 2, 97).status == Status::ok);  // 12 a batch; four pairs are too few to join
  CHECK(told(8, 2, 95).status == Status::few_effective_samples);
  CHECK(told(8, 2, 95).warnings == warnings(95, 96));
}

TEST_CASE("batches of a chain that are alike are joined, of influences as of their sums") {
  // Two chains of 64 sweeps, 1 in the first half and -1 in the second: of 16 batches each four are
  // left, of 16 sweeps, whose eight sums are 16 either way.
  Eigen::MatrixXd influences(64, 2);
  influences.topRows(32).setConstant(1);
  influences.bottomRows(32).setConstant(-1);
  Estimate estimate{.log_z = 0};
  set_error(estimate, influences);
  CHECK(estimate.std_error == Approx(1 / std::sqrt(7)).epsilon(1e-12));
  CHECK(estimate.effective_samples == Approx(7).epsilon(1e-12));
  CHECK(estimate.status == Status::few_effective_samples);
}

TEST_CASE("chains of a bundle are one group: errors and sums worked out by hand") {
  // 40 bundles of 2 chains, 2 sweeps; a bundle's values are all 1, or all -1.
  Eigen::MatrixXd influences(2, 80);
  for (Index c = 0; c < 80; ++c) influences.col(c).setConstant(c / 2 % 2 == 0 ? 1 : -1);
  Estimate chains{.log_z = 0}, bundles{.log_z = 0};
  set_error(chains, influences);
  set_error(bundles, influences, 2);
  CHECK(chains.std_error == Approx(std::sqrt(80.0 / 79 * 80 * 4) / 160).epsilon(1e-14));
  CHECK(bundles.std_error == Approx(std::sqrt(40.0 / 39 * 40 * 16) / 160).epsilon(1e-14));
  SampleStore store{.ladder = Ladder::linear(2),
                    .log_prior = Eigen::VectorXd::Constant(2, -std::log(2)),
                    .log_z_hat = Eigen::VectorXd::Zero(2),
                    .log_ratio = influences,
                    .rung = Eigen::MatrixXi(2, 80)};
  for (Index c = 0; c < 80; ++c) store.rung.col(c) << static_cast<int>(c % 2), 1 - c % 2;
  const RungSums drawn = sum_by_rung(store, Assignment::hard);
  CHECK(drawn.groups() == 80);
  store.random_rungs = false;
  const RungSums fixed = sum_by_rung(store, Assignment::hard);
  REQUIRE(fixed.groups() == 40);
  CHECK(fixed.batches == 1);
  CHECK(fixed.weight == Eigen::MatrixXd::Constant(2, 40, 2));
  for (Index g = 0; g < 40; ++g) {
    CHECK(fixed.first(0, g) == (g % 2 == 0 ? 2 : -2));
    CHECK(fixed.second(1, g) == 2);
  }
  CHECK(fixed.first.sum() == drawn.first.sum());
  store.log_ratio.conservativeResize(2, 79);  // no whole bundles
  store.rung.conservativeResize(2, 79);
  CHECK(store.bundle() == 1);
}

TEST_CASE("errors of bar, mbar and stepping stones are those of bundles, worked out by hand") {
  // Of 40 bundles two chains that exchange their two rungs. D is a in all of a bundle, or -a: so
  // log Z is 0, and the influences of two samples, one a rung, add up to 2 sinh a or -2 sinh a by
  // the shares 1 / (1 + e^-D), and to 2 tanh a or -2 tanh a by the weights e^D of the lower rung.
  const double a = 0.7;
  SampleStore store = estimate_test::store_on(Ladder::linear(2), 2, 80);
  for (Index c = 0; c < 80; ++c) {
    store.log_ratio.col(c).setConstant(c / 2 % 2 == 0 ? a : -a);
    store.rung.col(c) << static_cast<int>(c % 2), 1 - static_cast<int>(c % 2);
  }
  for (const bool drawn : {false, true}) {
    store.random_rungs = drawn;
    const double groups = drawn ? 80 : 40;
    INFO(groups << " groups");
    CHECK(bar(store).std_error == Approx(std::sinh(a) / std::sqrt(groups - 1)).epsilon(1e-9));
    CHECK(mbar(store).std_error == Approx(std::sinh(a) / std::sqrt(groups - 1)).epsilon(1e-9));
    CHECK(stepping_stones(store).forward.std_error ==
          Approx(std::tanh(a) / std::sqrt(groups - 1)).epsilon(1e-9));
  }
}
