// What carlson2016 is asked of the published RBM, of runs whose errors are known.
#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "boltzmark/core/quantiles.hpp"
#include "experiments/carlson2016/support/models.hpp"
#include "experiments/carlson2016/support/published_rbm.hpp"
#include "experiments/kit/statistics/power.hpp"
#include "verification/interface/experiments/made_trials.hpp"

namespace boltzmark::experiments {
namespace {

/// Twelve runs on the published RBM, with errors of bias + size and bias - size in turn.
std::vector<Trial> published_runs(const char* method, int sweeps, double bias, double size) {
  std::vector<Trial> trials;
  for (int repeat = 1; repeat <= 12; ++repeat) {
    const double log_z = kPublishedCd25LogZ + bias + (repeat % 2 == 0 ? size : -size);
    trials.push_back({.inputs = {{"model", "cd25"},
                                 {"base", "rates"},
                                 {"method", method},
                                 {"sweeps", sweeps},
                                 {"repeat", repeat}},
                      .outputs = {{"log_z", log_z},
                                  {"std_error", 0.1},
                                  {"lower", log_z - 0.2},
                                  {"upper", log_z + 0.2},
                                  {"status", "ok"}}});
  }
  return trials;
}

}  // namespace

TEST_CASE("C35 is the variance of long runs, and of shorter ones only where it is small") {
  // Twelve runs d to either side: 12 d^2 / 11. Chi-squared of 11: 21.920 and 3.81575.
  const auto variance = [](int sweeps, double d, std::size_t runs = 12) {
    std::vector<Trial> trials = published_runs("rts", sweeps, 0, d);
    trials.resize(runs);
    Summary summary;
    add_truth_variance(Results(Profile::paper, {}, trials), sweeps, summary);
    return summary.measures().at(0);
  };
  const Measure small = variance(100000, 0.06), large = variance(100000, 0.1);
  CHECK(small.part == "RTS");
  CHECK(small.estimate == Approx(12 * 0.0036 / 11));
  CHECK(small.lower == Approx(12 * 0.0036 / 21.920).epsilon(1e-4));
  CHECK(small.upper == Approx(12 * 0.0036 / 3.81575).epsilon(1e-4));
  CHECK(small.decidable);
  CHECK_FALSE(large.decidable);
  CHECK(variance(1000000, 0.1).decidable);
  CHECK_FALSE(variance(1000000, 0.06, 10).decidable);
  // If the variance is 0.006: how often 11 times it over 3.81575 stays below 0.02.
  CHECK(chi_squared_quantile(11, small.power) == Approx(0.02 / 0.006 * 3.81575).epsilon(1e-4));
}

TEST_CASE("C33 is over the long runs of both methods") {
  std::vector<Trial> trials = published_runs("rts", 1000, 0.3, 0.1);
  for (Trial& trial : published_runs("ais", 1000, -0.1, 0.1)) trials.push_back(std::move(trial));
  Summary summary;
  add_published_values(Results(Profile::paper, {}, trials), 1000, summary);
  const Measure& measure = made::measure_of(summary, "C33");
  CHECK(measure.n == 24);
  CHECK(measure.estimate == Approx(kPublishedCd25LogZ + 0.1));
}

TEST_CASE("what is asked of the published RBM is asked of the runs that are ok") {
  // Errors 0.2, 0.3 and 0.6, the last refused, of a standard error of 0.1: 0.5 is allowed.
  std::vector<Trial> trials = published_runs("rts", 10000, 0, 0);
  trials.resize(3);
  for (const auto& [i, error] : {std::pair{0, 0.2}, {1, 0.3}, {2, 0.6}})
    trials[static_cast<std::size_t>(i)].outputs["log_z"] = kPublishedCd25LogZ + error;
  trials[2].outputs["status"] = "not_converged";
  Summary summary;
  add_acceptance(Results(Profile::paper, {}, trials), summary);
  const auto& row = made::table_of(summary, "acceptance").rows.at(0);
  CHECK(made::count(row[2]) == 2);
  CHECK(made::real(row[4]) == Approx(0.3));
  CHECK(made::real(row[8]) == Approx(0.3 / 0.5));
  CHECK(summary.items().size() == 1);
}

TEST_CASE("RTS's error on the published RBM is explained where it is beyond the published one") {
  // Published: 0.101. The lower limit of 12 errors of 0.2 is 0.2 sqrt(12 / 23.337) = 0.143.
  for (const auto& [error, told] : {std::pair{0.2, true}, {0.12, false}}) {
    Summary summary;
    add_acceptance(Results(Profile::paper, {}, published_runs("rts", 10000, 0, error)), summary);
    CHECK((made::notes_of(summary).find("(0.143 to ") != std::string::npos) == told);
    CHECK(made::notes_of(summary).empty() != told);
  }
}

}  // namespace boltzmark::experiments
