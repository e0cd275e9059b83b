#include "tools/boltzmark/commands/compare/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "boltzmark/estimate/methods.hpp"
#include "experiments/kit/report/plot.hpp"

namespace boltzmark::cli {
namespace {

using experiments::Cell;
using experiments::Series;
using experiments::Table;

ComparisonCell sum_up_cell(const Comparison& comparison, const std::string& method, int sweeps,
                           int units) {
  ComparisonCell cell{.method = method, .sweeps = sweeps};
  std::vector<experiments::Outcome> outcomes;
  for (const ComparisonTrial& trial : comparison.trials) {
    if (trial.method != method || trial.sweeps != sweeps) continue;
    outcomes.push_back(trial.outcome);
    outcomes.back().truth = comparison.truth;
    cell.seconds += trial.seconds;
    cell.unit_updates += trial.moves * units;
  }
  const double repeats = std::max<double>(1, static_cast<double>(outcomes.size()));
  cell.seconds /= repeats;
  cell.unit_updates /= repeats;
  cell.errors = experiments::sum_up_errors(outcomes);
  return cell;
}

void rank_cells(std::vector<ComparisonCell>& cells) {
  // Relative: methods whose estimates differ by rounding share a rank.
  constexpr double kSame = 1e-9;
  const auto ranked = [](const ComparisonCell& c) {
    return !c.refused() && !c.errors.errors.empty();
  };
  for (ComparisonCell& cell : cells)
    if (ranked(cell))
      cell.rank = 1 + static_cast<int>(std::count_if(
                          cells.begin(), cells.end(), [&](const ComparisonCell& other) {
                            return ranked(other) && other.sweeps == cell.sweeps &&
                                   other.errors.rmse < (1 - kSame) * cell.errors.rmse;
                          }));
}

/// A cell where it is drawn.
struct Point {
  double x = 0;
  const ComparisonCell* cell = nullptr;
};

std::vector<Point> by_sweeps(const Comparison& comparison) {
  std::vector<Point> points;
  for (const ComparisonCell& cell : comparison.cells)
    points.push_back({static_cast<double>(cell.sweeps), &cell});
  return points;
}

std::array<double, 3> rmse_of(const experiments::ErrorCell& e) {
  return {e.rmse, e.lower, e.upper};
}
std::array<double, 3> bias_of(const experiments::ErrorCell& e) {
  const Interval bias = e.bias();
  return {bias.estimate, bias.lower, bias.upper};
}

// A curve per method: y with its limits at the points; rings around those that are refused.
template <class Values>
std::vector<Series> curves(const ComparisonPlan& plan, const std::vector<Point>& points,
                           const Values& values,
                           experiments::Mark mark = experiments::Mark::line_points) {
  std::vector<Series> all;
  Series rings{.label = "refused", .mark = experiments::Mark::rings, .colour = 0};
  for (const std::string& method : plan.methods) {
    Series series{.label = method, .mark = mark};
    for (const Point& point : points) {
      const ComparisonCell& cell = *point.cell;
      if (cell.method != method || cell.errors.errors.empty()) continue;
      const auto [y, lower, upper] = values(cell.errors);
      series.x.push_back(point.x);
      series.y.push_back(y);
      series.lower.push_back(lower);
      series.upper.push_back(upper);
      if (!cell.refused()) continue;
      rings.x.push_back(point.x);
      rings.y.push_back(y);
    }
    if (!series.x.empty()) all.push_back(std::move(series));
  }
  if (!rings.x.empty()) all.push_back(std::move(rings));
  return all;
}

// All models in one: RMSE at the most sweeps, the methods side by side at each model.
experiments::Figure models_figure(const ComparisonPlan& plan,
                                  const std::vector<Comparison>& comparisons,
                                  const experiments::Axis& rmse) {
  const int most = *std::max_element(plan.sweeps.begin(), plan.sweeps.end());
  const auto methods = static_cast<double>(plan.methods.size());
  experiments::Panel panel{
      .title =
          fmt::format("{} sweeps of {} chains, {} repeats", most, plan.shared.chains, plan.repeats),
      .x = {.label = "model", .low = 0.5, .high = static_cast<double>(comparisons.size()) + 0.5},
      .y = rmse,
      .legend = "outside right"};
  std::vector<Point> points;
  for (std::size_t m = 0; m < comparisons.size(); ++m) {
    panel.x.ticks.emplace_back(experiments::plain_label(comparisons[m].model), m + 1.0);
    for (const ComparisonCell& cell : comparisons[m].cells) {
      if (cell.sweeps != most) continue;
      const auto method = std::find(plan.methods.begin(), plan.methods.end(), cell.method);
      const auto place = static_cast<double>(method - plan.methods.begin());
      points.push_back({static_cast<double>(m) + 1 + 0.7 * ((place + 0.5) / methods - 0.5), &cell});
    }
  }
  panel.series = curves(plan, points, rmse_of, experiments::Mark::points);
  return {.name = "models", .caption = panel.title, .panels = {panel}};
}

}  // namespace

bool shares_run(const std::string& method) {
  return find_method(method).source == Source::tempered;
}

double planned_sweeps(const ComparisonPlan& plan) {
  const auto own = std::count_if(plan.methods.begin(), plan.methods.end(),
                                 [](const std::string& m) { return !shares_run(m); });
  const bool shared = own < static_cast<std::ptrdiff_t>(plan.methods.size());
  double sweeps = 0;
  for (const int n : plan.sweeps) sweeps += n;
  return sweeps * plan.repeats * (static_cast<double>(own) + (shared ? 1 : 0));
}

void sum_up_cells(const ComparisonPlan& plan, int units, Comparison& comparison) {
  for (const std::string& method : plan.methods)
    for (const int sweeps : plan.sweeps)
      comparison.cells.push_back(sum_up_cell(comparison, method, sweeps, units));
  rank_cells(comparison.cells);
}

Table comparison_table(const std::vector<Comparison>& comparisons) {
  Table table{.name = "compare",
              .caption = "Errors of log Z in nats.",
              .columns = {{"model", "model"},
                          {"log Z", "truth"},
                          {"method", "method"},
                          {"sweeps", "sweeps"},
                          {"repeats", "repeats"},
                          {"refused", "refused"},
                          {"mean", "mean"},
                          {"bias", "bias"},
                          {"standard deviation", "std_dev"},
                          {"RMSE", "rmse"},
                          {"mean standard error", "mean_std_error"},
                          {"covered", "covered"},
                          {"unit updates", "unit_updates"},
                          {"rank", "rank"}}};
  for (const Comparison& comparison : comparisons)
    for (const ComparisonCell& c : comparison.cells) {
      const experiments::ErrorCell& e = c.errors;
      const auto number = [&](const auto& value) {
        return e.errors.empty() ? Cell(experiments::NotRun{}) : Cell(value);
      };
      table.rows.push_back(
          {comparison.model, comparison.truth, c.method, std::int64_t{c.sweeps},
           std::int64_t{e.estimates}, std::int64_t{e.refused}, number(comparison.truth + e.mean),
           number(e.mean), e.empty() ? Cell(experiments::NotRun{}) : Cell(e.std_dev),
           number(experiments::WithInterval{e.rmse, e.lower, e.upper}), number(e.mean_std_error),
           e.ok() > 0 ? Cell(e.coverage().estimate) : Cell(experiments::NotRun{}), c.unit_updates,
           c.rank > 0 ? Cell(std::int64_t{c.rank}) : Cell(experiments::NotRun{})});
    }
  return table;
}

Table trials_table(const std::vector<Comparison>& comparisons) {
  Table table{.name = "estimates",
              .caption = "Every estimate.",
              .columns = {{"model", "model"},
                          {"method", "method"},
                          {"sweeps", "sweeps"},
                          {"repeat", "repeat"},
                          {"log Z", "log_z"},
                          {"standard error", "std_error"},
                          {"lower", "lower"},
                          {"upper", "upper"},
                          {"effective samples", "effective_samples"},
                          {"status", "status"}}};
  for (const Comparison& comparison : comparisons)
    for (const ComparisonTrial& t : comparison.trials)
      table.rows.push_back({comparison.model, t.method, std::int64_t{t.sweeps},
                            std::int64_t{t.repeat}, t.outcome.estimate, t.outcome.std_error,
                            t.outcome.lower, t.outcome.upper, t.effective_samples, t.status});
  return table;
}

std::vector<experiments::Figure> comparison_figures(const ComparisonPlan& plan,
                                                    const std::vector<Comparison>& comparisons) {
  const experiments::Axis sweeps{.label = "sweeps per chain", .log = true},
      rmse{.label = "RMSE of log Z / nats (bars: 95 %)", .log = true},
      bias{.label = "mean error of log Z / nats (bars: 95 %)"};
  const std::string runs = fmt::format("{} chains, {} repeats", plan.shared.chains, plan.repeats);
  std::vector<experiments::Figure> figures = {{.name = "rmse", .caption = runs},
                                              {.name = "bias", .caption = runs}};
  for (const Comparison& comparison : comparisons) {
    const std::string title =
        fmt::format("{}: log Z = {:.3f}, {}", experiments::plain_label(comparison.model),
                    comparison.truth, runs);
    const auto panel = [&](const experiments::Axis& y, const auto& values) {
      return experiments::Panel{.title = title,
                                .x = sweeps,
                                .y = y,
                                .series = curves(plan, by_sweeps(comparison), values),
                                .legend = "outside right"};
    };
    figures[0].panels.push_back(panel(rmse, rmse_of));
    figures[1].panels.push_back(panel(bias, bias_of));
    figures[1].panels.back().guides = {{.at = 0}};
  }
  if (comparisons.size() > 1) figures.push_back(models_figure(plan, comparisons, rmse));
  return figures;
}

}  // namespace boltzmark::cli
