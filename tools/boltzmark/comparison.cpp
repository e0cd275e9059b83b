#include "comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "boltzmark/estimate/closing.hpp"
#include "experiments/kit/plot.hpp"
#include "progress.hpp"

namespace boltzmark::cli {
namespace {

using experiments::Cell;
using experiments::Series;
using experiments::Table;

bool shares_run(const std::string& method) {
  return find_method(method).source == Source::tempered;
}

// Each method once; `ran` is called after every run of the sampler.
std::vector<ComparisonTrial> run_methods(const std::vector<std::string>& methods,
                                         const LayeredTarget& target,
                                         const MethodSettings& settings,
                                         const std::function<void()>& ran) {
  std::vector<ComparisonTrial> trials;
  MethodRuns runs(target, settings);
  std::optional<double> shared_seconds;
  for (const std::string& method : methods) {
    const bool shares = shares_run(method);
    if (shares && !shared_seconds) {
      const Stopwatch watch;
      runs.tempered();
      shared_seconds = watch.seconds();
      ran();
    }
    const Stopwatch watch;
    ComparisonTrial trial{.method = method, .estimate = runs.estimate(method)};
    trial.seconds = watch.seconds() + (shares ? *shared_seconds : 0);
    if (!shares) ran();
    trials.push_back(std::move(trial));
  }
  return trials;
}

ComparisonCell sum_up_cell(const ComparisonPlan& plan, const std::vector<ComparisonTrial>& trials,
                           const std::string& method, int sweeps, int units) {
  ComparisonCell cell{.method = method, .sweeps = sweeps};
  std::vector<experiments::Outcome> outcomes;
  for (const ComparisonTrial& trial : trials) {
    if (trial.method != method || trial.sweeps != sweeps) continue;
    outcomes.push_back(experiments::make_outcome(trial.estimate, plan.truth));
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
  const auto ranked = [](const ComparisonCell& c) {
    return !c.refused() && !c.errors.errors.empty();
  };
  for (ComparisonCell& cell : cells)
    if (ranked(cell))
      cell.rank = 1 + static_cast<int>(std::count_if(
                          cells.begin(), cells.end(), [&](const ComparisonCell& other) {
                            return ranked(other) && other.sweeps == cell.sweeps &&
                                   other.errors.rmse < cell.errors.rmse;
                          }));
}

// A curve per method: y with its limits against sweeps; rings around the points that are refused.
template <class Values>
std::vector<Series> curves(const ComparisonPlan& plan, const std::vector<ComparisonCell>& cells,
                           const Values& values) {
  std::vector<Series> all;
  Series rings{.label = "refused", .mark = experiments::Mark::rings, .colour = 0};
  for (const std::string& method : plan.methods) {
    Series series{.label = method, .mark = experiments::Mark::line_points};
    for (const ComparisonCell& cell : cells) {
      if (cell.method != method || cell.errors.errors.empty()) continue;
      const auto [y, lower, upper] = values(cell.errors);
      series.x.push_back(cell.sweeps);
      series.y.push_back(y);
      series.lower.push_back(lower);
      series.upper.push_back(upper);
      if (!cell.refused()) continue;
      rings.x.push_back(cell.sweeps);
      rings.y.push_back(y);
    }
    if (!series.x.empty()) all.push_back(std::move(series));
  }
  if (!rings.x.empty()) all.push_back(std::move(rings));
  return all;
}

}  // namespace

double planned_sweeps(const ComparisonPlan& plan) {
  const auto own = std::count_if(plan.methods.begin(), plan.methods.end(),
                                 [](const std::string& m) { return !shares_run(m); });
  const bool shared = own < static_cast<std::ptrdiff_t>(plan.methods.size());
  double sweeps = 0;
  for (const int n : plan.sweeps) sweeps += n;
  return sweeps * plan.repeats * (static_cast<double>(own) + (shared ? 1 : 0));
}

std::vector<ComparisonTrial> run_comparison(const ComparisonPlan& plan, const Layered& model,
                                            const LayeredTarget& target,
                                            const std::function<void(double)>& report) {
  std::vector<ComparisonTrial> trials;
  double done = 0;
  for (const int sweeps : plan.sweeps)
    for (int repeat = 0; repeat < plan.repeats; ++repeat) {
      EstimateArguments arguments = plan.shared;
      arguments.sweeps = sweeps;
      arguments.seed += static_cast<std::uint64_t>(repeat);
      MethodSettings settings = make_settings(model, arguments);
      adapt_ladder(target, arguments, settings);
      settings.progress = [&](double share) { report(done + share * sweeps); };
      for (ComparisonTrial& trial :
           run_methods(plan.methods, target, settings, [&] { report(done += sweeps); })) {
        refuse_below(trial.estimate, plan.lowest);
        trial.sweeps = sweeps;
        trial.repeat = repeat;
        trial.moves = method_work(trial.method, settings).moves +
                      double{1} * (sweeps - settings.sweeps) * settings.chains;
        trials.push_back(std::move(trial));
      }
    }
  return trials;
}

std::vector<ComparisonCell> sum_up(const ComparisonPlan& plan, const Layered& model,
                                   const std::vector<ComparisonTrial>& trials) {
  std::vector<ComparisonCell> cells;
  for (const std::string& method : plan.methods)
    for (const int sweeps : plan.sweeps)
      cells.push_back(sum_up_cell(plan, trials, method, sweeps, model.units()));
  rank_cells(cells);
  return cells;
}

Table comparison_table(const ComparisonPlan& plan, const std::vector<ComparisonCell>& cells) {
  Table table{.name = "compare",
              .caption = "Errors of log Z in nats.",
              .columns = {{"method", "method"},
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
  for (const ComparisonCell& c : cells) {
    const experiments::ErrorCell& e = c.errors;
    const bool any = !e.errors.empty();
    const auto number = [&](double x) { return any ? Cell(x) : Cell(experiments::NotRun{}); };
    table.rows.push_back(
        {c.method, std::int64_t{c.sweeps}, std::int64_t{e.estimates}, std::int64_t{e.refused},
         number(plan.truth + e.mean), number(e.mean), number(e.std_dev),
         any ? Cell(experiments::Estimate{e.rmse, e.lower, e.upper}) : Cell(experiments::NotRun{}),
         number(e.mean_std_error),
         e.ok() > 0 ? Cell(e.coverage().estimate) : Cell(experiments::NotRun{}), c.unit_updates,
         c.rank > 0 ? Cell(std::int64_t{c.rank}) : Cell(experiments::NotRun{})});
  }
  return table;
}

Table trials_table(const std::vector<ComparisonTrial>& trials) {
  Table table{.name = "estimates",
              .caption = "Every estimate.",
              .columns = {{"method", "method"},
                          {"sweeps", "sweeps"},
                          {"repeat", "repeat"},
                          {"log Z", "log_z"},
                          {"standard error", "std_error"},
                          {"lower", "lower"},
                          {"upper", "upper"},
                          {"effective samples", "effective_samples"},
                          {"status", "status"}}};
  for (const ComparisonTrial& t : trials)
    table.rows.push_back({t.method, std::int64_t{t.sweeps}, std::int64_t{t.repeat},
                          t.estimate.log_z, t.estimate.std_error, t.estimate.lower,
                          t.estimate.upper, t.estimate.effective_samples,
                          std::string(name(t.estimate.status))});
  return table;
}

std::vector<experiments::Figure> comparison_figures(const ComparisonPlan& plan,
                                                    const std::string& model,
                                                    const std::vector<ComparisonCell>& cells) {
  const std::string title =
      fmt::format("{}: log Z = {:.3f}, {} chains, {} repeats", experiments::plain_label(model),
                  plan.truth, plan.shared.chains, plan.repeats);
  const experiments::Axis sweeps{.label = "sweeps per chain", .log = true};
  experiments::Panel rmse{.title = title,
                          .x = sweeps,
                          .y = {.label = "RMSE of log Z / nats (bars: 95 %)", .log = true},
                          .legend = "outside right"};
  rmse.series = curves(plan, cells, [](const experiments::ErrorCell& e) {
    return std::array{e.rmse, e.lower, e.upper};
  });
  experiments::Panel bias{.title = title,
                          .x = sweeps,
                          .y = {.label = "mean error of log Z / nats (bars: 95 %)"},
                          .guides = {{.at = 0}},
                          .legend = "outside right"};
  bias.series = curves(plan, cells, [](const experiments::ErrorCell& e) {
    const Interval bias = e.bias();
    return std::array{bias.estimate, bias.lower, bias.upper};
  });
  return {{.name = "rmse", .caption = title, .panels = {std::move(rmse)}},
          {.name = "bias", .caption = title, .panels = {std::move(bias)}}};
}

}  // namespace boltzmark::cli
