// What the experiments of bruegge2013 make of runs whose differences are known.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "experiments/bruegge2013/support/measures.hpp"
#include "experiments/bruegge2013/support/training.hpp"
#include "experiments/kit/statistics/power.hpp"
#include "verification/interface/experiments/made_trials.hpp"

namespace boltzmark::experiments {
namespace {

using made::measure_of;

/// Six pairs of curves of a setting, of which T's highest lies `ahead` above G's.
void add_pairs(const char* data, const char* negative, double ahead, std::vector<Trial>& trials) {
  for (int repeat = 0; repeat < 6; ++repeat)
    for (const char* rule : {"gibbs", "flip"}) {
      const double more = std::string(rule) == "flip" ? ahead + 0.001 * repeat : 0;
      trials.push_back({.inputs = {{"data", data},
                                   {"negative", negative},
                                   {"rate", 0.05},
                                   {"repeat", repeat},
                                   {"rule", rule}},
                        .outputs = {{"log_likelihood", {-9.0, -7.0 + more, -8.0}}}});
    }
}

/// How many of 100 RBMs T mixes faster on, by size and c.
using Wins = int (*)(int size, int c);

std::vector<Trial> slems(Wins wins) {
  std::vector<double> gibbs;
  for (int rbm = 0; rbm < 100; ++rbm) gibbs.push_back(0.5 + 0.001 * rbm);
  std::vector<Trial> trials;
  for (const int size : {2, 3, 4})
    for (int c = 1; c <= 10; ++c) {
      std::vector<double> flip(100, 0.8);
      std::fill_n(flip.begin(), wins(size, c), 0.4);
      trials.push_back(
          {.inputs = {{"size", size}, {"c", c}, {"first", 0}, {"rbms", 100}},
           .outputs = {
               {"slem_gibbs", gibbs}, {"slem_flip", flip}, {"unconverged", size == 2 ? 1 : 0}}});
    }
  return trials;
}

/// What is told of a rule whose autocorrelation time all estimators agree on.
Json sampled(double tau) {
  return {{"tau", tau},
          {"tau_ar", tau},
          {"order_at_maximum", false},
          {"decided", true},
          {"status", "ok"}};
}

}  // namespace

TEST_CASE("Fig. 1's transitions are those of Gibbs sampling and of T where p(1 | h) is 0.7") {
  const char* id = "bruegge2013/fig1";
  const Summary summary = made::sum_up(id, made::run_trials(id));
  const Figure& figure = made::figure_of(summary, "diagrams");
  REQUIRE(figure.data.size() == 9);
  for (std::size_t r = 1; r < figure.data.size(); ++r) {
    const auto& row = figure.data[r];
    const bool gibbs = row[0] == "gibbs", from_on = row[1] == "1", to_on = row[2] == "1";
    // T leaves 0 always, and 1 with probability p(0 | h) / p(1 | h).
    const double on = gibbs ? 0.7 : from_on ? 1 - 0.3 / 0.7 : 1;
    INFO(row[0] << " " << row[1] << " " << row[2]);
    CHECK(std::stod(row[3]) == Approx(to_on ? on : 1 - on).margin(1e-9));
    const std::string symbol = gibbs      ? (to_on ? "p(1|h) = 0.70" : "p(0|h) = 0.30")
                               : !from_on ? (to_on ? "1.00" : "0.00")
                               : to_on    ? "1 − p(0|h)/p(1|h) = 0.57"
                                          : "p(0|h)/p(1|h) = 0.43";
    CHECK(row[4] == symbol);
  }
}

TEST_CASE("a majority lies between what the settings that were not run can make of it") {
  Summary summary;
  // 3 better, 1 worse, 1 neither of 8: 2/5; the three others make it -1/8 or 5/8.
  add_majority_measure("X", {1, 1, 1, -1, 0}, 8, summary);
  const Measure& measure = summary.measures().at(0);
  CHECK(measure.estimate == Approx(0.4));
  CHECK(measure.lower == Approx(-1.0 / 8));
  CHECK(measure.upper == Approx(5.0 / 8));
  CHECK(measure.n == 5);
  CHECK(measure.power == 0);
  // All of three of four better, the fourth worse: half, which is no majority.
  add_majority_measure("Y", {1, 1, 1}, 4, summary);
  CHECK(summary.measures().at(1).power == 0);
  add_majority_measure("Z", {1, 1, 1, 1}, 5, summary);
  CHECK(summary.measures().at(2).power == 1);
}

TEST_CASE("B21, B22 and B23 are each over the whole grid of their own table") {
  std::vector<Trial> trials;
  add_pairs("bas", "pcd:5", 0.5, trials);
  add_pairs("artificial-modes-0.1", "cd:5", -0.5, trials);
  const Summary appendix = made::sum_up("bruegge2013/appendix", trials);
  // 2 x 2 x 3 settings of which one is won, and 2 x 8 x 3 of which one is lost.
  CHECK(measure_of(appendix, "B22").estimate == 1);
  CHECK(measure_of(appendix, "B22").lower == Approx((1.0 - 11) / 12));
  CHECK(measure_of(appendix, "B23").estimate == -1);
  CHECK(measure_of(appendix, "B23").upper == Approx((47.0 - 1) / 48));
  trials.clear();
  add_pairs("bas", "cd:5", 0.5, trials);
  const Summary table = made::sum_up("bruegge2013/table1", trials);
  CHECK(measure_of(table, "B21").lower == Approx((1.0 - 35) / 36));
  const auto& row = made::table_of(table, "maxima").rows.at(1);  // rates 0.01, 0.05, 0.1
  CHECK(made::count(row[3]) == 6);
  CHECK(made::estimate(row[4]).value == -7);
  CHECK(made::estimate(row[5]).value == Approx(-6.4975));
  CHECK(made::estimate(row[5]).mark == "*");
}

TEST_CASE("B27 holds every run against the ceiling of its own data") {
  std::vector<Trial> trials;
  add_pairs("bas", "cd:5", 0, trials);
  add_pairs("artificial-modes-0.1", "cd:5", 0, trials);
  // Cases that differ more have the lower ceiling: the same likelihoods come nearer to it.
  const double ceiling = data_ceiling("artificial-modes-0.1");
  REQUIRE(ceiling < data_ceiling("bas") - 1);
  for (const char* id : {"bruegge2013/table1", "bruegge2013/appendix"}) {
    const Summary summary = made::sum_up(id, trials);
    CHECK(measure_of(summary, "B27").estimate == Approx(-6.995 - ceiling));
    CHECK(measure_of(summary, "B27").n == 24);
  }
}

TEST_CASE("an operator is the better one where its median is, too, and not by the ranks alone") {
  // T is ahead by 0.1 in nine pairs of twelve and behind by little in three: the ranks say T. Its median is
  // the smaller one, for the three lie in the middle.
  PairedCurves curves;
  const auto add = [&](double gibbs, double flip) {
    curves.gibbs.push_back({gibbs});
    curves.flip.push_back({flip});
  };
  for (const double level : {-20.0, -19.0, -18.0, -17.0, -16.0}) add(level, level + 0.1);
  for (const double level : {-3.0, -2.0, -1.0, -0.5}) add(level, level + 0.1);
  add(-10, -10.01), add(-10, -10.02), add(-10, -10.03);
  const MaximumComparison found = compare_maxima(curves);
  CHECK(found.p < 0.05);
  CHECK(found.flip < found.gibbs);
  CHECK(found.sign == 0);
  for (auto& curve : curves.flip) curve[0] += 0.03;
  CHECK(compare_maxima(curves).sign == 1);
}

TEST_CASE(
    "of divergence the appendix tells its own settings, PCD's and those of Artificial Modes") {
  std::vector<Trial> trials;
  add_pairs("bas", "pcd:5", 0, trials);
  add_pairs("artificial-modes-0.1", "cd:5", 0, trials);
  for (Trial& trial : trials)
    if (trial.inputs.at("rule") == "flip")
      trial.outputs["log_likelihood"] = {-9.0, -7.0,
                                         trial.inputs.at("data") == "bas" ? -7.5 : -9.0};
  const Summary summary = made::sum_up("bruegge2013/appendix", trials);
  CHECK(measure_of(summary, "B26", "slowed, PCD").estimate == Approx(0.5));
  CHECK(measure_of(summary, "B26", "not avoided, PCD").estimate == Approx(0.5));
  CHECK(measure_of(summary, "B26", "slowed, Artificial Modes").estimate == Approx(-0.5));
  CHECK(measure_of(summary, "B26", "not avoided, Artificial Modes").estimate == Approx(0.5));
}

TEST_CASE("T slows a divergence where it drops less than G in the same pair, and not where alike") {
  std::vector<Trial> trials;
  add_pairs("bas", "cd:5", 0, trials);  // from -7 to -8: all diverge
  const std::vector<double> last = {-7.5, -7.05, -8, -8.5, -8.5, -8.5};
  for (Trial& trial : trials)
    if (trial.inputs.at("rule") == "flip")
      trial.outputs["log_likelihood"] = {-9.0, -7.0, last[trial.inputs.at("repeat")]};
  const Summary summary = made::sum_up("bruegge2013/table1", trials);
  const Measure& slowed = measure_of(summary, "B26", "slowed");
  CHECK(slowed.estimate == Approx(2.0 / 6 - 0.5));
  CHECK(measure_of(summary, "B26", "not avoided").estimate == Approx(5.0 / 6 - 0.5));
  // Six of six, p = 1/64, is the one outcome of a level of 0.05.
  CHECK(slowed.power == Approx(std::pow(0.8, 6)));
  CHECK(slowed.post_hoc);  // of the pairs of settings that were seen to diverge
  CHECK_THAT(slowed.note,
             Catch::Contains("(T drops less in 2 of 6 pairs, by more than 0.1 nats in 5; "
                             "median drop of G 1.000, of T 1.250)"));
  CHECK(std::isfinite(slowed.p_value));
}

TEST_CASE("settings whose shares are unlike decide by their spread, and not by their pairs") {
  // In one setting T drops less in every pair, in the other in none, or in half of either.
  const auto slowed_of = [](bool unlike) {
    std::vector<Trial> trials;
    add_pairs("bas", "cd:5", 0, trials);
    add_pairs("bas", "cd:10", 0, trials);
    for (Trial& trial : trials)
      if (trial.inputs.at("rule") == "flip") {
        const bool less = unlike ? trial.inputs.at("negative") == "cd:5"
                                 : trial.inputs.at("repeat").get<int>() % 2 == 0;
        trial.outputs["log_likelihood"] = {-9.0, -7.0, less ? -7.5 : -9.0};
      }
    const Summary summary = made::sum_up("bruegge2013/table1", trials);
    return measure_of(summary, "B26", "slowed");
  };
  const Measure unlike = slowed_of(true), alike = slowed_of(false);
  CHECK(unlike.estimate == Approx(0).margin(1e-12));
  CHECK(alike.estimate == Approx(0).margin(1e-12));
  // A mean of 0 and 1 has Student's limits at -5.85 and 6.85, beyond all that there is.
  CHECK(unlike.lower == -0.5);
  CHECK(unlike.upper == 0.5);
  CHECK(unlike.interval == "95 %, Student's over 2 settings");
  CHECK(std::isnan(unlike.p_value));
  // 6 of 12 pairs, exact: 0.211 to 0.789.
  CHECK(alike.lower == Approx(0.2109 - 0.5).margin(1e-4));
  CHECK(alike.interval.empty());
  CHECK(std::isfinite(alike.p_value));
}

TEST_CASE("that pairs are too few for their interval is a clause of the note of its own") {
  Summary summary;
  add_paired({.claim = "X", .note = "class changes"}, {1, 2, 3}, Alternative::greater, summary);
  add_paired({.claim = "Y"}, {1, 2, 3}, Alternative::greater, summary);
  CHECK_THAT(measure_of(summary, "X").note, Catch::StartsWith("class changes; too few pairs for"));
  CHECK_THAT(measure_of(summary, "Y").note, Catch::StartsWith("too few pairs for"));
  CHECK(measure_of(summary, "X").interval == "95 %, Student's");
  // Eight pairs have one: it is named too, as is that of two medians.
  const std::vector<double> eight = {1, 2, 3, 4, 5, 6, 7, 8};
  Summary enough;
  add_paired({.claim = "X"}, eight, Alternative::greater, enough);
  add_unpaired({.claim = "Y"}, eight, eight, Alternative::greater, enough);
  CHECK(measure_of(enough, "X").interval == "95 %, Hodges–Lehmann");
  CHECK(measure_of(enough, "Y").interval == "between the limits of both medians, 95 % each");
}

/// In percent, computed independently, of 2x2 to 4x4.
constexpr int kShares[3][10] = {{0, 11, 39, 55, 65, 68, 73, 79, 82, 81},
                                {0, 8, 43, 57, 66, 81, 75, 83, 78, 79},
                                {0, 14, 54, 69, 74, 75, 77, 79, 82, 84}};

TEST_CASE("the larger size has the larger share, but where the note says, by the design's errors") {
  // All shares are 1/2 but that of 3x3 at c = 1.
  const Summary summary = made::sum_up(
      "bruegge2013/fig3-top", slems([](int size, int c) { return size == 3 && c == 1 ? 40 : 50; }));
  const Measure& measure = measure_of(summary, "B16", "3x3 over 2x2");
  CHECK(measure.estimate == Approx(-0.01));
  CHECK(measure.note == "the smaller size has the larger share at c = 1");
  CHECK(measure_of(summary, "B16", "4x4 over 3x3").note ==
        "the larger size has the larger share at every c");
  // Of 100 RBMs a cell whose shares are those computed independently, whatever came out.
  double variance = 0;
  for (const auto& shares : {kShares[0], kShares[1]})
    for (int c = 0; c < 10; ++c) variance += shares[c] / 100.0 * (1 - shares[c] / 100.0) / 100;
  const double sd = std::sqrt(variance) / 10;
  CHECK(measure.power == Approx(normal_power(0.03 / sd, 0.05, Alternative::greater)).epsilon(1e-4));
  CHECK_THAT(made::notes_of(summary),
             Catch::Contains("did not converge: 10.") && Catch::Contains("do NOT agree"));
}

TEST_CASE("the power of B17 is that of a binomial test against a share of 0.65") {
  // Of 100 at 1/2 59 or more reject: P(X >= 59) = 0.91232 at 0.65.
  const Summary summary = made::sum_up("bruegge2013/fig3-top", slems([](int, int) { return 60; }));
  CHECK(measure_of(summary, "B17", "3x3").power == Approx(0.91232).epsilon(1e-4));
}

TEST_CASE("shares like those computed independently agree with them") {
  const Summary summary = made::sum_up(
      "bruegge2013/fig3-top", slems([](int size, int c) { return kShares[size - 2][c - 1]; }));
  CHECK_THAT(made::notes_of(summary),
             Catch::Contains("The 30 cells of 2x2 to 4x4 agree with shares"));
}

TEST_CASE("the note of B18 has the median SLEM of G at the least c and at the largest") {
  // The medians lie between those of a cell's two batches.
  std::vector<Trial> trials;
  for (const auto& [c, slem] : {std::pair{1, 0.5}, {10, 0.9}})
    for (const int first : {0, 5}) {
      const double off = first == 0 ? -0.05 : 0.05;
      trials.push_back({.inputs = {{"size", 2}, {"c", c}, {"first", first}, {"rbms", 5}},
                        .outputs = {{"slem_gibbs", std::vector<double>(5, slem + off)},
                                    {"slem_flip", std::vector<double>(5, 0.4 + off)},
                                    {"unconverged", 0}}});
    }
  const Summary summary = made::sum_up("bruegge2013/fig3-top", trials);
  const Measure& measure = measure_of(summary, "B18", "2x2");
  CHECK(measure.estimate == 0.5);
  CHECK_THAT(measure.note, Catch::EndsWith("SLEM of G 0.5000 at c = 1, 0.9000 at c = 10"));
  const auto& gaps = made::figure_of(summary, "slems").panels.at(0).series;
  CHECK(gaps.at(0).y[0] == Approx(0.5));
  CHECK(gaps.at(1).y[0] == Approx(0.6));
}

TEST_CASE("a blend is held against the better of both rules on each RBM of every c") {
  // By 0.1 the better one on both of c = 1, by 0.1 and 0.3 the worse one at c = 8.
  const auto spectra = [](double c, const std::vector<double>& gibbs,
                          const std::vector<double>& half, const std::vector<double>& flip) {
    return Trial{
        .inputs = {{"part", "spectrum"}, {"c", c}, {"models", 2}},
        .outputs = {{"0", gibbs}, {"0.25", half}, {"0.5", half}, {"0.75", half}, {"1", flip}}};
  };
  const Summary summary = made::sum_up(
      "bruegge2013/blend",
      {spectra(1, {.7, .7}, {.5, .6}, {.6, .8}), spectra(8, {.95, .6}, {.9, .9}, {.8, .7})});
  const Measure& measure = measure_of(summary, "B36", "blend, SLEM");
  CHECK(measure.n == 4);
  CHECK(measure.estimate == Approx(0.05));
}

TEST_CASE("a run that switches is held against both rules throughout, pair by pair") {
  std::vector<Trial> trials;
  for (int repeat = 1; repeat <= 2; ++repeat)
    for (const auto& [schedule, last] :
         {std::pair{"blend:0", -4.0}, {"blend:0.5", -4.5}, {"blend:1", -5.0}, {"switch", -3.0}})
      trials.push_back(
          {.inputs = {{"part", "training"}, {"schedule", schedule}, {"repeat", repeat}},
           .outputs = {{"log_likelihood", {-9.0, last + repeat}}}});
  const Summary summary = made::sum_up("bruegge2013/blend", trials);
  CHECK(measure_of(summary, "B36", "blend, LL").estimate == Approx(0.5));
  CHECK(measure_of(summary, "B36", "switch, LL").estimate == Approx(2));
  CHECK(measure_of(summary, "B36", "switch against G, LL").estimate == Approx(1));
}

TEST_CASE("R of T is the larger in magnitude where it is the more negative") {
  // 0.5 against -0.6 at lag 1; beyond it 0.1 against 0.
  std::vector<double> gibbs(501, 0.1), flip(501, 0);
  gibbs[0] = flip[0] = 1;
  gibbs[1] = 0.5;
  flip[1] = -0.6;
  std::vector<Trial> trials;
  for (int model = 0; model < 2; ++model)
    trials.push_back({.inputs = {{"set", "mnist-500-pt"}, {"model", model}},
                      .outputs = {{"gibbs", {{"acf", gibbs}, {"tau", 2}, {"decided", true}}},
                                  {"flip", {{"acf", flip}, {"tau", 2}, {"decided", true}}}}});
  const Summary summary = made::sum_up("bruegge2013/fig4", trials);
  const Measure& measure = measure_of(summary, "B30");
  CHECK(measure.estimate == Approx(1.1 + 499 * 0.1));
  CHECK_THAT(measure.note, Catch::Contains("below that of G at 500 of them, and is the larger in "
                                           "magnitude at 1 of the first 30;"));
}

TEST_CASE("the power of B29 is two-sided, by an interval as wide as the one found") {
  // Student's of one degree times 0.1 / 12.706205 is an interval of 0.1 to either side.
  std::vector<Trial> trials;
  for (const double gain : {0.2 - 0.1 / 12.706205, 0.2 + 0.1 / 12.706205})
    trials.push_back({.inputs = {{"set", "mnist-500-pt"}, {"model", trials.size()}},
                      .outputs = {{"gibbs", sampled(2)}, {"flip", sampled(2 * (1 - gain))}}});
  const Summary summary = made::sum_up("bruegge2013/table2", trials);
  const Measure& measure = measure_of(summary, "B29", "value");
  CHECK(measure.lower == Approx(0.1).epsilon(1e-6));
  CHECK(measure.upper == Approx(0.3).epsilon(1e-6));
  // 0.1 is 1.96 errors, 0.1728 are 3.387: P(N(3.387, 1) > 1.960). Of one side it were 0.9592.
  CHECK(measure.power == Approx(0.9232).margin(1e-4));
}

TEST_CASE("the power of B20 is that of an interval as wide as the one found") {
  const Trial trial{.inputs = {{"visible", 784}, {"hidden", 500}, {"chains", 100}, {"pairs", 6}},
                    .outputs = {{"ratios", {0.98, 0.99, 1.0, 1.0, 1.01, 1.02}},
                                {"microseconds_gibbs", {5, 6, 7, 7, 8, 90}}}};
  const Summary summary = made::sum_up("bruegge2013/cost", {trial});
  // The exact interval of six values is from the first to the last: 0.04, which is 3.92 errors.
  CHECK(measure_of(summary, "B20").power == Approx(normal_power(1.96, 0.05, Alternative::greater)));
  CHECK(made::real(made::table_of(summary, "cost").rows.at(0)[4]) == 7);
}

TEST_CASE("the cost of T is its time over that of Gibbs sampling in the same pair") {
  const Trial run = made::run_trial(
      "bruegge2013/cost",
      {{"visible", 16}, {"hidden", 16}, {"chains", 10}, {"sweeps", 20}, {"pairs", 4}});
  const auto times = [&](const char* what) { return numbers(run.outputs.at(what)); };
  REQUIRE(times("ratios").size() == 4);
  for (std::size_t i = 0; i < 4; ++i)
    CHECK(times("ratios")[i] * times("microseconds_gibbs")[i] ==
          Approx(times("microseconds_flip")[i]).epsilon(1e-9));
}

TEST_CASE("of the two sweeps that are timed, T's moves nearly all units and Gibbs' half of them") {
  // Weights of deviation 0.1: a Gibbs sweep draws each unit with a probability near 1/2, and T leaves
  // one where it is only with that by which its state is the likelier one.
  const Json outputs =
      made::run_trial(
          "bruegge2013/cost",
          {{"visible", 16}, {"hidden", 16}, {"chains", 100}, {"sweeps", 1}, {"pairs", 2}})
          .outputs;
  CHECK(number(outputs.at("moved_gibbs")) == Approx(0.5).margin(0.1));
  CHECK(number(outputs.at("moved_flip")) > 0.8);
}

TEST_CASE("powers of rank tests are those of their sizes") {
  Summary summary;
  const std::vector<double> eight = {1, 2, 3, 4, 5, 6, 7, 8};
  add_paired({.claim = "X"}, eight, Alternative::greater, summary);
  add_paired({.claim = "Y"}, {1, 2, 3, 4}, Alternative::greater, summary);
  add_unpaired({.claim = "Z"}, eight, eight, Alternative::greater, summary);
  add_trend({.claim = "T"}, {{1, 2}, {3, 4}}, summary);
  const auto power = [&](const char* claim) { return measure_of(summary, claim).power; };
  CHECK(power("X") > 0.7);
  CHECK(power("Y") == 0);  // p = 1/16 at the least
  // Differences of 0 decide nothing: they are no part of the power.
  Summary with_zeros;
  add_paired({.claim = "X"}, {1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0}, Alternative::greater, with_zeros);
  add_paired({.claim = "Y"}, {1, 2, 3, 4, 0, 0, 0}, Alternative::greater, with_zeros);
  CHECK(measure_of(with_zeros, "X").power == power("X"));
  CHECK(measure_of(with_zeros, "Y").power == 0);
  CHECK_THAT(measure_of(with_zeros, "X").note,
             Catch::StartsWith("3 of 11 differences are 0: the test drops them"));
  CHECK(measure_of(summary, "X").note.empty());
  // How many there are was seen, and so was that something is not to be decided.
  CHECK(measure_of(with_zeros, "X").post_hoc);
  CHECK_FALSE(measure_of(summary, "X").post_hoc);
  Summary refused;
  add_paired({.claim = "X", .decidable = false}, eight, Alternative::greater, refused);
  CHECK(measure_of(refused, "X").power == 0);
  CHECK(measure_of(refused, "X").post_hoc);
  // Rank sums: 3/pi of t's efficiency, whose mean is sqrt(8 * 8 / 16).
  CHECK(power("Z") == Approx(normal_power(std::sqrt(12 / M_PI), 0.05, Alternative::greater)));
  // Jonckheere's statistic of two pairs: (16 * 11 - 2 * 4 * 7) / 72 is its variance, of 4 pairs.
  const double sd = std::sqrt(120.0 / 72) / 4;
  CHECK(power("T") == Approx(normal_power(0.1 / sd, 0.05, Alternative::greater)));
}

}  // namespace boltzmark::experiments
