// What the experiments of yokoyama2019 make of curves whose numbers are known.
#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "experiments/yokoyama2019/support/learning.hpp"
#include "verification/interface/experiments/made_trials.hpp"

namespace boltzmark::experiments {
namespace {

using made::measure_of;

constexpr const char* kToy = "yokoyama2019/fig4";

/// Two experiments of s = 1 and infinity at 50 cases, and two that rise alike at 100.
std::vector<Trial> curves_by_cases() {
  const auto trial = [](int cases, int repeat, const std::vector<double>& spins,
                        const std::vector<double>& continuous) {
    return Trial{.inputs = learning_trial(5, repeat, cases, {1, 0}),
                 .outputs = {{"1", {{"kld", spins}}}, {"0", {{"kld", continuous}}}}};
  };
  return {trial(50, 0, {.3, .1, .2}, {.3, .1, .15}), trial(50, 1, {.4, .1, .4}, {.3, .2, .3}),
          trial(100, 0, {.5, .1, .2}, {.5, .1, .1}), trial(100, 1, {.5, .2, .3}, {.5, .1, .1})};
}

/// Curves of Figs. 2 and 3: s = infinity is 1 nat ahead before update 200 at R = 0, 300 at R = 5.
std::vector<Trial> likelihood_curves() {
  std::vector<Trial> trials;
  for (int repeat = 0; repeat < 2; ++repeat)
    for (const int extra : {0, 5}) {
      Json outputs;
      for (const int s : {1, 2, 4, 0}) {
        std::vector<double> values;
        for (int update = 0; update <= kLearningUpdates; update += kRecordUpdates)
          values.push_back(s > 0 ? -2 - 0.1 * s : update < 200 + 20 * extra ? -1 : -3);
        outputs[std::to_string(s)] = {{"log_likelihood", values}};
      }
      trials.push_back(
          {.inputs = learning_trial(extra, repeat, 200, {1, 2, 4, 0}), .outputs = outputs});
    }
  return trials;
}

}  // namespace

TEST_CASE("the maxima of two spins are where cosh 2w, and sinh 2w over 2w, is 2") {
  // |H| = 2 and beta = 0.6: (phi(2w) / phi(0))^2 = (1 + beta) / (1 - beta) = 4.
  const Summary summary = made::sum_up(kToy, made::run_trials(kToy));
  const double spins = std::acosh(2.0) / 2;
  const auto& rows = made::table_of(summary, "maxima").rows;
  CHECK(made::real(rows.front()[1]) == Approx(spins).epsilon(1e-12));
  const double continuous = made::real(rows.back()[1]);
  CHECK(std::sinh(2 * continuous) / (2 * continuous) == Approx(2).epsilon(1e-12));
  const double entropy = -.8 * std::log(.8 / 2) - .2 * std::log(.2 / 2);
  for (const auto& row : rows) {
    CHECK(made::real(row[2]) == Approx(-entropy).epsilon(1e-12));
    CHECK(made::count(row[4]) < made::count(row[5]));
  }
  // (1 - beta^2) (|H| tanh 2w)^2 = 0.64 * 3.
  CHECK(made::real(rows.front()[3]) == Approx(1.92).epsilon(1e-12));
  const Figure& figure = made::figure_of(summary, "toy");
  const Series& alpha = figure.panels[0].series[0];
  for (std::size_t i = 0; i < alpha.x.size(); ++i)
    CHECK(alpha.y[i] == Approx(std::tanh(std::log(std::cosh(2 * alpha.x[i])))).margin(1e-12));
  CHECK(alpha.x.front() == -alpha.x.back());
  CHECK(figure.panels[0].guides[0].at == 0.6);  // beta, which alpha reaches at the maximum
  CHECK(figure.panels[1].guides[0].at == Approx(spins).epsilon(1e-12));
}

TEST_CASE("Y12 to Y16 hold of the two spins, and each sees one fault of one s") {
  std::vector<Trial> trials = made::run_trials(kToy);
  const Summary right = made::sum_up(kToy, trials);
  for (const char* part : {"even", "increasing in w", "decreasing in s"})
    CHECK(measure_of(right, "Y12", part).estimate == Approx(0).margin(1e-12));
  for (const char* claim : {"Y13", "Y15"}) CHECK(measure_of(right, claim, "order").estimate > 0);
  for (const char* s : {"s = 1", "s = 2", "s = 4", "s = ∞"})
    CHECK(measure_of(right, "Y13", s).estimate < 1e-4);
  CHECK(measure_of(right, "Y14").estimate < 1e-9);
  CHECK(measure_of(right, "Y14").n == 65);
  CHECK(measure_of(right, "Y15", "values").estimate < 1e-4);
  for (const char* pair : {"1 before 2", "2 before 4", "4 before ∞"}) {
    CHECK(measure_of(right, "Y16", pair).lower > 1);
    CHECK(measure_of(right, "Y16", pair).interval == "range over starts and rates");
  }

  // s = 2, and 4, of the figure; alpha of infinity ends above that of s = 64.
  trials[1].outputs["asymmetry"] = 0.5;
  trials[1].outputs["at_maximum"] = number(trials[1].outputs["at_maximum"]) + 0.01;
  trials[3].outputs["sharpness"] = number(trials[3].outputs["sharpness"]) + 0.02;
  trials[64].outputs["alpha"].back() = 1;
  // The ascent of s = 1 takes ten steps, of s = 2 twenty as often as forty.
  for (std::size_t k = 0; k < trials[0].outputs["ascent_steps"].size(); ++k) {
    trials[0].outputs["ascent_steps"][k] = 10;
    trials[1].outputs["ascent_steps"][k] = k % 2 == 0 ? 20 : 40;
  }
  const Summary wrong = made::sum_up(kToy, trials);
  CHECK(measure_of(wrong, "Y12", "even").estimate == 0.5);
  CHECK(measure_of(wrong, "Y12", "decreasing in s").estimate == 1);
  CHECK(measure_of(wrong, "Y14").estimate == Approx(0.01).epsilon(1e-6));
  CHECK(measure_of(wrong, "Y15", "values").estimate == Approx(0.02).epsilon(0.01));
  REQUIRE(trials[0].outputs["ascent_steps"].size() % 2 == 0);
  CHECK(measure_of(wrong, "Y16", "1 before 2").estimate == Approx(3));
  CHECK(measure_of(wrong, "Y16", "1 before 2").lower == 2);
  CHECK(measure_of(wrong, "Y16", "1 before 2").upper == 4);
  // Of infinity, too.
  trials[64].outputs["asymmetry"] = 0.75;
  trials[64].outputs["alpha"][10] = trials[64].outputs["alpha"][9];
  const Summary of_infinity = made::sum_up(kToy, trials);
  CHECK(measure_of(of_infinity, "Y12", "even").estimate == 0.75);
  CHECK(measure_of(of_infinity, "Y12", "increasing in w").estimate == 1);
}

TEST_CASE("Metropolised Gibbs wins where its SLEM is the lower, and the gaps are of medians") {
  const Trial trial{.inputs = {{"s", 1}, {"c", 0.5}, {"rbms", 4}},
                    .outputs = {{"slem_gibbs", {.9, .5, .5, .2}},
                                {"slem_metropolised", {.8, .6, .3, .1}},
                                {"unconverged", 3}}};
  const Summary summary = made::sum_up("yokoyama2019/metropolised", {trial});
  const auto& row = made::table_of(summary, "slems").rows.at(0);
  CHECK(made::count(row[2]) == 4);
  CHECK(made::real(row[4]) == Approx(0.5));
  CHECK(made::real(row[5]) == Approx(0.55));
  CHECK(made::count(row[6]) == 3);
  // 3 of 4: p^4 = 0.975 at the upper limit, 4 p^3 - 3 p^4 = 0.025 at the lower.
  const Series& share = made::figure_of(summary, "shares").panels.at(0).series.at(0);
  CHECK(share.x == std::vector<double>{0.5});
  CHECK(share.y == std::vector<double>{0.75});
  CHECK(share.upper[0] == Approx(std::pow(0.975, 0.25)).epsilon(1e-9));
  const double low = share.lower[0];
  CHECK(4 * std::pow(low, 3) - 3 * std::pow(low, 4) == Approx(0.025).epsilon(1e-9));
  CHECK(made::estimate(row[3]).lower == low);
}

TEST_CASE("how far the KLD rises is told by the number of cases, and gains are on the same task") {
  const Summary summary = made::sum_up("yokoyama2019/cases", curves_by_cases());
  const auto& rows = made::table_of(summary, "cases").rows;
  REQUIRE(rows.size() == 4);
  // At 50 cases s = 1 rises by 0.1 and 0.3, infinity by 0.05 and 0.1; it ends 0.05 and 0.1 lower.
  const double t = 12.706205;  // Student's, of one degree
  CHECK(made::estimate(rows[0][2]).value == Approx(0.2));
  CHECK(made::estimate(rows[0][2]).upper == Approx(0.2 + t * 0.1).epsilon(1e-6));
  CHECK(made::estimate(rows[0][3]).value == Approx(0.3));
  CHECK(made::text(rows[0][4]) == "–");
  CHECK(made::estimate(rows[1][2]).value == Approx(0.075));
  CHECK(made::estimate(rows[1][4]).value == Approx(0.075));
  CHECK(made::estimate(rows[1][4]).upper == Approx(0.075 + t * 0.025).epsilon(1e-6));
  CHECK(made::count(rows[2][0]) == 100);
  CHECK(made::estimate(rows[3][4]).value == Approx(0.15));
  // Only where the interval is above 0 has a logarithmic axis a place for it.
  const Panel& panel = made::figure_of(summary, "rise").panels.at(0);
  REQUIRE(panel.series.size() == 1);
  CHECK(panel.series[0].x == std::vector<double>{100});
  CHECK(panel.series[0].y[0] == Approx(0.1));
}

TEST_CASE("Fig. 3 tells from which update on the likelihood of spins is the higher one") {
  const std::string notes = made::notes_of(made::sum_up("yokoyama2019/fig3", likelihood_curves()));
  const std::string told =
      ": the mean log-likelihood of s = ∞ is the higher one at first, that of s = 1 from ";
  CHECK_THAT(notes, Catch::Contains("R = 0" + told + "200 updates") &&
                        Catch::Contains("R = 5" + told + "300 updates"));
  // Where the order never turns, none is named.
  const auto notes_of = [](double continuous) {
    std::vector<Trial> trials = likelihood_curves();
    for (Trial& trial : trials)
      for (Json& value : trial.outputs["0"]["log_likelihood"]) value = continuous;
    return made::notes_of(made::sum_up("yokoyama2019/fig3", trials));
  };
  CHECK_THAT(notes_of(-1),
             Catch::Contains("R = 0: the mean log-likelihood of s = ∞ is the higher one "
                             "throughout."));
  CHECK_THAT(notes_of(-3),
             Catch::Contains("R = 5: the mean log-likelihood of s = 1 is the higher one "
                             "from the start."));
}

TEST_CASE("Fig. 6 tells the last rates on clean images, those of infinity less those of spins") {
  std::vector<Trial> trials;
  for (int repeat = 0; repeat < 2; ++repeat) {
    const double less = 0.02 + 0.02 * repeat;
    const auto rates = [](double rate) {
      const std::vector<double> all = {.9, .5 + rate, rate};
      return Json{{"train", all}, {"test", all}, {"clean", all}};
    };
    trials.push_back({.inputs = {{"repeat", repeat}, {"epochs", {0, 5, 10}}},
                      .outputs = {{"1", rates(0.3)}, {"0", rates(0.3 - less)}}});
  }
  // -0.02 and -0.04: 12.706 times 0.01 to either side.
  CHECK_THAT(made::notes_of(made::sum_up("yokoyama2019/fig6", trials)),
             Catch::Contains("after 10 epochs is -0.0300 [-0.1571, 0.0971]"));
}

TEST_CASE("graphs of one paper's machines join all units of neighbouring layers and no others") {
  // 5 x 4 units; and of 5-4-3 those that stand for no others: 4 x 3 and 3 x 2.
  for (const auto& [id, edges, layers] :
       {std::tuple{"yokoyama2019/fig1", 20, 2}, std::tuple{"yokoyama2019/fig5", 18, 3},
        std::tuple{"salakhutdinov2010/fig1", 18, 3}}) {
    INFO(id);
    const Summary summary = made::sum_up(id, made::run_trials(id));
    const Figure& figure = made::figure_of(summary, "graph");
    int joined = 0;
    std::vector<std::string> names;
    for (const auto& row : figure.data) {
      if (row[0] == "edge") {
        ++joined;
        CHECK(std::abs(std::stod(row[4])) == Approx(1.7));
      } else if (row[0] == "name" && row[5].find('w') != 0 && row[5].find('W') != 0) {
        CHECK(std::stod(row[2]) == Approx(1.7 * static_cast<double>(names.size())));
        names.push_back(row[5]);
      } else if (row[0] == "node" && row[5] == "h_1") {
        CHECK(std::stod(row[2]) > 0);  // above the visible layer
      }
    }
    CHECK(joined == edges);
    CHECK(static_cast<int>(names.size()) == layers);
  }
}

}  // namespace boltzmark::experiments
