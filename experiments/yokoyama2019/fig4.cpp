#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "experiments/kit/results.hpp"
#include "experiments/kit/summary.hpp"
#include "experiments/yokoyama2019/support/two_spins.hpp"
#include "experiments/yokoyama2019/support/units.hpp"

namespace boltzmark::experiments::yokoyama2019_fig4 {
namespace {

constexpr int kMostSteps = 64;       // s = 1..64, and infinity
constexpr double kGridStep = 0.01;   // of w
constexpr int kGridPoints = 300;     // 0 < w <= 3
constexpr double kDrawnWidth = 2.0;  // |w| in the figure
constexpr double kReached = 0.01;    // within 1 % of w*
constexpr double kStarts[] = {1e-3, 3e-3, 1e-2, 3e-2, 1e-1};
constexpr double kRates[] = {0.003, 0.01, 0.03, 0.1};

/// What the paper prints and what its formulas come to, by the s of the figure.
struct Expected {
  int s;
  double maximum, sharpness;
};
constexpr Expected kExpected[] = {
    {1, 0.6585, 1.9200}, {2, 0.7834, 1.4933}, {4, 0.8941, 1.1940}, {0, 1.0887, 0.8223}};

std::vector<Json> trials(Profile) {
  std::vector<Json> all;
  for (int s = 1; s <= kMostSteps; ++s) all.push_back({{"s", s}});
  all.push_back({{"s", 0}});
  return all;
}

Json run(const Json& inputs, const TrialContext&) {
  const TwoSpins toy = two_spins(inputs.at("s"));
  std::vector<double> alpha, log_likelihood, steps;
  double asymmetry = 0;
  for (int i = 0; i <= kGridPoints; ++i) {
    const double w = i * kGridStep;
    alpha.push_back(toy.alpha(w));
    log_likelihood.push_back(toy.log_likelihood(w));
    asymmetry = std::max(asymmetry, std::abs(toy.alpha(-w) - alpha.back()));
  }
  for (const double start : kStarts)
    for (const double rate : kRates) steps.push_back(toy.ascent_steps(start, rate, kReached));
  return {{"alpha", alpha},
          {"log_likelihood", log_likelihood},
          {"asymmetry", asymmetry},
          {"maximum", toy.maximum()},
          {"at_maximum", toy.log_likelihood(toy.maximum())},
          {"sharpness", toy.sharpness()},
          {"ascent_steps", steps}};
}

double output(const Results& results, int s, const char* name) {
  return number(results.where({{"s", s}}).front()->outputs.at(name));
}

std::vector<double> curve(const Results& results, int s, const char* name) {
  return numbers(results.where({{"s", s}}).front()->outputs.at(name));
}

/// Draws an even function of w from its values at w >= 0.
Series even_series(const std::vector<double>& values, int s, int colour) {
  Series series{.label = "s = " + steps_text(s), .colour = colour};
  const auto half = static_cast<int>(std::lround(kDrawnWidth / kGridStep));
  for (int i = -half; i <= half; i += 2) {
    series.x.push_back(i * kGridStep);
    series.y.push_back(values[static_cast<std::size_t>(std::abs(i))]);
  }
  return series;
}

void add_figure(const Results& results, Summary& summary) {
  Panel alpha{.title = "(a)",
              .x = {.label = "w"},
              .y = {.label = "α_s(w)"},
              .guides = {{.at = 0.6, .label = "β"}},
              .legend = "bottom right"};
  Panel likelihood{.title = "(b)",
                   .x = {.label = "w"},
                   .y = {.label = "l_s(w) / nats"},
                   .legend = "bottom center"};
  int colour = 0;
  for (const int s : kFigureSteps) {
    alpha.series.push_back(even_series(curve(results, s, "alpha"), s, colour));
    likelihood.series.push_back(even_series(curve(results, s, "log_likelihood"), s, colour++));
    likelihood.guides.push_back({.at = output(results, s, "maximum"), .vertical = true});
  }
  summary.add(Figure{.name = "toy",
                     .caption =
                         "(a) The correlation α_s(w) of two spins with |H| = 2 hidden units; "
                         "(b) the mean log-likelihood of data with correlation β = 0.6. "
                         "Vertical lines: w*.",
                     .panels = {alpha, likelihood},
                     .columns = 2});
}

void add_table(const Results& results, Summary& summary) {
  Table table{.name = "maxima",
              .caption =
                  "The maximum of the log-likelihood for w > 0, its sharpness, and the "
                  "range of steps that gradient ascent takes to come within 1 % of it, over "
                  "starts from 0.001 to 0.1 and rates from 0.003 to 0.1.",
              .columns = {{"s", "s"},
                          {"w*", "maximum", 10},
                          {"l(w*) / nats", "log_likelihood", 10},
                          {"−l''(w*)", "sharpness", 4},
                          {"fewest steps", "fewest_steps"},
                          {"most steps", "most_steps"}}};
  for (const int s : {1, 2, 4, 8, 16, 32, 64, 0}) {
    const std::vector<double> steps = curve(results, s, "ascent_steps");
    const auto [fewest, most] = std::minmax_element(steps.begin(), steps.end());
    table.rows.push_back({steps_text(s), output(results, s, "maximum"),
                          output(results, s, "at_maximum"), output(results, s, "sharpness"),
                          static_cast<std::int64_t>(*fewest), static_cast<std::int64_t>(*most)});
  }
  summary.add(std::move(table));
}

/// Calls body(s, next s) for 1, 2, .., 64, infinity.
template <class Body>
void for_neighbours(const Body& body) {
  for (int s = 1; s <= kMostSteps; ++s) body(s, s == kMostSteps ? 0 : s + 1);
}

/// Y12: on how many points of the grid alpha is not even, not increasing, not decreasing in s.
void add_properties(const Results& results, Summary& summary) {
  double asymmetry = 0;
  int not_increasing = 0, not_decreasing = 0;
  const auto count = [&](int s) {
    asymmetry = std::max(asymmetry, output(results, s, "asymmetry"));
    const std::vector<double> alpha = curve(results, s, "alpha");
    for (std::size_t i = 1; i < alpha.size(); ++i) not_increasing += !(alpha[i] > alpha[i - 1]);
  };
  count(0);
  for_neighbours([&](int s, int next) {
    count(s);
    const std::vector<double> lower = curve(results, s, "alpha"),
                              higher = curve(results, next, "alpha");
    for (std::size_t i = 1; i < lower.size(); ++i) not_decreasing += !(higher[i] < lower[i]);
  });
  const std::string grid = "w = 0.01, 0.02, .., 3; s = 1..64 and infinity";
  summary.add(Measure{.claim = "Y12", .part = "even", .estimate = asymmetry, .note = grid});
  summary.add(Measure{.claim = "Y12",
                      .part = "increasing in w",
                      .estimate = static_cast<double>(not_increasing),
                      .note = grid});
  summary.add(Measure{.claim = "Y12",
                      .part = "decreasing in s",
                      .estimate = static_cast<double>(not_decreasing),
                      .note = grid});
}

/// Y13 and Y15: the order over all s, and the values of the figure.
void add_maxima(const Results& results, Summary& summary) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  double least_move = infinity, least_blunting = infinity;
  for_neighbours([&](int s, int next) {
    least_move =
        std::min(least_move, output(results, next, "maximum") - output(results, s, "maximum"));
    least_blunting = std::min(least_blunting,
                              output(results, s, "sharpness") - output(results, next, "sharpness"));
  });
  const std::string note = "least difference of neighbours, s = 1..64 and infinity";
  summary.add(Measure{.claim = "Y13", .part = "order", .estimate = least_move, .note = note});
  summary.add(Measure{.claim = "Y15", .part = "order", .estimate = least_blunting, .note = note});
  double worst_sharpness = 0;
  for (const Expected& expected : kExpected) {
    const double found = output(results, expected.s, "maximum");
    summary.add(Measure{.claim = "Y13",
                        .part = "s = " + steps_text(expected.s),
                        .estimate = std::abs(found - expected.maximum),
                        .note = fmt::format("w* = {:.10f}", found)});
    worst_sharpness = std::max(
        worst_sharpness, std::abs(output(results, expected.s, "sharpness") - expected.sharpness));
  }
  summary.add(Measure{.claim = "Y15",
                      .part = "values",
                      .estimate = worst_sharpness,
                      .note = "largest distance from 1.9200, 1.4933, 1.1940, 0.8223"});
}

/// Y14: the largest distance of a maximum from the negative entropy of the data.
void add_equal_maxima(const Results& results, Summary& summary) {
  constexpr double expected = -1.1935496041;
  double worst = 0;
  for (const Trial& trial : results.trials())
    worst = std::max(worst, std::abs(number(trial.outputs.at("at_maximum")) - expected));
  summary.add(Measure{.claim = "Y14",
                      .estimate = worst,
                      .n = static_cast<std::int64_t>(results.trials().size()),
                      .note = "largest distance over s = 1..64 and infinity"});
}

/// Y16: how many more steps gradient ascent takes at the next s of the figure.
void add_ascent(const Results& results, Summary& summary) {
  for (std::size_t i = 0; i + 1 < std::size(kFigureSteps); ++i) {
    const int s = kFigureSteps[i], next = kFigureSteps[i + 1];
    const std::vector<double> fewer = curve(results, s, "ascent_steps"),
                              more = curve(results, next, "ascent_steps");
    std::vector<double> ratios;
    for (std::size_t k = 0; k < fewer.size(); ++k) ratios.push_back(more[k] / fewer[k]);
    const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
    double mean = 0;
    for (const double ratio : ratios) mean += ratio / static_cast<double>(ratios.size());
    summary.add(Measure{.claim = "Y16",
                        .part = steps_text(s) + " before " + steps_text(next),
                        .estimate = mean,
                        .lower = *least,
                        .upper = *most,
                        .interval = "range over starts and rates",
                        .n = static_cast<std::int64_t>(ratios.size()),
                        .note = "mean over starts and rates; nothing is random"});
  }
}

void summarise(const Results& results, Summary& summary) {
  if (results.trials().size() < results.planned()) return;
  add_figure(results, summary);
  add_table(results, summary);
  add_properties(results, summary);
  add_maxima(results, summary);
  add_equal_maxima(results, summary);
  add_ascent(results, summary);
}

const char* const kSettings =
    "|H| = 2, β = 0.6, s = 1..64 and infinity in closed form, |w| ≤ 3; gradient ascent at four "
    "rates from five starts. The same in every profile.";

}  // namespace

Experiment experiment() {
  return {
      .id = "yokoyama2019/fig4",
      .item = "Fig. 4",
      .title = "How do the maximum of the likelihood and its sharpness change as s grows?",
      .paper_did =
          "Plots the correlation α_s(w) of two spins that share |H| = 2 hidden units, and the "
          "log-likelihood of data with correlation 0.6, for s = 1, 2, 4 and infinity.",
      .settings = {.smoke = kSettings, .quick = kSettings, .paper = kSettings},
      .seconds = {.smoke = 0.2, .quick = 0.2, .paper = 0.2},
      .claims = {"Y12", "Y13", "Y14", "Y15", "Y16"},
      .deviations =
          {"The paper does not run gradient ascent on the toy; starts and rates are ours."},
      .trials = trials,
      .run = run,
      .summarise = summarise,
  };
}

}  // namespace boltzmark::experiments::yokoyama2019_fig4
