// What carlson2016 is asked of the published RBM, of runs whose errors are known.
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "boltzmark/core/quantiles.hpp"
#include "experiments/carlson2016/support/models.hpp"
#include "experiments/carlson2016/support/published_rbm.hpp"
#include "experiments/kit/datasets/data_folders.hpp"
#include "experiments/kit/files.hpp"
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

/// How many trials of "cd25" are planned, by their method and length.
std::map<std::string, int> planned_on_published(const std::string& id) {
  const Experiment& experiment = made::find_experiment(id);
  const made::PublishedRbmFolder folder;
  std::map<std::string, int> counts;
  for (const Json& trial : experiment.trials(Profile::paper)) {
    if (trial.value("model", "") != "cd25") continue;
    CHECK(trial.value("file", kPublishedCd25File) == kPublishedCd25File);  // pools name none
    const int length = trial.contains("sweeps") ? trial.at("sweeps") : trial.at("iterations");
    ++counts[trial.value("method", "run") + " " + std::to_string(length)];
  }
  return counts;
}

/// What Fig. 3 makes of RTS and AIS at 100,000 sweeps, 0.3 nats off, and of so many longer runs of each,
/// 0.1 off.
Summary long_and_longest(std::size_t longest) {
  std::vector<Trial> trials;
  for (const char* method : {"rts", "ais"})
    for (const auto& [sweeps, bias] : {std::pair{100000, 0.3}, {1000000, 0.1}}) {
      std::vector<Trial> runs = published_runs(method, sweeps, bias, 0.03);
      if (sweeps == 1000000) runs.resize(longest);
      for (Trial& run : runs) {
        run.inputs["file"] = kPublishedCd25File;
        trials.push_back(std::move(run));
      }
    }
  return made::sum_up("carlson2016/fig3", trials);
}

}  // namespace

TEST_CASE("where the published RBM is, all that is asked of it is planned at the paper's lengths") {
  using Counts = std::map<std::string, int>;
  // Four ways to start an iteration, 20 repeats; pools of chains at eight K, ten of each.
  CHECK(planned_on_published("carlson2016/fig1") == Counts{{"run 50", 80}});
  CHECK(planned_on_published("carlson2016/fig4") == Counts{{"run 30000", 80}});
  Counts runs;
  for (const char* method : {"rts", "ais", "raise", "rts-joint", "rts-paper"})
    for (const char* sweeps : {"1000", "2000", "10000", "100000"})
      runs[std::string(method) + " " + sweeps] = 20;
  runs["rts 1000000"] = runs["ais 1000000"] = 12;  // in the place of a truth
  CHECK(planned_on_published("carlson2016/fig3") == runs);
  for (const auto& [run, count] : planned_on_published("carlson2016/fig7"))
    CHECK_THAT(run, !Catch::StartsWith("truth"));
}

TEST_CASE("C33 is of the longest runs there are two of each of, C35 of the longest of twelve") {
  const Summary twelve = long_and_longest(12), three = long_and_longest(3);
  CHECK(made::measure_of(twelve, "C33").estimate == Approx(kPublishedCd25LogZ + 0.1).epsilon(1e-9));
  CHECK(made::measure_of(twelve, "C33").n == 24);
  CHECK_THAT(made::measure_of(twelve, "C35", "RTS").note, Catch::StartsWith("runs of 1000000 "));
  // Of three one more is 0.03 below than above.
  CHECK(made::measure_of(three, "C33").estimate == Approx(kPublishedCd25LogZ + 0.09).epsilon(1e-9));
  CHECK(made::measure_of(three, "C33").n == 6);
  CHECK_THAT(made::measure_of(three, "C35", "RTS").note, Catch::StartsWith("runs of 100000 "));
}

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
