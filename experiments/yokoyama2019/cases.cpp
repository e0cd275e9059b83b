#include <fmt/format.h>

#include <algorithm>

#include "experiments/kit/bands.hpp"
#include "experiments/kit/statistics/interval.hpp"
#include "experiments/yokoyama2019/support/learning.hpp"
#include "experiments/yokoyama2019/support/units.hpp"

namespace boltzmark::experiments::yokoyama2019_cases {
namespace {

constexpr int kSteps[] = {1, 2, 4, 8, 16, 0};
constexpr int kExtra = 5;
constexpr int kCases[] = {50, 100, 200, 400, 800};

struct Size {
  int repeats;
  std::vector<int> steps;
};
const PerProfile<Size> kSize{
    .smoke = {1, {1, 0}}, .quick = {6, {1, 4, 16, 0}}, .paper = {100, {1, 2, 4, 8, 16, 0}}};

std::vector<Json> trials(Profile profile) {
  const Size& size = kSize.at(profile);
  std::vector<Json> all;
  for (int repeat = 0; repeat < size.repeats; ++repeat)
    for (const int cases : kCases) all.push_back(learning_trial(kExtra, repeat, cases, size.steps));
  return all;
}

double rise(const std::vector<double>& kld) {
  return kld.back() - *std::min_element(kld.begin(), kld.end());
}

/// A statistic of each repeat's KLD curve, or of what s lacks of the spin's.
template <class Statistic>
std::vector<double> each(const Results& results, int cases, int s, const Statistic& statistic) {
  std::vector<double> values;
  for (const Trial* trial : results.where({{"cases", cases}}))
    if (const auto found = trial->outputs.find(std::to_string(s)); found != trial->outputs.end())
      values.push_back(statistic(numbers(found->at("kld"))));
  return values;
}

Cell mean_cell(const std::vector<double>& values) {
  if (values.size() < 2) return NotRun{};
  const Interval mean = mean_interval(values);
  return WithInterval{mean.estimate, mean.lower, mean.upper};
}

/// What s takes off the last KLD of spins, paired by repeat.
std::vector<double> advantages(const Results& results, int cases, int s) {
  const auto last = [](const std::vector<double>& kld) { return kld.back(); };
  std::vector<double> spins = each(results, cases, 1, last);
  const std::vector<double> others = each(results, cases, s, last);
  if (others.size() != spins.size()) return {};
  for (std::size_t i = 0; i < spins.size(); ++i) spins[i] -= others[i];
  return spins;
}

Table make_table(const Results& results) {
  Table table{
      .name = "cases",
      .caption = fmt::format(
          "R = {}, 5,000 updates: how far the KLD (nats per spin) rises above its minimum, how "
          "high it ends, and by how much it ends below that of s = 1 on the same tasks. Means over "
          "experiments with 95 % intervals.",
          kExtra),
      .columns = {{"cases", "cases"},
                  {"s", "s"},
                  {"rise", "rise", 4},
                  {"last KLD", "last", 4},
                  {"advantage over s = 1", "advantage", 4}}};
  for (const int cases : kCases)
    for (const int s : kSteps) {
      const std::vector<double> rises = each(results, cases, s, rise);
      if (rises.empty()) continue;
      const auto last = each(results, cases, s, [](const auto& kld) { return kld.back(); });
      table.rows.push_back({std::int64_t{cases}, steps_text(s), mean_cell(rises), mean_cell(last),
                            s == 1 ? Cell("–") : mean_cell(advantages(results, cases, s))});
    }
  return table;
}

Panel make_panel(const Results& results) {
  Panel panel{.x = {.label = "cases", .log = true},
              .y = {.label = "rise of the KLD / (nats per spin)", .log = true},
              .legend = "bottom left"};
  for (const int s : kSteps) {
    Series series{.label = "s = " + steps_text(s), .mark = Mark::line_points};
    for (const int cases : kCases) {
      const std::vector<double> rises = each(results, cases, s, rise);
      if (rises.size() < 2) continue;
      // A logarithmic axis shows no interval that reaches 0.
      if (mean_interval(rises).lower > 0) add_mean(series, cases, rises);
    }
    if (!series.x.empty()) panel.series.push_back(std::move(series));
  }
  return panel;
}

void summarise(const Results& results, Summary& summary) {
  summary.add(make_table(results));
  Panel panel = make_panel(results);
  if (panel.series.empty()) return;
  summary.add(Figure{.name = "rise",
                     .caption = "How far the KLD rises above its minimum in 5,000 updates, against "
                                "the number of training cases. Bars: 95 % intervals of means.",
                     .panels = {std::move(panel)}});
}

}  // namespace

Experiment experiment() {
  return {
      .id = "yokoyama2019/cases",
      .item = "Beyond the paper",
      .title = "Does the gain of many values last when there are more training cases?",
      .paper_did =
          "Fixes 200 cases and compares s = 1, 2, 4 and infinity: the question is left "
          "open, and there is nothing to reproduce.",
      .settings = {.smoke = "One experiment of s = 1 and infinity at each of 50 to 800 cases.",
                   .quick = "6 experiments at each of 50, 100, 200, 400 and 800 cases; s = 1, 4, "
                            "16 and infinity; 5,000 updates.",
                   .paper = "100 experiments at each of 50 to 800 cases; s = 1, 2, 4, 8, 16 and "
                            "infinity; 5,000 updates."},
      .seconds = {.smoke = 3, .quick = 15, .paper = 400},
      .claims = {},
      .deviations = {"Protocol and tasks of Fig. 2 at R = 5; the cases of a small task are the "
                     "first ones of a larger."},
      .trials = trials,
      .cost = [](const Json& inputs) { return 100 + number(inputs.at("cases")); },
      .run = run_learning,
      .summarise = summarise,
  };
}

}  // namespace boltzmark::experiments::yokoyama2019_cases
