#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "boltzmark/estimate/mbar.hpp"
#include "boltzmark/estimate/rts.hpp"
#include "boltzmark/estimate/simulated_tempering.hpp"
#include "boltzmark/estimate/thermodynamic_integration.hpp"
#include "boltzmark/random/stream.hpp"
#include "experiments/carlson2016/models.hpp"
#include "experiments/carlson2016/ratios.hpp"
#include "experiments/kit/published.hpp"
#include "experiments/kit/results.hpp"

namespace boltzmark::experiments {
namespace {

constexpr const char* kModel = "cd25";
constexpr double kPublishedLogZ = 451.255;
constexpr int kChains = 100;
constexpr int kDraws = 10000;  // samples of one estimate
constexpr double kAddedCount = 0.1;
const std::vector<std::string> kMethods = {"RTS", "TS", "MBAR", "TI", "TI-RB"};

constexpr PerProfile<int> kSweeps{.smoke = 60, .quick = 2000, .paper = 30000};
constexpr PerProfile<int> kRuns{.smoke = 1, .quick = 1, .paper = 10};
constexpr PerProfile<int> kEstimates{.smoke = 4, .quick = 200, .paper = 200};
constexpr PerProfile<int> kMbarEstimates{.smoke = 2, .quick = 20, .paper = 20};
/// Fewest rungs that claims are judged on: with fewer, a short run makes no round trips, and the
/// samples drawn from it know nothing of log Z.
constexpr PerProfile<int> kLeastRungs{.smoke = 26, .quick = 26, .paper = 11};
constexpr PerProfile<int> kMbarRungs{.smoke = 11, .quick = 251, .paper = 1001};
const PerProfile<std::vector<int>> kRungs{.smoke = {6, 11},
                                          .quick = {6, 11, 26, 51, 126, 251, 501, 1001},
                                          .paper = {6, 11, 26, 51, 126, 251, 501, 1001}};

std::vector<Json> trials(Profile profile) {
  std::vector<Json> all;
  for (int run = 1; run <= kRuns.at(profile); ++run)
    for (const int rungs : kRungs.at(profile))
      all.push_back(
          {{"file", carlson_model_file(kModel)},
           {"rungs", rungs},
           {"run", run},
           {"sweeps", kSweeps.at(profile)},
           {"estimates", kEstimates.at(profile)},
           {"mbar_estimates", rungs <= kMbarRungs.at(profile) ? kMbarEstimates.at(profile) : 0}});
  return all;
}

/// Draws samples with replacement: as many chains of one sweep each as there would be groups.
SampleStore resample(const SampleStore& pool, Stream& stream) {
  SampleStore drawn{
      .ladder = pool.ladder, .log_prior = pool.log_prior, .log_z_hat = pool.log_z_hat};
  drawn.log_ratio.resize(kDraws / kChains, kChains);
  drawn.rung.resize(kDraws / kChains, kChains);
  for (Eigen::Index i = 0; i < drawn.log_ratio.size(); ++i) {
    const auto from =
        static_cast<Eigen::Index>(stream.below(static_cast<std::uint64_t>(pool.log_ratio.size())));
    drawn.log_ratio(i) = pool.log_ratio(from);
    drawn.rung(i) = pool.rung(from);
  }
  return drawn;
}

Json run(const Json& inputs, const TrialContext& context) {
  const int estimates = inputs.at("estimates"), mbar_estimates = inputs.at("mbar_estimates");
  const TemperedRun pool =
      simulated_tempering(carlson_target(kModel, "rates"),
                          {.chains = kChains,
                           .sweeps = inputs.at("sweeps"),
                           .ladder = Ladder::linear(inputs.at("rungs")),
                           .key = context.key,
                           .progress = [&](double share) { context.progress(share / 2); }});
  const SampleStore& store = pool.store;
  std::map<std::string, std::vector<double>> found;
  for (int i = 0; i < estimates; ++i) {
    Stream stream(context.key, Purpose::bootstrap, static_cast<std::uint64_t>(i));
    const SampleStore drawn = resample(store, stream);
    const RungSums soft = sum_by_rung(drawn, Assignment::soft);
    const RungSums hard = sum_by_rung(drawn, Assignment::hard);
    const TiOptions ti{.interpolate_empty = true};
    found["RTS"].push_back(rts(soft, store.log_prior, store.log_z_hat).log_z);
    found["TS"].push_back(
        ts(hard, store.log_prior, store.log_z_hat, {.added_count = kAddedCount}).log_z);
    found["TI"].push_back(thermodynamic_integration(hard, store.ladder, ti).log_z);
    found["TI-RB"].push_back(thermodynamic_integration(soft, store.ladder, ti).log_z);
    if (i < mbar_estimates) found["MBAR"].push_back(mbar(drawn).log_z);
    context.progress(0.5 + 0.5 * (i + 1) / estimates);
  }
  return {{"log_z", found},
          {"run_log_z", rts(pool.sums, store.log_prior, store.log_z_hat).log_z},
          {"round_trips", pool.trips}};
}

/// The log Z that errors are taken from: the published one where runs are long, and otherwise what
/// RTS makes of all samples of the run, because the error of a short run, common to all methods,
/// would hide what distinguishes them.
double reference(const Results& results, const Trial& trial) {
  const bool published = has_published_cd25() && results.profile() == Profile::paper;
  return published ? kPublishedLogZ : number(trial.outputs.at("run_log_z"));
}

/// The errors of one method, run by run.
std::vector<std::vector<double>> errors(const Results& results, int rungs,
                                        const std::string& method) {
  std::vector<std::vector<double>> all;
  for (const Trial* trial : results.where({{"rungs", rungs}})) {
    const Json& estimates = trial->outputs.at("log_z");
    if (!estimates.contains(method)) continue;
    all.push_back(numbers(estimates.at(method)));
    for (double& log_z : all.back()) log_z -= reference(results, *trial);
  }
  return all;
}

/// What the bootstrap of the claims draws: runs if there are enough, otherwise estimates. Entry i
/// is the mean square error of run i, or that of estimate i over runs.
std::vector<double> squares(const Results& results, int rungs, const std::string& method) {
  constexpr std::size_t kEnoughRuns = 5;
  const std::vector<std::vector<double>> runs = errors(results, rungs, method);
  std::vector<double> all;
  if (runs.size() >= kEnoughRuns)
    for (const std::vector<double>& run : runs) all.push_back(std::pow(rmse(run), 2));
  else
    for (std::size_t i = 0; !runs.empty() && i < runs[0].size(); ++i) {
      double sum = 0;
      for (const std::vector<double>& run : runs) sum += run[i] * run[i];
      all.push_back(sum / static_cast<double>(runs.size()));
    }
  return all;
}

/// One method's mean squares at several numbers of rungs, of which RMSEs are made for any choice
/// of bootstrap rows.
class Curve {
 public:
  Curve(const Results& results, const std::string& method, int least_rungs) {
    for (const int rungs : kRungs.at(results.profile())) {
      if (rungs < least_rungs) continue;
      std::vector<double> found = squares(results, rungs, method);
      if (found.empty()) continue;
      rows_ = squares_.empty() ? found.size() : std::min(rows_, found.size());
      squares_.push_back(std::move(found));
      rungs_.push_back(rungs);
    }
  }
  std::size_t rows() const { return rows_; }
  std::size_t points() const { return squares_.size(); }
  bool holds(int rungs) const { return std::count(rungs_.begin(), rungs_.end(), rungs) == 1; }

