// MBAR and BAR against SciPy: vectors/mbar.json, made by vectors/mbar.py.
#include "boltzmark/estimate/estimators/mbar.hpp"

#include <Eigen/Core>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "boltzmark/estimate/estimators/bar.hpp"
#include "experiments/kit/files.hpp"
#include "verification/exact/support/gaussian_tempering.hpp"

namespace {

using namespace estimate_test;
using nlohmann::json;

const json& mbar_vectors() {
  static const json all = json::parse(
      std::ifstream(boltzmark::experiments::source_path("verification/exact/vectors/mbar.json")));
  return all;
}

// The generator of mbar.py, written out again; the samples lie rung by rung on 4 chains.
SampleStore store_of(const json& c) {
  const std::size_t rungs = c["counts"].size();
  const double v = c["variance"];
  std::uint64_t seed = c["seed"];
  std::vector<double> d;
  std::vector<int> rung;
  const Ladder ladder = Ladder::linear(static_cast<int>(rungs));
  for (std::size_t k = 0; k < rungs; ++k)
    for (int n = 0; n < c["counts"][k].get<int>(); ++n) {
      double u = 0;
      for (int i = 0; i < 4; ++i) {
        seed = seed * 16807 % 2147483647;
        u += static_cast<double>(seed) / 2147483647.0;
      }
      d.push_back(1 + v * ladder[static_cast<int>(k)] + std::sqrt(3 * v) * (u - 2));
      rung.push_back(static_cast<int>(k));
    }
  const auto sweeps = static_cast<Eigen::Index>(d.size() / 4);
  SampleStore store = store_on(ladder, sweeps, 4);
  store.random_rungs = false;
  store.log_ratio = Eigen::Map<Eigen::MatrixXd>(d.data(), sweeps, 4);
  store.rung = Eigen::Map<Eigen::MatrixXi>(rung.data(), sweeps, 4);
  return store;
}

}  // namespace

// SciPy stops at gradients below 1e-7; the least eigenvalue of the Hessians is above 1, and printed
// values have 17 digits: 1e-7 in log Z covers both, and the pseudo-inverse is cut at 1e-9.
TEST_CASE("MBAR solves SciPy's equations, also with unvisited rungs") {
  for (const json& c : mbar_vectors()) {
    INFO("seed " << c["seed"]);
    const MbarEstimate estimate = mbar(store_of(c));
    const Eigen::Index rungs = estimate.log_z_rungs.size();
    REQUIRE(rungs == static_cast<Eigen::Index>(c["mbar"].size()));
    for (Eigen::Index k = 0; k < rungs; ++k) {
      const auto i = static_cast<std::size_t>(k);
      CHECK(estimate.log_z_rungs[k] == Approx(c["mbar"][i].get<double>()).margin(1e-7));
      for (Eigen::Index l = 0; l < rungs; ++l)
        CHECK(estimate.covariance(k, l) ==
              Approx(c["covariance"][i][static_cast<std::size_t>(l)].get<double>())
                  .epsilon(1e-5)
                  .margin(1e-12));
    }
    CHECK(estimate.status != Status::not_converged);
  }
}

TEST_CASE("BAR solves the ratios that a bracketing root finder solves") {
  for (const json& c : mbar_vectors()) {
    INFO("seed " << c["seed"]);
    const Estimate estimate = bar(store_of(c));
    if (!c.contains("bar")) {
      CHECK(estimate.status == Status::unvisited_rung);
      CHECK(std::isnan(estimate.log_z));
      continue;
    }
    for (Eigen::Index k = 0; k < estimate.log_z_rungs.size(); ++k)
      CHECK(estimate.log_z_rungs[k] ==
            Approx(c["bar"][static_cast<std::size_t>(k)].get<double>()).margin(1e-9));
  }
}

TEST_CASE("MBAR refuses a ladder whose ends have no samples but still gives the number") {
  for (const json& c : mbar_vectors()) {
    const MbarEstimate estimate = mbar(store_of(c));
    const bool ends_seen = c["counts"].front() != 0 && c["counts"].back() != 0;
    CHECK((estimate.status == Status::unvisited_rung) == !ends_seen);
    CHECK(std::isfinite(estimate.log_z));
    CHECK(estimate.std_error > 0);
  }
}

TEST_CASE("MBAR refuses a ladder of which one end alone has no samples, whichever it is") {
  // Four rungs whose samples are those of one other rung more; D falls and rises with the sample.
  const auto status_without = [](int rung, int instead) {
    SampleStore store = store_on(Ladder::linear(4), 100, 4);
    store.random_rungs = false;
    for (Eigen::Index n = 0; n < 400; ++n) {
      const int own = static_cast<int>(n % 4);
      store.rung.data()[n] = own == rung ? instead : own;
      store.log_ratio.data()[n] = std::sin(static_cast<double>(n));
    }
    return mbar(store).status;
  };
  CHECK(status_without(0, 1) == Status::unvisited_rung);
  CHECK(status_without(3, 2) == Status::unvisited_rung);
  CHECK(status_without(1, 2) != Status::unvisited_rung);
}
