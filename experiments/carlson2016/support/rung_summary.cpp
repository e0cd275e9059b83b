#include "experiments/carlson2016/support/rung_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "experiments/carlson2016/support/ratios.hpp"
#include "experiments/carlson2016/support/rung_errors.hpp"
#include "experiments/kit/progress.hpp"
#include "experiments/kit/published.hpp"

namespace boltzmark::experiments {
namespace {

const std::vector<std::string> kEstimators = {"RTS", "TS", "MBAR", "TI", "TI-RB"};
constexpr int kLeastRungs = 11;          // fewest rungs that C20 and C39 are about
constexpr int kFewRungs = 26;            // C36 to C38 compare these
constexpr int kManyRungs = 1001;         // with these
constexpr std::size_t kEnoughRuns = 10;  // at every K, for what is largest over what is smallest

RungErrors errors_of(const Results& results, const RungPools& pools, const std::string& method) {
  return {results, pools.model, method, rungs_estimated(results, pools.model, method, 0)};
}

/// Rings around the points of every estimator where runs were refused.
Series refused_rings(const Results& results, const RungPools& pools,
                     const std::vector<Series>& curves) {
  Series rings{.label = "runs were refused", .mark = Mark::rings, .colour = 5};
  for (const Series& curve : curves)
    for (std::size_t i = 0; i < curve.x.size(); ++i)
      if (count_pools(results, pools.model, static_cast<int>(curve.x[i])).refused > 0) {
        rings.x.push_back(curve.x[i]);
        rings.y.push_back(curve.y[i]);
      }
  return rings;
}

Panel panel_of(const Results& results, const RungPools& pools, const Panel& frame) {
  Panel panel = frame;
  panel.title = pools.title;
  for (std::size_t m = 0; m < kEstimators.size(); ++m) {
    Series series{
        .label = kEstimators[m], .mark = Mark::line_points, .colour = static_cast<int>(m)};
    const RungErrors errors = errors_of(results, pools, kEstimators[m]);
    series.x.assign(errors.rungs().begin(), errors.rungs().end());
    for (const WithInterval& found : errors.estimates()) {
      series.y.push_back(found.value);
      series.lower.push_back(found.lower);
      series.upper.push_back(found.upper);
    }
    if (!series.x.empty()) panel.series.push_back(std::move(series));
  }
  if (Series rings = refused_rings(results, pools, panel.series); !rings.x.empty())
    panel.series.push_back(std::move(rings));
  return panel;
}

/// The published curves, of 784-500, digitised.
void add_published(Panel& panel) {
  for (std::size_t m = 0; m < kEstimators.size(); ++m)
    panel.series.push_back(
        published_series(find_published("carlson2016_fig3_fig4", "4_rmse_vs_K", kEstimators[m]),
                         kEstimators[m], static_cast<int>(m)));
}

std::vector<RungPools> pools_run(const Results& results) {
  std::vector<RungPools> found;
  for (const RungPools& pools : {kExactPools, kChainPools})
    if (!results.where({{"model", pools.model}}).empty()) found.push_back(pools);
  return found;
}

/// What claims are judged on.
struct Judged {
  const Results& results;
  RungPools pools;

