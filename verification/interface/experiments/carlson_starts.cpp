// What Fig. 7 makes of starts that found no Zhat.
#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "boltzmark/sample/tempering/simulated_tempering.hpp"
#include "experiments/carlson2016/support/error_curves.hpp"
#include "experiments/carlson2016/support/initial_rounds.hpp"
#include "experiments/carlson2016/support/models.hpp"
#include "experiments/carlson2016/support/starts.hpp"
#include "experiments/carlson2016/support/truth.hpp"
#include "verification/interface/experiments/made_trials.hpp"

namespace boltzmark::experiments {
namespace {

constexpr double kLogZ = 451.255;  // of the published RBM
constexpr const char* kOwn = "cd25-500.npz";
constexpr const char* kPublished = "mnistvh_CD25.mat";

Json inputs(const std::string& base, const std::string& method, int sweeps, int repeat) {
  return {{"model", "cd25"},  {"file", kOwn},     {"base", base},
          {"method", method}, {"sweeps", sweeps}, {"repeat", repeat}};
}

/// Four runs of other seeds that the truth is told by.
std::vector<Trial> truth_trials() {
  std::vector<Trial> trials;
  for (int repeat = 1; repeat <= 4; ++repeat)
    trials.push_back({.inputs = inputs("rates", "truth", 1000000, repeat),
                      .outputs = {{"log_z", kLogZ + 1e-6 * repeat}, {"status", "ok"}}});
  return trials;
}

Trial stop(const std::string& base, int repeat, int iterations, double error) {
  return {.inputs = inputs(base, "stops", 10000, repeat),
          .outputs = {{"iterations", iterations}, {"log_z", kLogZ + error}, {"excess", 0.3}}};
}

Measure stops_measured(const std::vector<Trial>& stops,
                       std::vector<Trial> trials = truth_trials()) {
  trials.insert(trials.end(), stops.begin(), stops.end());
  const Summary summary = made::sum_up("carlson2016/fig7", trials);
  return made::measure_of(summary, "C55");
}

TEST_CASE(
    "iterations that stop far from log Z are at least so many, and decide nothing with base rates") {
  std::vector<Trial> stops;
  for (int repeat = 1; repeat <= 3; ++repeat) {
    stops.push_back(stop("uniform", repeat, 30 + repeat, -40));
    stops.push_back(stop("rates", repeat, 9 + repeat, repeat == 1 ? 0.9 : -0.4));
  }
  const Measure lower_limit = stops_measured(stops);
  CHECK(lower_limit.estimate == Approx(32 / 11.0));
  CHECK(lower_limit.interval == "95 %, of a lower limit");
  CHECK(lower_limit.decidable);
  CHECK_THAT(lower_limit.note, Catch::Contains("3 of 3 runs stopped more than 1 nat off") &&
                                   Catch::Contains("mean error -40.0 nats"));
  for (Trial& trial : stops)
    if (trial.inputs["base"] == "uniform") trial.outputs["log_z"] = kLogZ - 0.8;
  CHECK(stops_measured(stops).interval.empty());
  // Where one with base rates has found nothing either, the ratio is no limit of anything.
  stops[1].outputs["log_z"] = kLogZ + 1.1;
  CHECK_FALSE(stops_measured(stops).decidable);
  CHECK(stops_measured(stops).interval == "95 %, of the iterations made");
}

TEST_CASE("rounds that are to settle end when they do, and ten rounds are ten") {
  // On an RBM on which they settle at once the sweeps that are left are kept.
  const auto log_z = [](Json more) {
    Json all = {{"model", "mnist-10"}, {"base", "rates"}, {"sweeps", 2000}, {"repeat", 1}};
    all.update(more);
    TrialContext context;
    context.key = make_key(1, "starts");
    return number(
        (all.contains("start") ? run_start_trial : run_error_trial)(all, context).at("log_z"));
  };
  const auto directly = [](int iterations, bool stop_early) {
    TrialContext context;
    context.key = make_key(1, "starts");
    SimulatedTemperingOptions options = paper_start(carlson_target("mnist-10", "rates"),
                                                    Ladder::linear(100), 2000, iterations, context);
    options.stop_early = stop_early;
    return judged_rts(simulated_tempering(carlson_target("mnist-10", "rates"), options)).log_z;
  };
  const double ten = directly(10, false), settled = directly(iterations_in(2000), true);
  CHECK(ten != settled);
  CHECK(settled != directly(iterations_in(2000), false));
  CHECK(log_z({{"method", "rts-paper"}}) == ten);
  CHECK(log_z({{"method", "rts-settled"}}) == settled);
  Json start = {{"method", "start"}, {"states", "collapsed"}, {"ladder", "linear"}};
  start["start"] = "ten rounds";
  CHECK(log_z(start) == ten);
  start["start"] = "rounds until they settle";
  CHECK(log_z(start) == settled);
}

TEST_CASE("log Z is that of the RBM that the trials ran on, whichever is there to be read") {
  // Four runs that put log Z of our own RBM at 500: the published one's stays what it is.
  std::vector<Trial> trials = truth_trials();
  for (Trial& trial : trials) trial.outputs["log_z"] = 500.0;
  for (int repeat = 1; repeat <= 2; ++repeat) {
    trials.push_back(stop("uniform", repeat, 30 + repeat, -0.5));
    trials.push_back(stop("rates", repeat, 10 + repeat, 0.5));
  }
  const auto note = [&](const char* file) {
    for (Trial& trial : trials) trial.inputs["file"] = file;
    const Summary summary = made::sum_up("carlson2016/fig7", trials);
    return made::measure_of(summary, "C55").note;
  };
  CHECK_THAT(note(kPublished), Catch::Contains("base rates: mean error 0.5 nats"));
  CHECK_THAT(note(kOwn), Catch::Contains("base rates: mean error -48.2 nats"));
  const Results own(Profile::paper, {}, trials);
  CHECK_FALSE(ran_on_published_cd25(own));
  CHECK(carlson_truth(own, "cd25", "rates").log_z == 500);
  CHECK(carlson_truth(own, "cd25", "rates").runs == 4);
  for (Trial& trial : trials) trial.inputs["file"] = kPublished;
  const Results published(Profile::paper, {}, trials);
  CHECK(ran_on_published_cd25(published));
  CHECK(carlson_truth(published, "cd25", "rates").log_z == kLogZ);
  CHECK(carlson_truth(published, "cd25", "rates").exact());
  CHECK(std::isnan(carlson_truth(published, "mnist-100", "rates").log_z));
}

TEST_CASE("where log Z is not known nothing is said of how far iterations stopped from it") {
  const Measure open = stops_measured({stop("uniform", 1, 30, 0), stop("uniform", 2, 31, 0),
                                       stop("rates", 1, 10, 0), stop("rates", 2, 11, 0)},
                                      {});
  CHECK_FALSE(open.decidable);
  CHECK(open.interval.empty());
  CHECK_THAT(open.note, Catch::Contains("is not known") && !Catch::Contains("nan"));
}

TEST_CASE("a setting of the start is told by the runs that found a number, and by how many did") {
  std::vector<Trial> trials = truth_trials();
  for (int repeat = 1; repeat <= 4; ++repeat) {
    Json of = inputs("uniform", "start", 5000, repeat);
    of.update({{"states", "joint"}, {"ladder", "linear"}, {"start", "ten rounds"}});
    trials.push_back({.inputs = of,
                      .outputs = {{"log_z", repeat == 4 ? Json(nullptr) : Json(kLogZ + repeat)},
                                  {"status", "not_converged"},
                                  {"imbalance", 2.0},
                                  {"round_trips", 0}}});
  }
  const Summary summary = made::sum_up("carlson2016/fig7", trials);
  const Table& table = made::table_of(summary, "starts");
  REQUIRE(table.rows.size() == 1);
  // 453.4402 at 5,000.1 sweeps, less 451.2524.
  CHECK_THAT(table.caption, Catch::EndsWith("at 5,000 sweeps is +2.19 nats."));
  const auto& row = table.rows[0];
  CHECK(made::text(row[0]) == "joint");
  CHECK(made::count(row[4]) == 4);
  CHECK(made::count(row[5]) == 3);
  CHECK(made::estimate(row[6]).value == Approx(2).margin(1e-4));
  CHECK(made::real(row[7]) == Approx(std::sqrt(14 / 3.0)).margin(1e-4));
  CHECK(made::count(row[10]) == 4);
}

}  // namespace
}  // namespace boltzmark::experiments