  double rmse(std::size_t point, std::span<const std::size_t> rows) const {
    double sum = 0;
    for (const std::size_t row : rows) sum += squares_[point][row];
    return std::sqrt(sum / static_cast<double>(rows.size()));
  }
  double rmse_at(int rungs, std::span<const std::size_t> rows) const {
    const auto found = std::find(rungs_.begin(), rungs_.end(), rungs);
    return rmse(static_cast<std::size_t>(found - rungs_.begin()), rows);
  }
  double spread(std::span<const std::size_t> rows) const {
    double low = std::numeric_limits<double>::infinity(), high = 0;
    for (std::size_t point = 0; point < points(); ++point) {
      low = std::min(low, rmse(point, rows));
      high = std::max(high, rmse(point, rows));
    }
    return high / low;
  }

 private:
  std::vector<int> rungs_;
  std::vector<std::vector<double>> squares_;
  std::size_t rows_ = 0;
};

using Rows = std::span<const std::size_t>;

void add_mbar(const Results& results, Summary& summary) {
  const int least = kLeastRungs.at(results.profile());
  const Curve rts(results, "RTS", least), mbar(results, "MBAR", least);
  const std::size_t rows = std::min(rts.rows(), mbar.rows());
  if (rows < 2) return;
  Measure measure = ratio_measure({.claim = "C20", .against = 2}, rows, [&](Rows drawn) {
    double sum = 0;
    for (std::size_t i = 0; i < mbar.points(); ++i)
      sum += std::log(mbar.rmse(i, drawn) / rts.rmse(i, drawn));
    return std::exp(sum / static_cast<double>(mbar.points()));
  });
  measure.note =
      fmt::format("geometric mean over {} numbers of rungs; RTS on the same draws", mbar.points());
  measure.likely_reason =
      "both use the same samples; MBAR takes the counts of rungs as they are, RTS as they should "
      "be";
  summary.add(measure);
}

void add_at_many_rungs(const Results& results, Summary& summary) {
  const Curve rts(results, "RTS", 26), ts(results, "TS", 26), ti(results, "TI", 26),
      rb(results, "TI-RB", 26);
  if (!rts.holds(1001) || !rts.holds(26)) return;
  const auto add = [&](const RatioClaim& claim, const RowStatistic& statistic) {
    summary.add(ratio_measure(claim, rts.rows(), statistic));
  };
  const auto ratio = [](const Curve& a, const Curve& b, int rungs, Rows rows) {
    return a.rmse_at(rungs, rows) / b.rmse_at(rungs, rows);
  };
  add({.claim = "C27", .against = 0.29}, [&](Rows rows) { return ratio(rb, ti, 1001, rows); });
  add({.claim = "C36", .threshold = 2, .against = 1.62},
      [&](Rows rows) { return rts.spread(rows); });
  add({.claim = "C37", .part = "at K = 1001", .threshold = 1.2, .against = 1.05},
      [&](Rows rows) { return ratio(rb, rts, 1001, rows); });
  add({.claim = "C37", .part = "at K = 26 over K = 1001", .against = 9.1},
      [&](Rows rows) { return ratio(rb, rts, 26, rows) / ratio(rb, rts, 1001, rows); });
  add({.claim = "C38", .threshold = 2, .against = 6.4},
      [&](Rows rows) { return ts.rmse_at(1001, rows) / ts.rmse_at(26, rows); });
}

void add_sensitivity(const Results& results, Summary& summary) {
  const int least = kLeastRungs.at(results.profile());
  const Curve rts(results, "RTS", least), ti(results, "TI", least);
  if (rts.points() < 2) return;
  summary.add(ratio_measure({.claim = "C39", .against = 0.5}, rts.rows(),
                            [&](Rows rows) { return rts.spread(rows) / ti.spread(rows); }));
}

Series measured(const Results& results, const std::string& method, int colour) {
  Series series{.label = method, .mark = Mark::line_points, .colour = colour};
  for (const int rungs : kRungs.at(results.profile())) {
    std::vector<double> all;
    for (const std::vector<double>& run : errors(results, rungs, method))
      all.insert(all.end(), run.begin(), run.end());
    if (all.empty()) continue;
    series.x.push_back(rungs);
    series.y.push_back(rmse(all));
  }
  return series;
}

void add_table(const Results& results, Summary& summary) {
  Table table{.name = "rmse-table",
              .caption = "Errors of log Z in nats, from 10,000 samples an estimate.",
              .columns = {{"K", "rungs"},
                          {"method", "method"},
                          {"runs", "runs"},
                          {"estimates", "estimates"},
                          {"mean error", "mean_error"},
                          {"RMSE", "rmse"}}};
  for (const int rungs : kRungs.at(results.profile()))
    for (const std::string& method : kMethods) {
      std::vector<double> all;
      const auto runs = errors(results, rungs, method);
      for (const std::vector<double>& run : runs) all.insert(all.end(), run.begin(), run.end());
      double mean = 0;
      for (const double error : all) mean += error / static_cast<double>(all.size());
      const auto count = [](std::size_t n) { return static_cast<std::int64_t>(n); };
      table.rows.push_back({count(static_cast<std::size_t>(rungs)), method, count(runs.size()),
                            count(all.size()), all.empty() ? Cell(NotRun{}) : Cell(mean),
                            all.empty() ? Cell(NotRun{}) : Cell(rmse_estimate(all))});
    }
  summary.add(std::move(table));
}

/// What the runs that samples are drawn from say themselves.
void add_runs(const Results& results, Summary& summary) {
  Table table{
      .name = "runs",
      .caption = "Log Z in nats by RTS from all samples of each run.",
      .columns = {
          {"K", "rungs"}, {"run", "run"}, {"round trips", "round_trips"}, {"log Z", "log_z"}}};
  for (const Trial& trial : results.trials())
    table.rows.push_back(
        {std::int64_t{trial.inputs.at("rungs")}, std::int64_t{trial.inputs.at("run")},
         std::int64_t{trial.outputs.at("round_trips")}, number(trial.outputs.at("run_log_z"))});
  summary.add(std::move(table));
}

void summarise(const Results& results, Summary& summary) {
  if (results.empty()) return;
  Panel ours{.title = "measured",
             .x = {.label = "inverse temperatures K", .log = true},
             .y = {.label = "RMSE of log Z / nats", .log = true, .low = 0.03, .high = 20},
             .series = {},
             .legend = "top right"};
  Panel theirs = ours;
  theirs.title = "published, digitised";
  for (std::size_t m = 0; m < kMethods.size(); ++m) {
    const int colour = static_cast<int>(m);
    const PublishedCurve curve =
        find_published("carlson2016_fig3_fig4", "4_rmse_vs_K", kMethods[m]);
    Series series = measured(results, kMethods[m], colour);
    if (!series.x.empty()) ours.series.push_back(std::move(series));
    theirs.series.push_back({.label = kMethods[m],
                             .x = curve.x,
                             .y = curve.y,
                             .mark = Mark::line_points,
                             .colour = colour});
  }
  summary.add(Figure{.name = "rmse",
                     .caption = "RMSE of log Z of the 784-500 RBM from 10,000 samples drawn from "
                                "one tempered run, against the number of inverse temperatures.",
                     .panels = {std::move(ours), std::move(theirs)},
                     .columns = 2});
  add_table(results, summary);
  add_runs(results, summary);
  summary.note(has_published_cd25() && results.profile() == Profile::paper
                   ? "Errors are taken from the published log Z, 451.255."
                   : "Errors are taken from what RTS makes of all samples of the same run: at this "
                     "length the run's own error, common to all methods, would hide the rest. "
                     "Intervals hold for this run.");
  add_mbar(results, summary);
  add_at_many_rungs(results, summary);
  add_sensitivity(results, summary);
}

}  // namespace

Experiment carlson2016_fig4() {
  return {
      .id = "carlson2016/fig4",
      .item = "Fig. 4",
      .title = "How does the error of log Z depend on the number of inverse temperatures?",
      .paper_did =
          "Drew 3,000,000 samples of the 784-500 RBM (CD-25) by simulated tempering at each of "
          "eight numbers of inverse temperatures; RMSE over 200 estimates (MBAR 20), each from "
          "10,000 bootstrapped samples. TS adds 0.1 to every bin; TI interpolates empty bins.",
      .settings = {.smoke = "6 and 11 inverse temperatures, 60 sweeps, 4 estimates.",
                   .quick = "One run of 2,000 sweeps of 100 chains at every K; 200 estimates, MBAR "
                            "20 and up to K = 251.",
                   .paper = "10 runs of 30,000 sweeps of 100 chains at every K."},
      .seconds = {.smoke = 1, .quick = 60, .paper = 12000},
      .claims = {"C20", "C27", "C36", "C37", "C38", "C39"},
      .deviations =
          {"Linear ladders; the paper's are not given. TI is the trapezoid, as TI-RB.",
           "Joint states, of which all five estimators can be made.",
           "The run's start, an annealed pass, counts as sweeps and its samples are not drawn.",
           "quick: errors are taken from the run's own estimate by RTS, and claims are judged from "
           "K = 26, because 2,000 sweeps make no round trips at K = 6 and 11."},
      .data = carlson_data({kModel}),
      .trials = trials,
      .run = run,
      .summarise = summarise,
  };
}

}  // namespace boltzmark::experiments
