#include "experiments/carlson2016/support/rung_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/carlson2016/support/ratios.hpp"
#include "experiments/carlson2016/support/rung_errors.hpp"
#include "experiments/kit/errors.hpp"
#include "experiments/kit/published.hpp"

namespace boltzmark::experiments {
namespace {

const std::vector<std::string> kEstimators = {"RTS", "TS", "MBAR", "TI", "TI-RB"};
constexpr int kLeastRungs = 11;   // fewest rungs that C20 and C39 are about
constexpr int kFewRungs = 26;     // C36 to C38 compare these
constexpr int kManyRungs = 1001;  // with these
using Rows = std::span<const std::size_t>;

std::vector<double> all_errors(const Results& results, const RungPools& pools, int rungs,
                               const std::string& method) {
  std::vector<double> all;
  for (const auto& pool : rung_errors(results, pools.model, rungs, method))
    all.insert(all.end(), pool.begin(), pool.end());
  return all;
}

Panel panel_of(const Results& results, const RungPools& pools, const Panel& frame) {
  Panel panel = frame;
  panel.title = pools.title;
  for (std::size_t m = 0; m < kEstimators.size(); ++m) {
    Series series{
        .label = kEstimators[m], .mark = Mark::line_points, .colour = static_cast<int>(m)};
    for (const Json& rungs : results.inputs("rungs")) {
      const std::vector<double> errors = all_errors(results, pools, rungs, kEstimators[m]);
      if (errors.empty()) continue;
      const Estimate found = rmse_estimate(errors);
      series.x.push_back(rungs);
      series.y.push_back(found.value);
      series.lower.push_back(found.lower);
      series.upper.push_back(found.upper);
    }
    if (!series.x.empty()) panel.series.push_back(std::move(series));
  }
  return panel;
}

Panel published_panel(const Panel& frame) {
  Panel panel = frame;
  panel.title = "published: 784-500, digitised";
  for (std::size_t m = 0; m < kEstimators.size(); ++m)
    panel.series.push_back(
        published_series(find_published("carlson2016_fig3_fig4", "4_rmse_vs_K", kEstimators[m]),
                         kEstimators[m], static_cast<int>(m)));
  return panel;
}

std::vector<RungPools> pools_run(const Results& results) {
  std::vector<RungPools> found;
  for (const RungPools& pools : {kExactPools, kChainPools})
    if (!results.where({{"model", pools.model}}).empty()) found.push_back(pools);
  return found;
}

// What claims are judged on: the first `most` estimates of every pool, or all.
struct Judged {
  const Results& results;
  RungPools pools;