  RungErrors errors(const std::string& method, std::vector<int> rungs, int most = 0) const {
    return {results, pools.model, method, std::move(rungs), most};
  }
  std::vector<int> rungs(const std::string& method, int least) const {
    return rungs_estimated(results, pools.model, method, least);
  }
  std::vector<int> mixed(std::vector<int> rungs) const {
    rungs.erase(
        std::remove_if(rungs.begin(), rungs.end(),
                       [&](int k) { return count_pools(results, pools.model, k).refused > 0; }),
        rungs.end());
    return rungs;
  }
  /// A spread over K can but grow with more of them: one over some is no test of the paper's. And
  /// the largest of a few noisy RMSEs over the smallest is too large.
  bool spread_told(const RungErrors& errors) const {
    const std::vector<std::size_t> rows = errors.rows();
    return results.inputs("rungs").size() >= kPaperRungs.size() &&
           *std::min_element(rows.begin(), rows.end()) >= kEnoughRuns;
  }
  std::string note(const std::vector<int>& rungs) const {
    std::string text = fmt::format("{}, K = {}", pools.title, fmt::join(rungs, ", "));
    for (const int k : rungs)
      if (const PoolCount count = count_pools(results, pools.model, k); count.refused > 0)
        text +=
            fmt::format("; {} of {} runs refused at K = {}, where chains made {} to {} round trips",
                        count.refused, count.all, k, count.fewest_trips, count.most_trips);
    return text;
  }
};

/// Adds a measure of errors at some numbers of rungs, each of which is a stratum.
/// Throws  InvalidArgument if a method has not as many rows as the first
void add_ratio(const RatioClaim& claim, const std::vector<const RungErrors*>& methods,
               const std::string& note, bool decidable, const StrataStatistic& statistic,
               Summary& summary) {
  const std::vector<std::size_t> rows = methods.front()->rows();
  for (const RungErrors* method : methods)
    if (method->rows() != rows)
      throw InvalidArgument(claim.claim + ": rows of two methods (must be as many)");
  if (rows.empty() || *std::min_element(rows.begin(), rows.end()) < 2) return;
  Measure measure = ratio_measure(claim, rows, statistic);
  measure.note = note + measure.note;
  measure.decidable = measure.decidable && decidable;
  summary.add(measure);
}

void add_mbar(const Judged& judged, const std::string& part, const std::vector<int>& rungs,
              Summary& summary) {
  int most = 0;
  for (const Json& count : judged.results.inputs("mbar_estimates"))
    most = std::max(most, count.get<int>());
  const RungErrors rts = judged.errors("RTS", rungs, most), mbar = judged.errors("MBAR", rungs);
  add_ratio(
      {.claim = "C20", .part = part, .against = 2}, {&rts, &mbar},
      "geometric mean over K, RTS on the same draws; " + judged.note(rungs), true,
      [&](const Strata& rows) {
        double sum = 0;
        for (const int k : rungs) sum += std::log(mbar.rmse(k, rows) / rts.rmse(k, rows));
        return std::exp(sum / static_cast<double>(rungs.size()));
      },
      summary);
}

void add_sensitivity(const Judged& judged, const std::string& part, const std::vector<int>& rungs,
                     Summary& summary) {
  if (rungs.size() < 2) return;
  const RungErrors rts = judged.errors("RTS", rungs), ti = judged.errors("TI", rungs);
  add_ratio(
      {.claim = "C39", .part = part, .against = 0.5}, {&rts, &ti}, judged.note(rungs),
      judged.spread_told(rts),
      [&](const Strata& rows) { return rts.spread(rows) / ti.spread(rows); }, summary);
}

void add_at_many_rungs(const Judged& judged, Summary& summary) {
  const std::vector<int> rungs = judged.rungs("RTS", kFewRungs);
  const RungErrors rts = judged.errors("RTS", rungs), ts = judged.errors("TS", rungs),
                   ti = judged.errors("TI", rungs), rb = judged.errors("TI-RB", rungs);
  if (!rts.has(kFewRungs) || !rts.has(kManyRungs)) return;
  const auto add = [&](const RatioClaim& claim, bool decidable, const StrataStatistic& statistic) {
    add_ratio(claim, {&rts, &ts, &ti, &rb}, judged.note(rungs), decidable, statistic, summary);
  };
  const auto ratio = [](const RungErrors& a, const RungErrors& b, int k, const Strata& rows) {
    return a.rmse(k, rows) / b.rmse(k, rows);
  };
  add({.claim = "C27", .against = 0.29}, true,
      [&](const Strata& rows) { return ratio(rb, ti, kManyRungs, rows); });
  add({.claim = "C36", .threshold = 2, .against = 1.62}, judged.spread_told(rts),
      [&](const Strata& rows) { return rts.spread(rows); });
  add({.claim = "C37", .part = "at K = 1001", .threshold = 1.2, .against = 1.05}, true,
      [&](const Strata& rows) { return ratio(rb, rts, kManyRungs, rows); });
  add({.claim = "C37", .part = "at K = 26 over K = 1001", .against = 9.1}, true,
      [&](const Strata& rows) {
        return ratio(rb, rts, kFewRungs, rows) / ratio(rb, rts, kManyRungs, rows);
      });
  add({.claim = "C38", .threshold = 2, .against = 6.4}, true,
      [&](const Strata& rows) { return ts.rmse(kManyRungs, rows) / ts.rmse(kFewRungs, rows); });
}

/// Says how many of the planned runs of chains the verdicts rest on, and what the others take.
std::string runs_text(const Results& results) {
  std::map<std::size_t, std::vector<int>> by_runs;
  std::size_t planned = 0;
  double seconds = 0;
  for (const Json& rungs : results.inputs("rungs")) {
    const Json cell = {{"model", kChainPools.model}, {"rungs", rungs}};
    const auto found = results.where(cell);
    if (found.empty()) continue;
    by_runs[found.size()].push_back(rungs);
    planned = std::max(planned, results.planned(cell));
    double spent = 0;
    for (const Trial* pool : found) spent += pool->seconds / static_cast<double>(found.size());
    seconds += spent * static_cast<double>(results.planned(cell) - found.size());
  }
  std::string text;
  for (const auto& [runs, rungs] : by_runs)
    text +=
        fmt::format("{}{} runs at K = {}", text.empty() ? "" : "; ", runs, fmt::join(rungs, ", "));
  text = fmt::format("{}: {}, of {} planned at each.", kChainPools.title, text, planned);
  if (seconds > 0) text += fmt::format(" The others would take about {}.", duration_text(seconds));
  return text +
         " The paper has one run of 3,000,000 samples at each K, and 200 estimates of it. Estimates "
         "of one run share its error: intervals are over runs.";
}

std::string mixing_text(const Results& results, const RungPools& pools, int rungs) {
  if (std::string_view(pools.model) == kExactPools.model) return "independent";
  const PoolCount count = count_pools(results, pools.model, rungs);
  return count.refused == 0
             ? "chains"
             : fmt::format("chains, {} of {} runs refused", count.refused, count.all);
}

Table error_table(const Results& results) {
  Table table{.name = "rmse-table",
              .caption =
                  "Errors of log Z in nats, from 10,000 samples an estimate. Intervals: over "
                  "pools, where there are several.",
              .columns = {{"RBM", "model"},
                          {"K", "rungs"},
                          {"samples", "samples"},
                          {"pools", "pools"},
                          {"method", "method"},
                          {"estimates", "estimates"},
                          {"mean error", "mean_error"},
                          {"RMSE", "rmse"}}};
  for (const RungPools& pools : pools_run(results))
    for (const Json& rungs : results.inputs("rungs"))
      for (const std::string& method : kEstimators) {
        std::vector<double> errors;
        const auto by_pool = rung_errors(results, pools.model, rungs, method);
        for (const auto& pool : by_pool) errors.insert(errors.end(), pool.begin(), pool.end());
        std::vector<Cell> row = {std::string(pools.title),
                                 rungs.get<std::int64_t>(),
                                 mixing_text(results, pools, rungs),
                                 static_cast<std::int64_t>(by_pool.size()),
                                 method,
                                 static_cast<std::int64_t>(errors.size()),
                                 NotRun{},
                                 NotRun{}};
        if (!errors.empty()) {
          row[6] = mean_of(errors);
          row[7] = RungErrors(results, pools.model, method, {rungs.get<int>()}).estimates()[0];
        }
        table.rows.push_back(std::move(row));
      }
  return table;
}

Table pool_table(const Results& results) {
  Table table{.name = "pools",
              .caption =
                  "The pools that estimates draw from: what RTS makes of all their samples, "
                  "and its error, in nats; round trips of chains.",
              .columns = {{"RBM", "model"},
                          {"K", "rungs"},
                          {"run", "run"},
                          {"round trips", "round_trips"},
                          {"mixed", "mixed"},
                          {"log Z", "log_z"},
                          {"error", "error"}}};
  for (const Trial& pool : results.trials()) {
    const bool chains = pool.inputs.contains("run");
    const double log_z = number(pool.outputs.at("pool_log_z"));
    table.rows.push_back(
        {std::string(chains ? kChainPools.title : kExactPools.title),
         pool.inputs.at("rungs").get<std::int64_t>(),
         chains ? Cell(pool.inputs.at("run").get<std::int64_t>()) : Cell(NotRun{}),
         chains ? Cell(pool.outputs.at("round_trips").get<std::int64_t>()) : Cell(NotRun{}),
         std::string(pool.outputs.value("mixed", true) ? "yes" : "no"), log_z,
         log_z - number(pool.outputs.at("truth"))});
  }
  return table;
}

}  // namespace

void add_rung_figure(const Results& results, Summary& summary) {
  const Panel frame{.x = {.label = "inverse temperatures K", .log = true},
                    .y = {.label = "RMSE of log Z / nats", .log = true, .low = 0.025, .high = 30},
                    .series = {},
                    .legend = "top right"};
  Figure figure{
      .name = "rmse",
      .caption =
          "RMSE of log Z from 10,000 samples drawn from one pool, against the "
          "number of inverse temperatures. Bars: 95 % by the bootstrap, over runs of chains "
          "(784-500) or over estimates (784-10, one pool of independent draws). Dotted: "
          "the published curves, of 784-500, digitised.",
      .columns = 2};
  for (const RungPools& pools : pools_run(results)) {
    figure.panels.push_back(panel_of(results, pools, frame));
    if (std::string_view(pools.model) == kChainPools.model) add_published(figure.panels.back());
  }
  if (results.where({{"model", kChainPools.model}}).empty()) {  // no axes of ours to draw it in
    figure.panels.push_back(frame);
    figure.panels.back().title = kChainPools.title;
    add_published(figure.panels.back());
  }
  summary.add(std::move(figure));
}

void add_rung_tables(const Results& results, Summary& summary) {
  summary.add(error_table(results));
  summary.add(pool_table(results));
  if (!results.where({{"model", kChainPools.model}}).empty()) summary.note(runs_text(results));
}

void add_rung_claims(const Results& results, Summary& summary) {
  const Judged judged{results, pools_run(results).back()};
  for (const bool all : {true, false}) {
    const auto part = all ? "K ≥ 11" : "where every run mixed";
    const auto chosen = [&](const std::string& method) {
      const std::vector<int> rungs = judged.rungs(method, kLeastRungs);
      return all ? rungs : judged.mixed(rungs);
    };
    add_mbar(judged, part, chosen("MBAR"), summary);
    add_sensitivity(judged, part, chosen("TI"), summary);
  }
  add_at_many_rungs(judged, summary);
}

}  // namespace boltzmark::experiments
