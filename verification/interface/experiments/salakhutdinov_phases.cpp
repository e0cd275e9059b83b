// What the comparison of negative phases (salakhutdinov2010/modes) makes of runs whose numbers are known.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "experiments/kit/published.hpp"
#include "experiments/salakhutdinov2010/support/modes.hpp"
#include "verification/interface/experiments/made_trials.hpp"

namespace boltzmark::experiments {
namespace {

/// Runs of a negative phase on Artificial Modes, which stay at -8 nats: two seeds for each p.
std::vector<Trial> modes_runs(const std::vector<std::string>& data) {
  std::vector<Trial> trials;
  for (const std::string& name : data)
    for (const int seed : {0, 1})
      trials.push_back({.inputs = {{"network", "rbm"},
                                   {"data", name},
                                   {"negative", "pcd:1 --chains 10"},
                                   {"seed", seed}},
                        .outputs = {{"log_likelihood", std::vector<double>(20, -8)}}});
  return trials;
}

}  // namespace

TEST_CASE(
    "what paper size adds to the comparison of negative phases stands as not run, and is judged by none") {
  const Experiment& modes = made::find_experiment("salakhutdinov2010/modes");
  std::vector<Trial> runs;
  std::vector<Json> planned;
  for (const bool all : {false, true}) {
    for (const Json& inputs : modes.trials(Profile::paper)) {
      const std::string negative = inputs.at("negative");
      const bool added = inputs.at("data") == "bas" || negative.starts_with("tt:") ||
                         negative == "st:20:0.9 --chains 5";
      if (!all) planned.push_back(inputs);
      if (added != all) continue;
      const double seed = number(inputs.at("seed"));
      std::vector<double> curve;
      for (int t = 0; t < 20; ++t) curve.push_back(-8 + 0.1 * seed + 0.01 * t + 0.1 * (t % 2));
      runs.push_back({.inputs = inputs,
                      .outputs = {{"log_likelihood", curve},
                                  {"overlap_time", 9 + seed},
                                  {"overlap_supported", true}}});
    }
    Summary summary;
    modes.summarise(Results(Profile::paper, planned, runs), summary);
    // Ten seeds of 3 data sets and 16 phases, or of 4 and 19, and ten more of three phases.
    CHECK(runs.size() == 10 * ((all ? 4 * 19 : 3 * 16) + 3));
    int not_run = 0;
    for (const auto& row : made::table_of(summary, "late").rows)
      not_run += std::holds_alternative<NotRun>(row[5]) ? 1 : 0;
    CHECK(not_run == (all ? 0 : 4 * 19 - 3 * 16));
    CHECK(made::figure_of(summary, "likelihood").panels.size() == (all ? 8 : 6));
    CHECK(summary.measures().size() == 22);
    for (const Measure& measure : summary.measures()) {
      INFO(measure.claim << " " << measure.part);
      const bool shared = measure.claim == "S16" || measure.claim == "S31" ||
                          (measure.claim == "S15" && measure.part.starts_with("SAP")) ||
                          (measure.claim == "S35" && measure.part.starts_with("DBM") &&
                           measure.part.ends_with("equal sweeps"));
      CHECK(measure.n == (shared ? 20 : 10));
    }
  }
  for (const Profile profile : {Profile::smoke, Profile::quick})
    for (const Json& inputs : modes.trials(profile)) {
      CHECK(inputs.at("data") == "artificial-modes-0.01");
      CHECK_THAT(inputs.at("negative").get<std::string>(), !Catch::StartsWith("tt:"));
    }
}

TEST_CASE(
    "the comparison of negative phases counts every seed that coupling trains of the same phase") {
  const std::map<std::string, std::string> theirs = {
      {"pcd:1 --chains 100", "pcd:1 --chains 100"},
      {"cast:20:0.9 --chains 100", "cast:20:0.9"},
      {"cast:5:0 --chains 100 --swap each --factor constant:0.1",
       "cast:5:0 --swap each --factor constant:0.1"}};
  const auto count = [](const char* id, const Json& filter) {
    const Experiment& experiment = made::find_experiment(id);
    const auto all = experiment.trials(Profile::paper);
    return std::count_if(all.begin(), all.end(),
                         [&](const Json& inputs) { return matches(inputs, filter); });
  };
  for (const auto& [ours, same] : theirs) {
    INFO(ours);
    Json inputs = {{"network", "dbm"}, {"data", "artificial-modes-0.01"}};
    inputs["negative"] = ours;
    CHECK(count("salakhutdinov2010/modes", inputs) ==
          10 + count("salakhutdinov2010/coupling", {{"network", "dbm"}, {"negative", same}}));
    inputs["updates"] = 400;
    inputs["seed"] = 13;
    const Json run = made::run_trial("salakhutdinov2010/modes", inputs).outputs;
    inputs["seed"] = 3;
    const Json other = made::run_trial("salakhutdinov2010/modes", inputs).outputs;
    inputs["negative"] = same;
    CHECK(made::run_trial("salakhutdinov2010/coupling", inputs).outputs == run);
    CHECK(other != run);
  }
}

TEST_CASE("a minibatch of Bars and Stripes is at most its 32 cases") {
  for (const char* network : {"rbm", "dbm"}) {
    const Json outputs =
        made::run_trial("salakhutdinov2010/modes", {{"network", network},
                                                    {"data", "bas"},
                                                    {"negative", "tt:20:0.9 --chains 5 --every 38"},
                                                    {"seed", 0},
                                                    {"updates", 50}})
            .outputs;
    const std::vector<double> curve = numbers(outputs.at("log_likelihood"));
    REQUIRE(curve.size() == 2);
    CHECK(curve[0] == Approx(-16 * std::log(2)).margin(0.1));
    CHECK(curve[1] <= modes_ceiling("bas"));
  }
  CHECK(modes_ceiling("bas") == Approx(-3.379093));
}

TEST_CASE("curves on Artificial Modes are drawn below the ceiling of their own p") {
  const std::vector<std::string> data = {"artificial-modes-0.01", "artificial-modes-0.001"};
  const Summary summary = made::sum_up("salakhutdinov2010/modes", modes_runs(data));
  const auto& panels = made::figure_of(summary, "likelihood").panels;
  REQUIRE(panels.size() == data.size());
  for (std::size_t p = 0; p < data.size(); ++p)
    CHECK(panels[p].guides.at(0).at == modes_ceiling(data[p]));
}

TEST_CASE("beside curves on Artificial Modes stand the published ones of their own p") {
  const std::vector<std::string> all = {"0.1", "0.01", "0.001"};
  std::vector<std::string> data;
  for (const std::string& p : all) data.push_back("artificial-modes-" + p);
  const Summary summary = made::sum_up("salakhutdinov2010/modes", modes_runs(data));
  const auto& panels = made::figure_of(summary, "likelihood").panels;
  REQUIRE(panels.size() == all.size());
  for (std::size_t p = 0; p < all.size(); ++p) {
    CHECK(panels[p].title == "RBM 16-10, p = " + all[p]);
    std::set<std::vector<double>> drawn, published;
    for (const Series& series : panels[p].series)
      if (series.mark == Mark::dotted) drawn.insert(series.y);
    if (all[p] != "0.1")  // of which none is
      for (const char* curve : {"PCD", "PT"})
        published.insert(find_published("desjardins2010_fig5", all[p], curve).y);
    CHECK(drawn == published);
  }
}

TEST_CASE("a fall is the mean of the runs' own, and that of the mean curve stands beside it") {
  std::vector<Trial> runs = modes_runs({"artificial-modes-0.01"});
  std::vector<double> early(20, -8), late(20, -8);
  early[3] = -4;
  late[5] = -4;
  for (Trial& run : runs) {
    run.inputs["negative"] = "pcd:10 --chains 1";
    run.outputs["log_likelihood"] = run.inputs.at("seed") == 0 ? early : late;
  }
  const Summary summary = made::sum_up("salakhutdinov2010/modes", runs);
  const Measure& measure = made::measure_of(summary, "S36", "PCD");
  CHECK(measure.estimate == Approx(4));
  CHECK_THAT(measure.note, Catch::EndsWith("of the mean curve, as a figure shows it, 2.00"));
}

TEST_CASE("a published curve of Artificial Modes has the colour of our runs of the same phase") {
  std::vector<Trial> runs = modes_runs({"artificial-modes-0.01"});
  const std::vector<Trial> other = runs;
  for (const char* negative : {"pcd:10 --chains 1", "pt:10:1 --chains 10"})
    for (Trial run : other) {
      run.inputs["negative"] = negative;
      runs.push_back(run);
    }
  for (const auto& trials : {runs, other}) {  // also where ours are not there
    const Summary summary = made::sum_up("salakhutdinov2010/modes", trials);
    std::map<std::string, int> colours;
    for (const Series& series : made::figure_of(summary, "likelihood").panels.at(0).series)
      colours[series.label] = series.colour;
    CHECK(colours.at("SAP, ten chains") == 1);
    for (const auto& [published, ours] : {std::pair{"published PCD", "SAP, one chain, ten sweeps"},
                                          {"published PT", "PT, ten rungs"}}) {
      INFO(published);
      CHECK(colours.at(published) == (std::string(published) == "published PT" ? 3 : 0));
      CHECK((colours.count(ours) == 0 || colours.at(ours) == colours.at(published)));
    }
  }
}

TEST_CASE("runs that diverged are in no mean, and swaps are told of the models that were run") {
  const auto diverged = [](Trial run) {
    run.inputs["seed"] = 2;
    run.outputs = {{"diverged_at", 5}, {"log_likelihood", std::vector<double>(10, -90)}};
    return run;
  };
  std::vector<Trial> runs = modes_runs({"artificial-modes-0.01"});
  runs.push_back(diverged(runs[0]));
  const Summary modes = made::sum_up("salakhutdinov2010/modes", runs);
  const auto& late = made::table_of(modes, "late").rows.at(0);
  CHECK(made::count(late[4]) == 2);
  CHECK(made::estimate(late[5]).value == Approx(-8));
  CHECK(made::figure_of(modes, "likelihood").panels.at(0).series.at(0).y.size() == 20);
  for (Trial& run : runs) {
    run.inputs["network"] = "dbm";
    run.inputs["negative"] = "cast:5:0 --swap each --factor constant:0.1";
  }
  // Of the first ladder one model is missing.
  for (Json inputs : made::find_experiment("salakhutdinov2010/coupling").trials(Profile::smoke))
    for (int model = runs.size() == 3 ? 1 : 0; inputs.contains("model") && model < 3; ++model) {
      inputs["model"] = model;
      runs.push_back({.inputs = inputs, .outputs = {{"swaps", 4}, {"idle", model}}});
    }
  const Summary coupling = made::sum_up("salakhutdinov2010/coupling", runs);
  const auto& variant = made::table_of(coupling, "variants").rows.at(0);
  CHECK(made::count(variant[2]) == 2);
  CHECK(made::estimate(variant[3]).value == Approx(-8));
  CHECK_THAT(made::table_of(coupling, "swaps").caption,
             Catch::Contains("Means over 2 to 3 RBMs 16-16"));
  CHECK(made::measure_of(coupling, "S32").estimate == Approx(1.5 / 4));
}

}  // namespace boltzmark::experiments