  RungErrors errors(const std::string& method, int least, int most = 0) const {
    return {results, pools.model, method, least, most};
  }
  /// A spread over K can but grow with more of them: one over some is no test of the paper's.
  bool every_rungs() const { return results.inputs("rungs").size() >= kPaperRungs.size(); }
  std::string note(const std::vector<int>& rungs) const {
    std::string text = fmt::format("{}, K = {}", pools.title, fmt::join(rungs, ", "));
    for (const Json& planned : results.inputs("rungs"))
      if (!rung_pools_mixed(results, pools.model, planned))
        text += fmt::format("; chains did not mix at K = {}", planned.get<int>());
    return text;
  }
};

void add_mbar(const Judged& judged, Summary& summary) {
  int most = 0;
  for (const Json& count : judged.results.inputs("mbar_estimates"))
    most = std::max(most, count.get<int>());
  const RungErrors rts = judged.errors("RTS", kLeastRungs, most),
                   mbar = judged.errors("MBAR", kLeastRungs);
  const std::size_t rows = std::min(rts.rows(), mbar.rows());
  if (rows < 2) return;
  Measure measure = ratio_measure({.claim = "C20", .against = 2}, rows, [&](Rows drawn) {
    double sum = 0;
    for (const int rungs : mbar.rungs())
      sum += std::log(mbar.rmse(rungs, drawn) / rts.rmse(rungs, drawn));
    return std::exp(sum / static_cast<double>(mbar.rungs().size()));
  });
  measure.note = "geometric mean over K, RTS on the same draws; " + judged.note(mbar.rungs());
  measure.likely_reason =
      "both use the same samples; MBAR takes the counts of rungs as they are, RTS as they should "
      "be";
  summary.add(measure);
}

void add_sensitivity(const Judged& judged, Summary& summary) {
  const RungErrors rts = judged.errors("RTS", kLeastRungs), ti = judged.errors("TI", kLeastRungs);
  if (rts.rungs().size() < 2 || rts.rows() < 2) return;
  Measure measure = ratio_measure({.claim = "C39", .against = 0.5}, rts.rows(),
                                  [&](Rows rows) { return rts.spread(rows) / ti.spread(rows); });
  measure.note = judged.note(rts.rungs());
  measure.decidable = judged.every_rungs();
  summary.add(measure);
}

void add_at_many_rungs(const Judged& judged, Summary& summary) {
  const RungErrors rts = judged.errors("RTS", kFewRungs), ts = judged.errors("TS", kFewRungs),
                   ti = judged.errors("TI", kFewRungs), rb = judged.errors("TI-RB", kFewRungs);
  if (!rts.has(kFewRungs) || !rts.has(kManyRungs) || rts.rows() < 2) return;
  const auto add = [&](const RatioClaim& claim, const RowStatistic& statistic) {
    Measure measure = ratio_measure(claim, rts.rows(), statistic);
    measure.note = judged.note(rts.rungs());
    if (claim.claim == "C36") measure.decidable = judged.every_rungs();
    summary.add(measure);
  };
  const auto ratio = [](const RungErrors& a, const RungErrors& b, int rungs, Rows rows) {
    return a.rmse(rungs, rows) / b.rmse(rungs, rows);
  };
  add({.claim = "C27", .against = 0.29},
      [&](Rows rows) { return ratio(rb, ti, kManyRungs, rows); });
  add({.claim = "C36", .threshold = 2, .against = 1.62},
      [&](Rows rows) { return rts.spread(rows); });
  add({.claim = "C37", .part = "at K = 1001", .threshold = 1.2, .against = 1.05},
      [&](Rows rows) { return ratio(rb, rts, kManyRungs, rows); });
  add({.claim = "C37", .part = "at K = 26 over K = 1001", .against = 9.1}, [&](Rows rows) {
    return ratio(rb, rts, kFewRungs, rows) / ratio(rb, rts, kManyRungs, rows);
  });
  add({.claim = "C38", .threshold = 2, .against = 6.4},
      [&](Rows rows) { return ts.rmse(kManyRungs, rows) / ts.rmse(kFewRungs, rows); });
}

Table error_table(const Results& results) {
  Table table{.name = "rmse-table",
              .caption = "Errors of log Z in nats, from 10,000 samples an estimate.",
              .columns = {{"RBM", "model"},
                          {"K", "rungs"},
                          {"method", "method"},
                          {"estimates", "estimates"},
                          {"mean error", "mean_error"},
                          {"RMSE", "rmse"}}};
  for (const RungPools& pools : pools_run(results))
    for (const Json& rungs : results.inputs("rungs"))
      for (const std::string& method : kEstimators) {
        const std::vector<double> errors = all_errors(results, pools, rungs, method);
        double mean = 0;
        for (const double error : errors) mean += error / static_cast<double>(errors.size());
        table.rows.push_back({std::string(pools.title), rungs.get<std::int64_t>(), method,
                              static_cast<std::int64_t>(errors.size()),
                              errors.empty() ? Cell(NotRun{}) : Cell(mean),
                              errors.empty() ? Cell(NotRun{}) : Cell(rmse_estimate(errors))});
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
                          {"log Z", "log_z"},
                          {"error", "error"}}};
  for (const Trial& pool : results.trials()) {
    const bool chains = pool.inputs.contains("run");
    const double log_z = number(pool.outputs.at("pool_log_z"));
    table.rows.push_back(
        {std::string(chains ? kChainPools.title : kExactPools.title),
         pool.inputs.at("rungs").get<std::int64_t>(),
         chains ? Cell(pool.inputs.at("run").get<std::int64_t>()) : Cell(NotRun{}),
         chains ? Cell(pool.outputs.at("round_trips").get<std::int64_t>()) : Cell(NotRun{}), log_z,
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
  Figure figure{.name = "rmse",
                .caption =
                    "RMSE of log Z from 10,000 samples drawn from one pool, against the "
                    "number of inverse temperatures. Bars: 95 %, for normal errors. The published "
                    "figure is of 784-500.",
                .columns = 2};
  for (const RungPools& pools : pools_run(results))
    figure.panels.push_back(panel_of(results, pools, frame));
  figure.panels.push_back(published_panel(frame));
  summary.add(std::move(figure));
}

void add_rung_tables(const Results& results, Summary& summary) {
  summary.add(error_table(results));
  summary.add(pool_table(results));
}

void add_rung_claims(const Results& results, Summary& summary) {
  const Judged judged{results, pools_run(results).back()};
  add_mbar(judged, summary);
  add_at_many_rungs(judged, summary);
  add_sensitivity(judged, summary);
}

}  // namespace boltzmark::experiments
