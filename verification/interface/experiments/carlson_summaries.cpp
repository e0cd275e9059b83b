// What the experiments of carlson2016 make of estimates whose errors are known.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "experiments/carlson2016/support/error_curves.hpp"
#include "experiments/carlson2016/support/ratios.hpp"
#include "experiments/kit/csv.hpp"
#include "experiments/kit/files.hpp"
#include "experiments/kit/measures.hpp"
#include "experiments/kit/published.hpp"
#include "experiments/kit/report/plot.hpp"
#include "experiments/kit/statistics/interval.hpp"
#include "experiments/kit/statistics/power.hpp"
#include "verification/interface/experiments/made_trials.hpp"

namespace boltzmark::experiments {
namespace {

using made::table_of;

/// An estimate of log Z = 1 that is 0.1 off; its interval reaches the truth, or does not.
Json estimate_told(bool ok, bool covers) {
  return {{"log_z", 1.1},
          {"std_error", 0.05},
          {"lower", covers ? 0.9 : 1.05},
          {"upper", 1.2},
          {"status", ok ? "ok" : "not_converged"}};
}

/// Of 60 trials rts refuses 40 and covers in the 20 others; ais refuses none, but covers in half;
/// smc accepts 19. Of patterns there are two, where rts refuses none.
std::vector<Trial> covered_estimates() {
  std::vector<Trial> trials;
  for (int i = 0; i < 60; ++i)
    trials.push_back({.inputs = {{"targets", "random"}, {"rbm", i}},
                      .outputs = {{"truth", 1.0},
                                  {"estimates",
                                   {{"rts", estimate_told(i < 20, i < 20)},
                                    {"ais", estimate_told(true, i % 2 == 0)},
                                    {"smc", estimate_told(i < 19, true)}}}}});
  for (int i = 0; i < 2; ++i)
    trials.push_back(
        {.inputs = {{"targets", "patterns"}, {"repeat", i}},
         .outputs = {{"truth", 1.0}, {"estimates", {{"rts", estimate_told(true, true)}}}}});
  return trials;
}

const std::vector<Cell>& row_of_method(const Table& table, const std::string& method,
                                       std::size_t column = 0) {
  for (const auto& row : table.rows)
    if (made::text(row[column]) == method) return row;
  FAIL("no row " << method);
  throw 0;
}

/// Three repeats of a length, whose errors are all `error`; the last is refused.
void add_length(int sweeps, const std::vector<std::pair<const char*, double>>& errors,
                std::vector<Trial>& trials) {
  for (int repeat = 1; repeat <= 3; ++repeat) {
    Json estimates = Json::object();
    for (const auto& [method, error] : errors)
      estimates[method] = {{"log_z", 5 + error},
                           {"std_error", 0.1},
                           {"lower", 5 + error - 1},
                           {"upper", 5 + error + 1},
                           {"status", repeat < 3 ? "ok" : "few_samples"}};
    trials.push_back({.inputs = {{"model", "mnist-20"}, {"sweeps", sweeps}, {"repeat", repeat}},
                      .outputs = {{"truth", 5.0}, {"estimates", estimates}}});
  }
}

}  // namespace

TEST_CASE("a method's coverage holds or not by its accepted estimates, of its own targets") {
  const Summary summary = made::sum_up("carlson2016/coverage", covered_estimates());
  const Table& table = table_of(summary, "random");
  const auto &rts = row_of_method(table, "rts"), &ais = row_of_method(table, "ais"),
             &smc = row_of_method(table, "smc");
  CHECK(made::count(rts[1]) == 60);
  CHECK(made::count(rts[2]) == 40);
  CHECK(made::estimate(rts[3]).value == 1);
  CHECK(made::text(rts[4]) == "holds");
  // Every error is 0.1: that is the RMSE, about which nothing varies.
  CHECK(made::estimate(rts[6]).value == Approx(0.1));
  CHECK(made::real(rts[7]) == Approx(0.1));
  CHECK(made::estimate(ais[3]).value == 0.5);
  CHECK(made::text(ais[4]) == "does not hold");
  CHECK(made::text(smc[4]) == "too few");
  CHECK(made::count(row_of_method(table_of(summary, "patterns"), "rts")[1]) == 2);
  int seen = 0;
  for (const auto& row : made::figure_of(summary, "coverage").data) {
    const bool random = row[0] == "random";
    if (random && row[2] == "ais") {
      ++seen;
      CHECK(row[6] == "60");  // are accepted, half of which cover
    }
    if (row[2] != "rts") continue;
    ++seen;
    CHECK(row[3] == (random ? "1" : "nan"));
    // Of 20 that all cover 0.025^(1/20) .. 1.
    CHECK((!random || std::stod(row[4]) == Approx(std::pow(0.025, 0.05)).epsilon(1e-6)));
    CHECK(row[5] == (random ? "1" : "nan"));
    CHECK(row[6] == (random ? "20" : "2"));
    CHECK(row[7] == (random ? "60" : "2"));
  }
  CHECK(seen == 3);
}

TEST_CASE("a method's coverage does not hold where so few cover that 0.9 is not by chance") {
  // P(X <= 43) = 5.6e-5 of 60 at 0.9 and P(X <= 45) = 6.7e-4, to either side of 2e-4; 950 of 1,000 are more
  // than are asked for.
  const auto verdict = [](int all, int cover) {
    std::vector<Trial> trials;
    for (int i = 0; i < all; ++i)
      trials.push_back(
          {.inputs = {{"targets", "random"}, {"rbm", i}},
           .outputs = {{"truth", 1.0}, {"estimates", {{"rts", estimate_told(true, i < cover)}}}}});
    const Summary summary = made::sum_up("carlson2016/coverage", trials);
    return made::text(row_of_method(table_of(summary, "random"), "rts")[4]);
  };
  CHECK(verdict(60, 43) == "does not hold");
  CHECK(verdict(60, 45) == "holds");
  CHECK(verdict(1000, 950) == "holds");
}

TEST_CASE("mean errors of annealing agree with their biases where both lie within 3.7 errors") {
  const auto trial = [](double scale, double ais_errors, double raise_errors) {
    return Trial{
        .inputs = {{"targets", "annealed"}, {"scale", scale}, {"runs", 100}},
        .outputs = {{"relative_variance", 0.5},
                    {"predicted_ais", -0.1},
                    {"predicted_raise", 0.05},
                    {"ais", {{"mean", -0.1 + 0.01 * ais_errors}, {"std_error", 0.01}}},
                    {"raise", {{"mean", 0.05 + 0.01 * raise_errors}, {"std_error", 0.01}}}}};
  };
  const Summary summary =
      made::sum_up("carlson2016/coverage", {trial(1, 3.6, -3.6), trial(2, 3.8, 0), trial(3, 0, 4)});
  const auto& rows = table_of(summary, "annealing-bias").rows;
  REQUIRE(rows.size() == 3);
  CHECK(made::text(rows[0][7]) == "yes");
  CHECK(made::text(rows[1][7]) == "no");
  CHECK(made::text(rows[2][7]) == "no");
  CHECK(made::estimate(rows[0][4]).lower == Approx(-0.064 - 0.0196));
  CHECK(made::estimate(rows[0][6]).value == Approx(0.014));
}

TEST_CASE("the figure of all methods ends each curve at its last RMSE, and names stand apart") {
  std::vector<Trial> trials;
  add_length(100, {{"rts", 0.4}, {"ais", 20}, {"mbar", 0.4}}, trials);
  add_length(300, {{"rts", 0.1}, {"ais", 10}, {"mbar", 0.1}}, trials);
  const Summary summary = made::sum_up("carlson2016/enumerable", trials);
  const Figure& figure = made::figure_of(summary, "rmse-mnist-20");
  const double gap = std::log10(80.0) / 28;
  for (std::size_t r = 1; r < figure.data.size(); ++r) {
    const auto& row = figure.data[r];
    const bool ais = row[2].starts_with("ais"), early = row[3] == "100";
    CHECK((row[2] == "ais (10)" || row[2] == "rts" || row[2] == "mbar"));
    CHECK(std::stod(row[4]) == Approx(ais ? (early ? 20 : 10) : (early ? 0.4 : 0.1)));
    // Beyond 8 nats a curve is cut there; of two that end alike one name is raised, one lowered.
    const double label = std::log10(std::stod(row[5]));
    if (ais)
      CHECK(label == Approx(std::log10(8)).epsilon(1e-9));
    else
      CHECK(std::abs(label + 1) == Approx(gap / 2).epsilon(1e-6));
  }
  CHECK(figure.data.size() == 7);
  CHECK_THAT(figure.caption,
             Catch::Contains("No 95 % interval of a point reaches further than from 1.00 to 1.00"));
  const auto& row = row_of_method(table_of(summary, "errors"), "rts", 1);
  CHECK(made::count(row[2]) == 100);
  CHECK(made::estimate(row[5]).value == Approx(0.4));
  // Three errors alike: a bias without a spread.
  CHECK(made::estimate(row[5]).lower == Approx(0.4).epsilon(2e-3));
  CHECK(made::estimate(row[5]).upper == Approx(0.4).epsilon(2e-3));
  CHECK(made::real(row[4]) == Approx(0).margin(1e-12));
  CHECK(made::count(row[7]) == 1);
  CHECK(made::count(row[8]) == 2);  // of three that would, the refused one does not count
  CHECK(made::count(row_of_method(table_of(summary, "errors"), "ais", 1)[8]) == 0);  // 20 nats off
}

TEST_CASE("figures that scripts draw count and mark what their axes cut off, as all figures do") {
  // Gnuplot's marks 9 and 13, which it calls 8 and 12: a triangle that points up and a diamond.
  const TemporaryFolder folder;
  const auto picture = [&](const Figure& figure) {
    write_text(folder.path() + "/" + figure.name + "-figure.csv", figure_csv(figure));
    return draw_figure(figure, folder.path()).at(0);
  };
  std::vector<Trial> trials;
  add_length(100, {{"rts", 0.4}, {"ais", 20}}, trials);
  add_length(300, {{"rts", 0.1}, {"ais", 7}}, trials);
  const auto figure_of = [](const std::string& id, const std::string& name, const auto& of) {
    const Summary summary = made::sum_up(id, of);
    return made::figure_of(summary, name);
  };
  const Figure beyond = figure_of("carlson2016/enumerable", "rmse-mnist-20", trials);
  trials.erase(trials.begin(), trials.begin() + 3);
  const Figure within = figure_of("carlson2016/enumerable", "rmse-mnist-20", trials);
  CHECK(beyond_text(within).empty());
  CHECK_THAT(picture(within), !Catch::Contains("gpPt8' transform"));
  CHECK(beyond_text(beyond) == " 1 point lies beyond the axes: marked at the edge.");
  CHECK_THAT(picture(beyond), Catch::Contains("gpPt8' transform"));
  // Of ais half of the intervals hold the truth; the axis of shares begins at 0.8.
  const Figure coverage = figure_of("carlson2016/coverage", "coverage", covered_estimates());
  CHECK(beyond_text(coverage) == " 1 point lies beyond the axes: marked at the edge.");
  CHECK_THAT(picture(coverage), Catch::Contains("gpPt12' transform"));
  CHECK_THAT(picture(coverage), !Catch::Contains("gpPt11' transform"));
  // Of 27 intervals 24 hold the truth: from 0.71 on.
  std::vector<Trial> shorter = covered_estimates();
  for (int i = 2; i < 27; ++i)
    shorter.push_back(
        {.inputs = {{"targets", "patterns"}, {"repeat", i}},
         .outputs = {{"truth", 1.0}, {"estimates", {{"rts", estimate_told(true, i < 24)}}}}});
  const Figure cut = figure_of("carlson2016/coverage", "coverage", shorter);
  CHECK(beyond_text(cut) ==
        beyond_text(coverage) + " 1 interval reaches beyond the axes: a hollow mark at the edge.");
  CHECK_THAT(picture(cut), Catch::Contains("gpPt11' transform"));
}

TEST_CASE("the figure of all methods tells the widest interval of its points, not one of them") {
  for (const char* widest : {"ais", "rts"}) {
    std::vector<Trial> trials;
    add_length(100, {{"ais", 0.4}, {"rts", 0.4}}, trials);
    // Errors -0.4, 0.4 and 0.4 of one method: a third of the square is the mean's.
    trials[0].outputs["estimates"][widest]["log_z"] = 5 - 0.4;
    const Summary summary = made::sum_up("carlson2016/enumerable", trials);
    const WithInterval& wide =
        made::estimate(row_of_method(table_of(summary, "errors"), widest, 1)[5]);
    INFO(widest);
    CHECK(wide.upper > 1.2 * wide.value);
    CHECK_THAT(made::figure_of(summary, "rmse-mnist-20").caption,
               Catch::Contains(fmt::format("further than from {:.2f} to {:.2f} of it",
                                           wide.lower / wide.value, wide.upper / wide.value)));
  }
}

TEST_CASE("the figure of all methods has a colour for each source of samples and reading of them") {
  const std::map<std::string, std::string> colours = {
      {"ais", "1"},  {"raise", "1"}, {"ti", "2"},   {"rts", "3"},        {"bar", "4"},
      {"mbar", "4"}, {"ss", "5"},    {"sams", "6"}, {"wang-landau", "6"}};
  std::vector<std::pair<const char*, double>> errors;
  for (const auto& [method, colour] : colours) errors.emplace_back(method.c_str(), 0.4);
  std::vector<Trial> trials;
  add_length(100, errors, trials);
  const Summary summary = made::sum_up("carlson2016/enumerable", trials);
  const auto& data = made::figure_of(summary, "rmse-mnist-20").data;
  REQUIRE(data.size() == 1 + colours.size());
  for (std::size_t r = 1; r < data.size(); ++r) {
    INFO(data[r][2]);
    CHECK(data[r][1] == colours.at(data[r][2]));
  }
}

TEST_CASE("the cost of MBAR and RTS is told as exponents and as bytes") {
  std::vector<Trial> trials;
  const auto add = [&](int rungs, int samples, double mbar, double rts) {
    trials.push_back(
        {.inputs = {{"rungs", rungs}, {"samples", samples}, {"repeats", 15}},
         .outputs = {
             {"mbar", 10 * mbar}, {"mbar_iteration", mbar}, {"rts", rts}, {"iterations", 10}}});
  };
  add(50, 100000, 1, 1);
  add(100, 10000, 1, 1);
  add(800, 100000, 256, 16);  // 16 times the rungs
  add(100, 1000000, 100, 1);  // 100 times the samples
  const Summary summary = made::sum_up("carlson2016/cost", trials);
  CHECK(made::measure_of(summary, "C19", "MBAR, exponent of K").estimate == Approx(2));
  CHECK(made::measure_of(summary, "C19", "MBAR, exponent of N").estimate == Approx(1));
  CHECK(made::measure_of(summary, "C19", "RTS, exponent of K").estimate == Approx(1));
  // Twelve bytes a sample over eight an occupancy.
  CHECK(made::measure_of(summary, "C19", "bytes, MBAR over RTS").estimate == Approx(15000));
}

TEST_CASE("coverage says of its RBMs of MNIST the sweeps that they are given") {
  CHECK_THAT(made::find_experiment("carlson2016/coverage").settings.paper,
             Catch::Contains("four RBMs of MNIST, 100 rungs from data rates, 5,000 sweeps,"));
}

TEST_CASE("an iteration of MBAR takes its share of all that MBAR took") {
  const Json outputs =
      made::run_trial("carlson2016/cost", {{"rungs", 5}, {"samples", 500}, {"repeats", 2}}).outputs;
  const int iterations = outputs.at("iterations");
  REQUIRE(iterations > 1);
  CHECK(number(outputs.at("mbar_iteration")) * iterations ==
        Approx(number(outputs.at("mbar"))).epsilon(1e-9));
}

TEST_CASE("an update that is followed takes longer than without, and both are told") {
  const Trial run = made::run_trials("carlson2016/tracking-cost").at(0);
  const auto times = [&](const char* what) { return numbers(run.outputs.at(what)); };
  for (std::size_t i = 0; i < times("ratios").size(); ++i) {
    // Without is all of an update but what following takes.
    const double without = times("milliseconds")[i], tracking = times("tracking_milliseconds")[i];
    CHECK(times("ratios")[i] > 1);
    CHECK(times("ratios")[i] * without == Approx(without + tracking).epsilon(1e-9));
  }
  const Trial trial{.inputs = {{"hidden", 500}, {"chains", 2000}, {"timed", 6}},
                    .outputs = {{"ratios", {1.01, 1.02, 1.03, 1.03, 1.04, 1.05}},
                                {"milliseconds", {7, 8, 9, 9, 10, 70}}}};
  const Summary summary = made::sum_up("carlson2016/tracking-cost", {trial});
  CHECK(made::real(table_of(summary, "tracking-cost").rows.at(0)[3]) == 9);
  // The exact interval of six is from the first to the last: 0.02 / 1.96 is a standard error.
  const Measure& measure = made::measure_of(summary, "C40");
  CHECK(measure.upper == 1.05);
  CHECK(measure.power == Approx(normal_power(4 * 1.96, 0.025, Alternative::greater)).epsilon(1e-9));
}

TEST_CASE("the power of a ratio is that of its logarithm against the claim's threshold") {
  // A ratio that is claimed to be where its threshold is cannot be told from it but by chance.
  const auto statistic = [](std::span<const std::size_t> rows) {
    double sum = 0;
    for (const std::size_t row : rows) sum += static_cast<double>(row);
    return 1 + sum;
  };
  const RatioClaim same{.claim = "C", .threshold = 2, .against = 2};
  CHECK(ratio_measure(same, 10, statistic).power == Approx(0.025));
  // A threshold at a limit is decided by the key of the bootstrap, one between them or far off is not.
  const Measure found = ratio_measure(same, 10, statistic);
  for (const auto& [threshold, decidable] :
       {std::pair{found.upper, false}, {found.lower, false}, {found.estimate, true}, {9.0, true}}) {
    const Measure held =
        ratio_measure({.claim = same.claim, .threshold = threshold}, 10, statistic);
    CHECK(held.decidable == decidable);
    CHECK((held.note.find("other keys") != std::string::npos) == !decidable);
  }
  const RatioClaim apart{.claim = "C", .threshold = 2, .against = 1e-4};
  CHECK(ratio_measure(apart, 10, statistic).power > 0.999);
}

TEST_CASE("a claim that another key of the bootstrap would turn says so beside what it says else") {
  const auto claim_of = [](double scale, int arrived = 8) {
    std::vector<Trial> trials;
    for (int repeat = 1; repeat <= 8; ++repeat)
      trials.push_back({.inputs = {{"repeat", repeat}},
                        .outputs = {{"rts", scale * repeat},
                                    {"sams", 3},
                                    {"sams_arrived", repeat <= arrived},
                                    {"rts_errors", {1.0}},
                                    {"sams_errors", {1.0}}}});
    const Summary summary = made::sum_up("carlson2016/updates", trials);
    return made::measure_of(summary, "C21");
  };
  const Measure clear = claim_of(0.1);
  CHECK(clear.decidable);
  // A run of (19) that was stopped before takes longer than it is counted.
  CHECK(clear.interval.empty());
  CHECK(claim_of(0.1, 7).interval == "95 %, of an upper limit");
  const Measure close = claim_of(0.1 / clear.upper);
  CHECK(close.upper == Approx(1));
  CHECK_FALSE(close.decidable);
  CHECK_THAT(close.note,
             Catch::StartsWith("geometric mean over runs") && Catch::Contains("other keys"));
}

TEST_CASE("the mean of runs is a truth with Student's interval about it") {
  // Of 1, 2 and 3 the standard deviation is 1; t of two degrees 4.302653.
  const Truth truth = mean_truth(std::vector<double>{1, 2, 3});
  CHECK(truth.log_z == 2);
  CHECK(truth.std_error == Approx(1 / std::sqrt(3)));
  CHECK(truth.half_width == Approx(4.302653 / std::sqrt(3)).epsilon(1e-6));
  // A statistic that only falls as the truth moves widens the lower side alone.
  const Measure found{.claim = "C", .estimate = 1, .lower = 0.6, .upper = 1.4};
  const Measure lower = with_truth_error(found, {.std_error = 0.1, .half_width = 0.3}, 1, 0.5,
                                         [](double shift) { return 1 - std::abs(shift); });
  CHECK(lower.lower == Approx(1 - 0.5));
  CHECK(lower.upper == Approx(1.4));
  // An interval of 0.9 in all, 0.45 / 1.959964 a standard error.
  CHECK(lower.power ==
        Approx(normal_power(1.959963985 * 0.5 / 0.45, 0.025, Alternative::greater)).epsilon(1e-8));
}

TEST_CASE("C57 is told beside the same ratio in the published curves, over the same sweeps") {
  std::vector<Trial> trials = {
      {.inputs = {{"model", "mnist-10"}, {"kind", "truth"}, {"sweeps", 0}, {"repeat", 1}},
       .outputs = {{"RTS", 10.0}}}};
  for (const int sweeps : {1000, 2000, 5000, 10000, 20000, 50000, 100000})
    for (int repeat = 1; repeat <= 12; ++repeat) {
      const double sign = repeat % 2 == 0 ? 1 : -1;
      trials.push_back({.inputs = {{"model", "mnist-10"},
                                   {"kind", "estimates"},
                                   {"sweeps", sweeps},
                                   {"repeat", repeat}},
                        .outputs = {{"RTS", 10 + 0.2 * sign},
                                    {"SD", 10 + 0.2 * sign},
                                    {"RSD", 10 + (sweeps == 1000 ? 5 : 0.1) * sign}}});
    }
  const Summary summary = made::sum_up("carlson2016/fig8", trials);
  const Measure& measure = made::measure_of(summary, "C57");
  CHECK(measure.estimate == Approx(0.5));  // from 2,000 sweeps on
  const auto published = [](const char* curve) {
    return find_published("carlson2016_fig6_fig7_fig8", "8a_rmse_784x10", curve);
  };
  double logs = 0;
  int points = 0;
  for (std::size_t i = 0; i < published("RSD").x.size(); ++i)
    if (published("RSD").x[i] > 1900 && published("RSD").x[i] < 105000) {
      logs += std::log(published("RSD").y[i]) - std::log(published("RTS").y[i]);
      ++points;
    }
  const double ratio = std::exp(logs / points);
  CHECK_THAT(measure.note, Catch::Contains(fmt::format("give {:.3f} there and {:.3f} up to 100,000",
                                                       ratio, ratio)));
}

TEST_CASE("C29 is told with little power where a few runs leave the spread unknown") {
  // Six methods of three runs: all but one have one RMSE, that of MBAR is of whatever is drawn.
  std::vector<Trial> trials;
  for (int repeat = 1; repeat <= 3; ++repeat) {
    Json outputs;
    for (const char* method :
         {"RTS", "MBAR", "TI Riemann", "TI trap", "TI trap corrected", "TI RB"})
      outputs[method] = std::vector<double>(7, 7);
    outputs["MBAR"] = std::vector<double>(7, 7.0 + 5 * repeat);
    trials.push_back({.inputs = {{"repeat", repeat}}, .outputs = outputs});
  }
  const Summary summary = made::sum_up("carlson2016/fig2", trials);
  CHECK(made::measure_of(summary, "C29", "all six").power < 0.5);
  CHECK(made::measure_of(summary, "C29", "all six").power > 0.025);
}

TEST_CASE("the power of C06's iterations is that of an interval as wide as their own") {
  // That of the errors is far narrower.
  std::vector<Trial> trials;
  for (int repeat = 1; repeat <= 6; ++repeat)
    trials.push_back(
        {.inputs = {{"occupancies", "soft"}, {"x", "last"}, {"b", "fresh"}, {"repeat", repeat}},
         .outputs = {{"error", std::vector<double>(10, 0.1 + 0.001 * repeat)},
                     {"excess", std::vector<double>(10, 0.05)},
                     {"iterations", repeat % 2 == 0 ? 9 : 8},
                     {"log_z", {0.0}}}});
  const Summary summary = made::sum_up("carlson2016/fig1", trials);
  const Measure& measure = made::measure_of(summary, "C06", "iterations to the stop rule");
  // The variance is 0.3; t of five degrees 2.570582.
  const double half = 2.570582 * std::sqrt(0.3 / 6);
  CHECK(measure.upper == Approx(8.5 + half).epsilon(1e-6));
  CHECK(measure.power ==
        Approx(normal_power(1.959963985 / half, 0.025, Alternative::greater)).epsilon(1e-6));
}

TEST_CASE("the powers of C44's two parts are those of effects to either side") {
  std::vector<Trial> trials = {{.inputs = {{"kind", "truth"}}, .outputs = {{"log_z", 5.0}}}};
  for (int repeat = 0; repeat < 8; ++repeat)
    for (const int slope : {0, 2})
      trials.push_back({.inputs = {{"kind", "run"}, {"slope", slope}, {"repeat", repeat}},
                        .outputs = {{"gradient_variance", slope == 0 ? 1 : 0.5 + 0.01 * repeat},
                                    {"log_z", {slope == 0 ? 5.1 : 5.2 + 0.01 * repeat}}}});
  const Summary summary = made::sum_up("carlson2016/training-prior", trials);
  // Mirror images: one standard deviation below 0, and one above it.
  const double power = mean_difference_power(8, 1, 0.05, Alternative::greater);
  CHECK(power > 0.5);
  for (const char* part : {"gradient variance", "log Z error"})
    CHECK(made::measure_of(summary, "C44", part).power == Approx(power).epsilon(1e-9));
  CHECK(made::measure_of(summary, "C44", "gradient variance").upper < 1);
  CHECK(made::measure_of(summary, "C44", "log Z error").lower > 1);
}

TEST_CASE("the power of C51 is that of the widest interval of a pair that may be level") {
  // 12 repeats, all acceptances 1/2 but of the first rung's last step, 1/2 +- 0.014.
  std::vector<Trial> trials;
  std::vector<double> differences;
  for (int repeat = 0; repeat < 12; ++repeat) {
    const double sign = repeat % 2 == 0 ? 1 : -1;
    std::vector<std::vector<double>> acceptance(20, std::vector<double>(11, 0.5));
    acceptance[0][10] += 0.014 * sign;
    differences.push_back(0.014 * sign);
    trials.push_back({.inputs = {{"repeat", repeat}},
                      .outputs = {{"acceptance", acceptance},
                                  {"slopes", std::vector<double>(20, 1)},
                                  {"steps", std::vector<double>(20, 1)}}});
  }
  const Summary summary = made::sum_up("carlson2016/acceptance", trials);
  const Interval widest = mean_interval(differences, 1 - 0.05 / 200);  // 20 rungs, 10 rises
  const Measure& measure = made::measure_of(summary, "C51", "with the step");
  CHECK(measure.upper == Approx(widest.upper));
  CHECK(measure.power == Approx(interval_power(widest, 0.02, 1 - 0.05 / 200)).epsilon(1e-9));
  CHECK(measure.power > 0.1);
  CHECK(measure.power < 0.9);
}

TEST_CASE("a rise of acceptance between any two neighbouring rungs is seen") {
  // It falls from every rung to those further up, but from the 15th to the 16th.
  std::vector<Trial> trials;
  for (int repeat = 0; repeat < 3; ++repeat) {
    std::vector<std::vector<double>> acceptance(20, std::vector<double>(11, 0.5));
    acceptance[14] = std::vector<double>(11, 0.4);
    for (int k = 16; k < 20; ++k) acceptance[k] = std::vector<double>(11, 0.3);
    trials.push_back({.inputs = {{"repeat", repeat}},
                      .outputs = {{"acceptance", acceptance},
                                  {"slopes", std::vector<double>(20, 1)},
                                  {"steps", std::vector<double>(20, 1)}}});
  }
  const Summary summary = made::sum_up("carlson2016/acceptance", trials);
  CHECK(made::measure_of(summary, "C51", "with b").estimate == Approx(0.1));
  CHECK(made::measure_of(summary, "C51", "with the step").estimate == 0);
}

}  // namespace boltzmark::experiments
