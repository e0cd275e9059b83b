#include "experiments/carlson2016/support/initial_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "experiments/kit/measures.hpp"

namespace boltzmark::experiments {
namespace {

constexpr std::size_t kShown[] = {1, 2, 4, 6, 8};  // iterations of the figure
constexpr std::size_t kJudged = 8;                 // the iteration that the claims are about

// One output of every repeat after an iteration.
std::vector<double> after(const Results& results, const Way& way, const char* output,
                          std::size_t iteration) {
  std::vector<double> values;
  for (const Trial* trial : results.where(inputs_of(way))) {
    const std::vector<double> all = numbers(trial->outputs.at(output));
    if (iteration <= all.size()) values.push_back(all[iteration - 1]);
  }
  return values;
}

/// Iterations of a run until the rule has been met and the error is below a nat, then and in all
/// that follow; one more than there were if never.
double iterations_to_settle(const Trial& trial) {
  const std::vector<double> errors = numbers(trial.outputs.at("error"));
  std::size_t settled = errors.size();
  while (settled > 0 && errors[settled - 1] < 1) --settled;
  return std::max(static_cast<double>(settled) + 1, number(trial.outputs.at("iterations")));
}

/// The mean over a run's iterations of log error, in nats, errors below a tenth of a nat being as good as that.
double mean_log_error(const Trial& trial) {
  constexpr double kSmall = 0.1;
  std::vector<double> logs;
  for (const double error : numbers(trial.outputs.at("error")))
    logs.push_back(std::log(std::max(error, kSmall)));
  return mean_of(logs);
}

/// What a statistic is of every run of a way, by the number of its repeat.
std::map<int, double> of_runs(const Results& results, const Way& way,
                              double (*statistic)(const Trial&)) {
  std::map<int, double> all;
  for (const Trial* trial : results.where(inputs_of(way)))
    all[trial->inputs.at("repeat")] = statistic(*trial);
  return all;
}

std::vector<double> values_of(const std::map<int, double>& by_repeat) {
  std::vector<double> all;
  for (const auto& [repeat, value] : by_repeat) all.push_back(value);
  return all;
}

double share_below(const std::vector<double>& values, double threshold) {
  const auto below = [&](double value) { return value < threshold; };
  return static_cast<double>(std::count_if(values.begin(), values.end(), below)) /
         static_cast<double>(values.size());
}

std::vector<double> rung_numbers(std::size_t rungs) {
  std::vector<double> k(rungs);
  for (std::size_t i = 0; i < rungs; ++i) k[i] = static_cast<double>(i + 1);
  return k;
}

Panel curves(const Trial& trial, const char* output, const std::string& title, Axis y) {
  Panel panel{.title = title, .x = {.label = "rung k"}, .y = std::move(y)};
  const Json& all = trial.outputs.at(output);
  const std::vector<double> exact = numbers(trial.outputs.at("log_z"));
  const bool occupancies = std::string(output) == "log_c";
  int colour = 0;  // black is for what the curves should become
  for (const std::size_t iteration : kShown) {
    if (iteration > all.size()) break;
    panel.series.push_back({.label = fmt::format("iteration {}", iteration),
                            .x = rung_numbers(exact.size()),
                            .y = numbers(all[iteration - 1]),
                            .colour = ++colour});
  }
  const std::vector<double> prior(exact.size(), -std::log(static_cast<double>(exact.size())));
  panel.series.push_back({.label = occupancies ? "r_k" : "exact",
                          .x = rung_numbers(exact.size()),
                          .y = occupancies ? prior : exact,
                          .mark = Mark::dashed,
                          .colour = 0});
  return panel;
}

}  // namespace

Json inputs_of(const Way& way) {
  return {{"occupancies", way.occupancies}, {"x", way.x}, {"b", way.b}};
}

void add_initial_figure(const Results& results, Summary& summary) {
  Figure figure{.name = "iterations-figure",
                .caption =
                    "log Ẑ_k (the paper's convention: p_1 is not normalised) after "
                    "iterations, and log c_k in them, of one run of each kind.",
                .columns = 2};
  for (const Way& way : {kSoftWay, kHardWay}) {
    const std::vector<const Trial*> found = results.where(inputs_of(way));
    if (found.empty() || !found.front()->outputs.contains("log_c")) return;
    const std::string title =
        std::string(way.occupancies) == "soft" ? "Rao-Blackwellised" : "counts + 0.1";
    figure.panels.push_back(
        curves(*found.front(), "log_z_hat", title, {.label = "log Ẑ_k / nats"}));
    figure.panels.push_back(
        curves(*found.front(), "log_c", title, {.label = "log c_k", .low = -12, .high = 8}));
  }
  summary.add(std::move(figure));
}

Table initial_table(const Results& results) {
  Table table{.name = "iterations",
              .caption =
                  "Errors max |log Ẑ_k − log Z_k| / nats after iterations, the iterations "
                  "until max |log(c_k/r_k)| < 1, and the share of runs that met the paper's "
                  "rule max |r_k − c_k| < 0.1/K at iteration 10. Means, 95 %.",
              .columns = {{"c_k", "occupancies"},
                          {"x from", "x"},
                          {"b from", "b"},
                          {"error, iteration 2", "error_2"},
                          {"error, iteration 4", "error_4"},
                          {"error, iteration 8", "error_8"},
                          {"iterations to stop", "stop"},
                          {"paper's rule met", "paper_rule"}}};
  std::vector<Way> ways(std::begin(kRestarts), std::end(kRestarts));
  ways.push_back(kHardWay);
  for (const Way& way : ways) {
    const auto cell = [&](std::size_t iteration) {
      return mean_cell(after(results, way, "error", iteration));
    };
    const std::vector<double> stops = results.values(inputs_of(way), "iterations");
    if (stops.size() < 2) continue;
    const std::vector<double> excess = after(results, way, "excess", 10);
    table.rows.push_back({std::string(way.occupancies) == "soft" ? "q(b | x)" : "counts + 0.1",
                          std::string(way.x), std::string(way.b), cell(2), cell(4), cell(kJudged),
                          mean_cell(stops),
                          excess.empty() ? Cell(NotRun{}) : Cell(share_below(excess, 0.1))});
  }
  return table;
}

void add_initial_occupancies(const Results& results, Summary& summary) {
  const std::vector<double> soft = after(results, kSoftWay, "error", kJudged);
  const std::vector<double> hard = after(results, kHardWay, "error", kJudged);
  if (soft.size() < 2) return;
  Measure error = interval_measure(
      {.claim = "C06",
       .part = "error after iteration 8",
       .likely_reason =
           "the largest of 100 errors after 5,000 correlated samples; the paper gives no number"},
      mean_interval(soft), soft.size());
  error.power = interval_power(mean_interval(soft), 0.2);
  error.power_against = "a mean error of 0.3 nats";
  error.post_hoc = true;
  summary.add(error);
  const std::vector<double> stops = results.values(inputs_of(kSoftWay), "iterations");
  Measure stop = interval_measure({.claim = "C06", .part = "iterations to the stop rule"},
                                  mean_interval(stops), stops.size());
  stop.power = interval_power(mean_interval(stops), 1);
  stop.power_against = "a mean of 9 iterations";
  stop.post_hoc = true;
  stop.note = fmt::format(
      "the paper's own rule, max |r_k − c_k| < 0.1/K, holds after iteration 10 in {:.0f} % of runs",
      100 * share_below(after(results, kSoftWay, "excess", 10), 0.1));
  summary.add(stop);
  if (hard.size() != soft.size()) return;
  const Interval interval = paired_ratio_interval(hard, soft);
  Measure ratio = interval_measure({.claim = "C07"}, interval, soft.size());
  // On the log scale, where the interval's width hardly depends on the ratio.
  const Interval log_ratio = {std::log(interval.estimate), std::log(interval.lower),
                              std::log(interval.upper)};
  ratio.power = interval_power(log_ratio, std::log(2.0));
  ratio.power_against = "a ratio of 20";
  ratio.post_hoc = true;
  ratio.likely_reason =
      "counts + 0.1 settle too, only later: rungs that are not visited are off by log of the "
      "floor, not by more";
  summary.add(ratio);
}

Table restart_table(const Results& results) {
  Table table{.name = "restarts-784-500",
              .caption =
                  "Ways to start an iteration on the published 784-500 RBM, from base rates "
                  "and Ẑ_k = 1: iterations until max |log(c_k / r_k)| < 1, and until the "
                  "error of log Z stays below a nat too; one more than there were if never. The "
                  "error at the rule is that of the runs that met it; the mean log error is over "
                  "all iterations, errors below 0.1 nats being taken as that.",
              .columns = {{"x", "x"},
                          {"b", "b"},
                          {"runs", "runs"},
                          {"to the rule", "rule", 1},
                          {"to rule and error", "settled", 1},
                          {"met the rule", "met"},
                          {"error at the rule / nats", "error_at_rule", 2},
                          {"last error / nats", "last_error", 2},
                          {"mean log error", "log_error", 2}}};
  for (const Way& way : kRestarts) {
    std::vector<double> rule, at_rule, last;
    for (const Trial* trial : results.where(inputs_of(way))) {
      const std::vector<double> errors = numbers(trial->outputs.at("error"));
      rule.push_back(number(trial->outputs.at("iterations")));
      const auto stop = static_cast<std::size_t>(rule.back());
      if (stop <= errors.size()) at_rule.push_back(errors[stop - 1]);
      last.push_back(errors.back());
    }
    table.rows.push_back(
        {std::string(way.x), std::string(way.b), static_cast<std::int64_t>(rule.size()),
         mean_cell(rule), mean_cell(values_of(of_runs(results, way, iterations_to_settle))),
         fmt::format("{} of {}", at_rule.size(), rule.size()), mean_cell(at_rule), mean_cell(last),
         mean_cell(values_of(of_runs(results, way, mean_log_error)))});
  }
  return table;
}

void add_initial_restarts(const Results& results, const std::string& part, Summary& summary) {
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  const std::map<int, double> ours = of_runs(results, kSoftWay, mean_log_error);
  Interval largest{kNone, kNone, kNone};
  std::size_t pairs = 0;
  std::string note;
  for (const Way& way : kOtherWays) {
    const std::map<int, double> other = of_runs(results, way, mean_log_error);
    std::vector<double> differences;
    for (const auto& [repeat, log_error] : ours)
      if (const auto pair = other.find(repeat); pair != other.end())
        differences.push_back(log_error - pair->second);
    if (differences.size() < 2) return;
    const Interval interval = mean_interval(differences);
    if (interval.estimate > largest.estimate) pairs = differences.size();
    largest = {std::max(largest.estimate, interval.estimate),
               std::max(largest.lower, interval.lower), std::max(largest.upper, interval.upper)};
    note += fmt::format("{}{:.2f} times those with {} x and {} b", note.empty() ? "" : ", ",
                        std::exp(interval.estimate), way.x, way.b);
  }
  Measure measure = interval_measure({.claim = "C08", .part = part}, largest, pairs);
  measure.interval = "the largest limits of three intervals of 95 %";
  measure.power = interval_power(largest, std::log(1.5));
  measure.power_against = "errors that are smaller by a third";
  measure.post_hoc = true;
  measure.note = "errors are " + note;
  measure.likely_reason =
      "fresh rungs put states at an inverse temperature that they do not fit, which the last rungs "
      "do not; the paper does not say on which model it compared";
  summary.add(measure);
}

}  // namespace boltzmark::experiments
