// What the experiments of salakhutdinov2010 make of runs whose numbers are known.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "experiments/kit/statistics/interval.hpp"
#include "experiments/salakhutdinov2010/support/processor_time.hpp"
#include "verification/checks/laws/partition.hpp"
#include "verification/checks/laws/two_spins.hpp"
#include "verification/interface/experiments/made_trials.hpp"

namespace boltzmark::experiments {
namespace {

using made::measure_of;

/// Outputs of 12 runs whose last errors are `half` either way, in as many sets.  Shapes  [runs][sets]
Json last_errors(double half, std::size_t sets) {
  Json all = Json::array();
  for (int run = 0; run < 12; ++run)
    all.push_back(std::vector<double>(sets, run % 2 == 0 ? half : -half));
  return {{"rmse", std::vector<double>(4, 1)}, {"last", all}};
}

/// Half the interval of 98.75 % of the mean of 24 such errors, of 1 either way.
double half_width() {
  std::vector<double> errors;
  for (int run = 0; run < 24; ++run) errors.push_back(run % 2 == 0 ? 1 : -1);
  return mean_interval(errors, 0.9875).upper;
}

/// Half an interval of 98.75 % of four that exclude `distance` with probability 0.95: 2.497705 of
/// its standard errors, where the distance has 1.644854 more.
double decisive_half(double distance) { return distance * 2.497705 / (2.497705 + 1.644854); }

/// Cases of one model, which lie `gap` above their bound.
Trial bounded(const Json& inputs, int cases, double gap) {
  std::vector<double> bound, log_f;
  for (int c = 0; c < cases; ++c) {
    bound.push_back(100 + c);
    log_f.push_back(bound.back() + gap);
  }
  return {.inputs = inputs, .outputs = {{"bound", bound}, {"log_f", log_f}}};
}

}  // namespace

TEST_CASE("the sets of Fig. 1's partition hold the likeliest states first, and their shares") {
  const char* id = "salakhutdinov2010/fig1";
  const Summary summary = made::sum_up(id, made::run_trials(id));
  const Figure& figure = made::figure_of(summary, "partition");
  const auto& sets = figure.panels.at(0).series;
  REQUIRE(sets.size() == 4);
  double total = 0, above = 1e300;
  std::set<double> states;
  for (std::size_t k = 0; k < sets.size(); ++k) {
    CHECK(sets[k].y.size() == 128);
    states.insert(sets[k].x.begin(), sets[k].x.end());
    double share = 0;
    for (const double log_p : sets[k].y) share += std::exp(log_p);
    CHECK_THAT(sets[k].label, Catch::StartsWith("X_" + std::to_string(k + 1)) &&
                                  Catch::Contains(fmt::format("probability {:.3f}", share)));
    total += share;
    const auto [low, high] = std::minmax_element(sets[k].y.begin(), sets[k].y.end());
    CHECK(*high <= above);
    above = *low;
  }
  CHECK(states.size() == 512);
  CHECK(total == Approx(1));
}

TEST_CASE(
    "Fig. 3's chains swap their states where the fast one arrives at k = 1, and are so drawn") {
  const char* id = "salakhutdinov2010/fig3";
  const Trial run = made::run_trials(id).at(0);
  const std::vector<double> level = numbers(run.outputs.at("level")),
                            swaps = numbers(run.outputs.at("swaps"));
  REQUIRE_FALSE(swaps.empty());
  std::vector<double> arrivals;
  for (std::size_t sweep = 1; sweep < level.size(); ++sweep)
    if (level[sweep] == 1 && level[sweep - 1] != 1) arrivals.push_back(static_cast<double>(sweep));
  for (const double arrival : arrivals)
    CHECK(std::find(swaps.begin(), swaps.end(), arrival) != swaps.end());
  const Summary summary = made::sum_up(id, {run});
  const auto& series = made::figure_of(summary, "coupling").panels.at(0).series;
  REQUIRE(series.size() == 2 + swaps.size());
  CHECK(series[0].y == level);
  for (std::size_t i = 0; i < swaps.size(); ++i) {
    CHECK(series[2 + i].x == std::vector<double>(2, swaps[i]));
    CHECK(series[2 + i].y == std::vector<double>{0, 1});
  }
}

TEST_CASE("what moves Fig. 2's two spins has the factor or the rate of its name") {
  const Partition spins = two_spin_partition();
  const PartitionStart start{.law = point_law(spins, kTwoSpinStart)};
  for (const auto& [name, rule] : {std::pair{"wl-10", WeightRule::constant(10)},
                                   {"wl-1", WeightRule::constant(1)},
                                   {"fpcd-10", WeightRule::fast_weights(10, kTwoSpinData)},
                                   {"fpcd-1", WeightRule::fast_weights(1, kTwoSpinData)},
                                   {"fpcd-0.1", WeightRule::fast_weights(0.1, kTwoSpinData)}}) {
    INFO(name);
    const Json law = made::run_trial("salakhutdinov2010/fig2", {{"mover", name}, {"runs", 1}})
                         .outputs.at("exact")
                         .at("law");
    const Eigen::MatrixXd first = partition_law(spins, rule, start, 4);
    for (Eigen::Index t = 0; t < first.cols(); ++t) {
      const Eigen::VectorXd sums = spins.sums(first.col(t));
      for (Eigen::Index k = 0; k < sums.size(); ++k)
        CHECK(number(law[static_cast<std::size_t>(k)][static_cast<std::size_t>(t)]) ==
              Approx(sums[k]).epsilon(1e-9).margin(1e-15));
    }
  }
}

TEST_CASE("runs of FPCD draw their own states, and the claim counts runs, not their chains") {
  // Runs that share their draws reach a mode all or none. Fast weights as fast as these leave the
  // data, at some rate in a part of the runs.
  bool uneven = false;
  for (const double rate : {2.0, 4.0, 8.0}) {
    const Json inputs = {{"method", "FPCD"},
                         {"negative", fmt::format("fpcd:1 --fast-rate {}", rate)},
                         {"updates", 50}};
    const Json outputs = made::run_trial("salakhutdinov2010/spurious", inputs).outputs;
    CHECK(outputs.at("of") == 80);
    const int reached = outputs.at("reached");
    CHECK(reached <= 80);  // of 800 chains
    uneven = uneven || (reached > 0 && reached < 80);
  }
  CHECK(uneven);
}

TEST_CASE("an idle exchange is told by the trip before it, be that a part of burn-in") {
  // Two rungs: a fast chain that has come from the other one swaps after a whole trip, in the first
  // sweep that is counted as in any other.
  const Json outputs =
      made::run_trial("salakhutdinov2010/coupling",
                      {{"model", 0},
                       {"negative", "cast:2:0.9 --swap each --factor constant:0.1"},
                       {"sweeps", 1}})
          .outputs;
  CHECK(outputs.at("swaps") > 0);
  CHECK(outputs.at("idle") < outputs.at("swaps"));
}

TEST_CASE("at quick the rules of swapping are trained by, at paper size every setting, and whole") {
  const Experiment& coupling = made::find_experiment("salakhutdinov2010/coupling");
  const auto trained = [&](Profile profile) {
    std::map<std::string, int> seeds;
    for (const Json& inputs : coupling.trials(profile))
      if (!inputs.contains("model")) {
        ++seeds[inputs.at("negative")];
        CHECK(inputs.at("updates") == 40000);
      }
    return seeds;
  };
  const auto quick = trained(Profile::quick), paper = trained(Profile::paper);
  CHECK(quick.size() == 8);
  CHECK(paper.size() == 17);
  for (const auto& [negative, seeds] : quick) {
    CHECK(seeds == 3);
    CHECK(paper.at(negative) == 10);
  }
  for (const char* rule : {"each", "entry", "lag"})
    CHECK(quick.count(fmt::format("cast:5:0 --swap {} --factor constant:0.1", rule)) == 1);
}

TEST_CASE("errors of four weights are told at 98.75 % each, and with what power") {
  std::vector<Trial> trials;
  for (const double factor : {10, 1})
    for (const int group : {0, 1})
      trials.push_back(
          {.inputs = {{"factor", factor}, {"group", group}},
           .outputs = {{"share", std::vector<double>(4, 0.25)},
                       {"expectation", std::vector<double>(4, 0.5)},
                       {"weight", last_errors(decisive_half(0.005) / half_width(), 4)},
                       {"average", last_errors(decisive_half(0.01) / half_width(), 4)}}});
  const Summary weights = made::sum_up("salakhutdinov2010/weights", trials);
  for (const auto& [claim, half] :
       {std::pair{"S06", decisive_half(0.005)}, {"S07", decisive_half(0.01)}}) {
    const Measure& measure = measure_of(weights, claim, "factor 10/t, error of X3");
    CHECK(measure.upper == Approx(half).epsilon(1e-9));
    CHECK(measure.lower == Approx(-half).epsilon(1e-9));
    CHECK(measure.power == Approx(0.95).margin(1e-5));
  }
  Json outputs = last_errors(decisive_half(0.02) / half_width(), 5);
  outputs["imbalance"] = std::vector<double>(4, 1);
  const Summary ladder = made::sum_up("salakhutdinov2010/temperatures",
                                      {{.inputs = {{"group", 0}}, .outputs = outputs},
                                       {.inputs = {{"group", 1}}, .outputs = outputs}});
  const Measure& measure = measure_of(ladder, "S10", "weight at b = 0.625");
  CHECK(measure.power == Approx(0.95).margin(1e-5));
}

TEST_CASE("the gap of the bound is that of all cases of its own model") {
  std::vector<Trial> trials = {bounded({{"model", "mnist-20-30"}, {"how", "exact"}}, 100, 0.25)};
  for (int label = 0; label < 10; ++label)
    trials.push_back(bounded({{"how", "AIS"}, {"class", label}}, 10, 0.5 + 0.01 * label));
  const Summary summary = made::sum_up("salakhutdinov2010/tightness", trials);
  CHECK(measure_of(summary, "S21", "exact, at most 1").estimate == Approx(0.25));
  CHECK(measure_of(summary, "S21", "AIS, at least 0").estimate == Approx(0.545));
  CHECK(measure_of(summary, "S21", "AIS, at least 0").n == 100);
  const auto& rows = made::table_of(summary, "gaps").rows;
  CHECK(made::real(rows.at(1)[3]) == Approx(0.59));
  // A class that is missing: the whole is not told.
  trials.pop_back();
  const Summary part = made::sum_up("salakhutdinov2010/tightness", trials);
  for (const Measure& measure : part.measures())
    CHECK_THAT(measure.part, !Catch::StartsWith("AIS"));
}

TEST_CASE("cases of a class are those of the ten classes that have its label") {
  const Json all = {{"model", "mnist-20-30"}, {"how", "exact"}, {"cases", 100}};
  const char* id = "salakhutdinov2010/tightness";
  const std::vector<double> log_f = numbers(made::run_trial(id, all).outputs.at("log_f"));
  std::vector<double> of_classes;
  for (const int label : {0, 9}) {
    Json one = all;
    one["class"] = label;
    const std::vector<double> some = numbers(made::run_trial(id, one).outputs.at("log_f"));
    CHECK(some.size() == 10);
    of_classes.insert(of_classes.end(), some.begin(), some.end());
  }
  CHECK(std::set<double>(of_classes.begin(), of_classes.end()).size() == 20);
  for (const double value : of_classes)
    CHECK(std::find(log_f.begin(), log_f.end(), value) != log_f.end());
}

TEST_CASE("the time of one of several runs is their mean, by the clock that is read") {
  double now = 100;  // each run takes two seconds
  const auto work = [&](int runs) { now += 2 * runs; };
  for (const int runs : {1, 5}) CHECK(seconds_of_one(runs, work, [&] { return now; }) == 2);
  CHECK(now == 112);
}

TEST_CASE("log f of a case by AIS given it is that by enumeration, its visible biases with it") {
  const char* id = "salakhutdinov2010/tightness";
  Json inputs = {{"model", "mnist-20-30"}, {"how", "exact"}, {"class", 0}, {"cases", 20}};
  const std::vector<double> exact = numbers(made::run_trial(id, inputs).outputs.at("log_f"));
  inputs.update({{"how", "AIS"}, {"chains", 20}, {"sweeps", 1000}});
  const std::vector<double> found = numbers(made::run_trial(id, inputs).outputs.at("log_f"));
  REQUIRE(exact.size() == 2);
  REQUIRE(found.size() == 2);
  for (std::size_t c = 0; c < 2; ++c) CHECK(found[c] == Approx(exact[c]).epsilon(0).margin(1));
}

TEST_CASE("the cost of tempering is over that of SAP's sweep, timed in the same turn") {
  const Trial run = made::run_trial("salakhutdinov2010/cost",
                                    {{"sizes", {100, 50, 50}}, {"states", 20}, {"timed", 2}});
  const auto times = [&](const char* what) { return numbers(run.outputs.at(what)); };
  for (std::size_t i = 0; i < times("ratios").size(); ++i) {
    const double reference = times("reference_milliseconds")[i];
    CHECK(times("ratios")[i] * reference == Approx(times("ladder_milliseconds")[i]));
    CHECK(times("plain_ratios")[i] * reference == Approx(times("plain_milliseconds")[i]));
  }
  const std::vector<double> ratios = {40, 45, 50, 50, 55, 60};
  const Trial trial{.inputs = {{"states", 100}},
                    .outputs = {{"reference_bytes", 100},
                                {"ladder_bytes", 4500},
                                {"reference_milliseconds", ratios},
                                {"ladder_milliseconds", ratios},
                                {"plain_milliseconds", ratios},
                                {"ratios", ratios},
                                {"plain_ratios", ratios}}};
  const Summary summary = made::sum_up("salakhutdinov2010/cost", {trial});
  CHECK(measure_of(summary, "S24", "memory, at least 40").estimate == Approx(45));
  // The exact interval of six values is from the first to the last, 10 to either side of 50, which
  // 40 and 60 are distant: excluded in half of all cases.
  const Measure& time = measure_of(summary, "S24", "time, at most 60");
  CHECK(time.lower == 40);
  CHECK(time.upper == 60);
  CHECK(time.power == Approx(0.5).epsilon(1e-4));
}

TEST_CASE("an update's cost is its round's over that of SAP in the same round") {
  const Trial run =
      made::run_trial("salakhutdinov2010/update-cost", {{"layers", {64, 20, 30}}, {"rounds", 2}});
  for (std::size_t i = 0; i < run.outputs.at("updates").size(); ++i)
    for (std::size_t round = 0; round < run.outputs.at("updates")[i].size(); ++round)
      CHECK(number(run.outputs.at("updates")[i][round]) >
            number(run.outputs.at("sampling")[i][round]));
  // 100 + 100 chains are twice 50 + 50.
  CHECK(number(run.outputs.at("bytes")[5]) / number(run.outputs.at("bytes")[4]) ==
        Approx(2).epsilon(0.05));
  Json sampling, updates, bytes;
  for (int contender = 0; contender < 6; ++contender) {
    const double times = 1 + 0.25 * contender;
    Json rounds;
    for (const double busy : {1, 2, 4, 1, 2, 4}) rounds.push_back(busy * times);
    sampling.push_back(rounds);
    updates.push_back(rounds);
    bytes.push_back(10 * times);
  }
  const Trial trial{.inputs = {{"rounds", 6}},
                    .outputs = {{"sampling", sampling}, {"updates", updates}, {"bytes", bytes}}};
  const Summary summary = made::sum_up("salakhutdinov2010/update-cost", {trial});
  // The last contender has as many slow chains as SAP; the fourth is adaptive tempering alone.
  CHECK(measure_of(summary, "S23", "CAST").estimate == Approx(2.25));
  CHECK(measure_of(summary, "S23", "CAST").upper == Approx(2.25));
  CHECK(measure_of(summary, "S23", "adaptive ST").estimate == Approx(1.75));
  const auto& rows = made::table_of(summary, "cost").rows;
  CHECK(made::estimate(rows[1][2]).upper == Approx(1.25));
  CHECK(made::real(rows[1][5]) == Approx(1.25));
  CHECK(measure_of(summary, "S23", "CAST").power == 1);  // its interval has no width
  // A trial of other phases, PT's among them, adds its rows below, over its own SAP, and no measure.
  for (std::vector<Trial> trials : {std::vector<Trial>{trial}, std::vector<Trial>{}}) {
    Trial other = trial;
    other.inputs["phases"] = "other";
    for (const char* what : {"sampling", "updates", "bytes"})
      for (const int last : {5, 4}) other.outputs[what].erase(static_cast<std::size_t>(last));
    const std::size_t before = trials.empty() ? 1 : 6;
    trials.push_back(other);
    const Summary all = made::sum_up("salakhutdinov2010/update-cost", trials);
    const auto& more = made::table_of(all, "cost").rows;
    REQUIRE(more.size() == before + 3);
    CHECK_THAT(made::text(more[0][0]), Catch::StartsWith("SAP"));
    CHECK_THAT(made::text(more.back()[0]), Catch::StartsWith("PT, 100 ladders of 50"));
    CHECK(made::estimate(more.back()[4]).value == Approx(1.75));
    CHECK(made::real(more.back()[5]) == Approx(1.75));
    CHECK(all.measures().size() == (before == 6 ? 2 : 0));
  }
}

TEST_CASE(
    "round trips on Fig. 4 are told in 1,000 sweeps, and levels with the power of their median") {
  // 300 sweeps between 21 images: 6,000, in which 12 and 18 trips are 2 and 3 in 1,000.
  Json outputs = {{"classes", {{"gibbs", {{0, 1}, {1, 1}}}, {"st", {{0, 1}, {1, 0}}}}},
                  {"shown", {{"gibbs", Json::array()}, {"st", Json::array()}}},
                  {"path", {1, 2, 1}},
                  {"levels", {20, 20}},
                  {"trips", {12, 18}},
                  {"expected_trips", {6, 6}}};
  const Trial trial{.inputs = {{"steps", 300}, {"images", 21}}, .outputs = outputs};
  const Summary summary = made::sum_up("salakhutdinov2010/fig4", {trial});
  const auto& row = made::table_of(summary, "mixing").rows.at(1);
  CHECK(made::estimate(row[3]).value == Approx(2.5));
  CHECK(made::estimate(row[4]).value == Approx(1));
  CHECK(measure_of(summary, "S14", "round trips").estimate == Approx(15 / 6.0));
  CHECK_THAT(measure_of(summary, "S14", "round trips").note, Catch::Contains("1 in 1,000 sweeps"));
  CHECK(measure_of(summary, "S14", "levels").power == 0);  // two particles have no finite interval
  // Six that all see all decide: 0.5^6 is below 0.025, so that only six of six do, 0.65^6 of the time.
  outputs["levels"] = std::vector<int>(6, 20);
  const Summary six =
      made::sum_up("salakhutdinov2010/fig4", {{.inputs = trial.inputs, .outputs = outputs}});
  const Measure& levels = measure_of(six, "S14", "levels");
  CHECK(levels.lower == 20);
  CHECK(levels.power == Approx(std::pow(0.65, 6)));
  CHECK_FALSE(levels.post_hoc);
}

TEST_CASE("shares that reach a mode have the power of their exact interval") {
  std::vector<Trial> trials;
  for (const double rate : {0.005, 0.05, 0.5})
    trials.push_back(
        {.inputs = {{"method", "FPCD"}, {"negative", fmt::format("fpcd:1 --fast-rate {}", rate)}},
         .outputs = {{"reached", 0}, {"of", 80}}});
  trials.push_back({.inputs = {{"method", "CAST"}, {"negative", "cast:20:0.9"}},
                    .outputs = {{"reached", 5}, {"of", 6}}});
  trials.push_back(
      {.inputs = {{"method", "CAST"}, {"negative", "cast:5:0 --swap each --factor constant:0.1"}},
       .outputs = {{"reached", 5}, {"of", 5}}});
  const Summary summary = made::sum_up("salakhutdinov2010/spurious", trials);
  // None of 80 runs leaves less than 0.05 open, one does not: 0.995^80 of the time, with each of three rates.
  CHECK(measure_of(summary, "S26", "FPCD").power == Approx(std::pow(0.995, 3 * 80)));
  // Of six chains all must reach it.
  const Measure& cast = measure_of(summary, "S26", "CAST, the paper's settings");
  CHECK(cast.n == 6);
  CHECK(cast.power == Approx(std::pow(0.6, 6)));
  CHECK(cast.power_against == "a share of 0.6");
  // Five of five leave 0.025^(1/5) = 0.48 open: so few decide nothing.
  CHECK(measure_of(summary, "S26", "CAST, ladder to 0").power == 0);
}

}  // namespace boltzmark::experiments
