// What Fig. 5 of carlson2016 makes of tracked runs whose errors are known.
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "experiments/carlson2016/support/tracking_summary.hpp"
#include "verification/interface/experiments/made_trials.hpp"

namespace boltzmark::experiments {
namespace {

/// A tracked run of four checks, of which AIS finds -80, -60 and -40 in training; its curve begins
/// at `start`. Followers of alpha a are off by (a + 1) / 10 nats, twice as far at the last check.
Json tracked_run(double start) {
  const std::vector<double> updates = {500, 1000, 1500}, ais = {100, 80, 60};
  Json outputs = {{"update", updates},
                  {"train", {start, -60, -40}},
                  {"valid", {-90, -85, -95}},
                  {"ais_update", updates},
                  {"ais_log_z", ais},
                  {"ais_std_error", {0.1, 0.1, 0.1}},
                  {"tracked_log_z", {100, 80, 60}},
                  {"train_log_f", {20, 20, 20}},
                  {"valid_log_f", {10, -5, -35}}};
  for (std::size_t check = 0; check < ais.size(); ++check) {
    Json of_alphas;
    for (int a = 0; a < 5; ++a)
      of_alphas.push_back(ais[check] + (check + 1 == ais.size() ? 2 : 1) * (a + 1) / 10.0);
    outputs["followers"].push_back(of_alphas);
  }
  return outputs;
}

}  // namespace

TEST_CASE("Fig. 5 shows its first run, and tells errors by alpha, over all checks and all runs") {
  Trial first{.inputs = {{"updates", 1500}}, .outputs = tracked_run(-80)},
      second{.inputs = {{"updates", 1500}, {"run", 2}}, .outputs = tracked_run(-70)};
  const Summary summary = made::sum_up("carlson2016/fig5", {first, second}, Profile::quick);
  CHECK(made::figure_of(summary, "tracking").panels.at(0).series.at(0).y.front() == -80);
  const auto& rows = made::table_of(summary, "alphas").rows;
  for (std::size_t a = 0; a < rows.size(); ++a) {
    // 1, 1 and 2 tenths of every alpha, in each run.
    const double tenths = static_cast<double>(a + 1) / 10;
    // No interval: checks of one run are not independent.
    CHECK(made::real(rows[a][1]) == Approx(tenths * 4 / 3));
  }
  const Measure& measure = made::measure_of(summary, "C43");
  CHECK(measure.estimate == Approx(5));
  CHECK_THAT(measure.note, Catch::Contains("updates 500, 1000;"));
}

TEST_CASE("C41 tells its error over all checks beside that over the judged ones") {
  Json outputs = tracked_run(-80);
  outputs["tracked_log_z"] = {100.1, 80.3, 61.1};
  const TrackingCurves run(outputs);
  Summary summary;
  add_tracking_agreement({run, run}, summary);
  CHECK(summary.measures().at(0).estimate == Approx(0.2));
  CHECK_THAT(summary.measures().at(0).note, Catch::Contains("over all checks it is 0.50"));
}

}  // namespace boltzmark::experiments
