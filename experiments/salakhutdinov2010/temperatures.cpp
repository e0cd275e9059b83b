#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "boltzmark/exact/log_z.hpp"
#include "boltzmark/learn/initial.hpp"
#include "boltzmark/sample/chains/adaptive_chains.hpp"
#include "boltzmark/sample/tempering/parallel_tempering.hpp"
#include "experiments/kit/bands.hpp"
#include "experiments/kit/measures.hpp"
#include "experiments/kit/results.hpp"
#include "experiments/salakhutdinov2010/support/convergence.hpp"
#include "verification/checks/laws/adaptive_pairs.hpp"

namespace boltzmark::experiments::salakhutdinov2010_temperatures {
namespace {

constexpr int kRungs = 5;
constexpr double kLevel = 1 - 0.05 / (kRungs - 1);  // of each interval: 95 % for all together
constexpr double kLowest = 0.5, kFactor = 10;
constexpr int kChains = 50;       // of a group, each with weights of its own
constexpr int kFirstRecord = 64;  // sweep of the first record; each next one twice as late
constexpr PerProfile<int> kChainGroups{.smoke = 2, .quick = 8, .paper = 40};
constexpr PerProfile<int> kSweepRecords{.smoke = 4, .quick = 10, .paper = 13};

Layered small_machine(const TrialContext& context) {
  return initial_network(std::vector{4, 3, 3}, 1, context.shared_key("model"));
}

std::vector<float> ladder() { return uniform_ladder(kRungs, kLowest); }

std::vector<Json> trials(Profile profile) {
  std::vector<Json> all;
  for (int group = 0; group < kChainGroups.at(profile); ++group)
    all.push_back({{"group", group}, {"chains", kChains}, {"records", kSweepRecords.at(profile)}});
  return all;
}

/// Outputs  imbalance, rmse [records]: mean over chains of max_k |K share_k - 1|, and root mean
/// square over chains and rungs of the error of log g; last [chains][rungs]: that error at the end
Json run(const Json& inputs, const TrialContext& context) {
  const Layered model = small_machine(context);
  const Eigen::VectorXd log_z = rung_log_z(model, ladder());
  AdaptiveChains chains({.model = model,
                         .packing = {.chains = kChains, .sweeps = 10000},
                         .key = context.key,
                         .draws = std::make_shared<PhiloxDraws>(context.key)},
                        0, {.inverse_temperatures = ladder(), .factor = {true, kFactor}});
  const int records = inputs.at("records");
  Eigen::MatrixXd visits = Eigen::MatrixXd::Zero(kRungs, kChains), errors = visits;
  std::vector<double> imbalance, rmse;
  for (int record = 0; record < records; ++record) {
    while (chains.sweeps() < static_cast<std::uint64_t>(kFirstRecord) << record) {
      chains.sweep();
      chains.move_rungs();
      for (int c = 0; c < kChains; ++c) ++visits(chains.rung(c), c);
    }
    for (int c = 0; c < kChains; ++c)
      for (int k = 0; k < kRungs; ++k)
        errors(k, c) = chains.weights().log_g(c)[k] - (log_z[k] - log_z[kRungs - 1]);
    const Eigen::ArrayXXd shares = visits.array() / static_cast<double>(chains.sweeps());
    imbalance.push_back((kRungs * shares - 1).abs().colwise().maxCoeff().mean());
    rmse.push_back(std::sqrt(errors.topRows(kRungs - 1).squaredNorm() / (kChains * (kRungs - 1))));
    context.progress(static_cast<double>(record + 1) / records);
  }
  Json last = Json::array();
  for (int c = 0; c < kChains; ++c)
    last.push_back(std::vector<double>(errors.col(c).begin(), errors.col(c).end()));
  return {{"imbalance", imbalance}, {"rmse", rmse}, {"last", last}};
}

std::vector<std::vector<double>> curves_of(const Results& results, const char* what) {
  std::vector<std::vector<double>> curves;
  for (const Trial& trial : results.trials()) curves.push_back(numbers(trial.outputs.at(what)));
  return curves;
}

/// The last error of one rung, of every chain.
std::vector<double> last_errors(const Results& results, int rung) {
  std::vector<double> all;
  for (const Trial& trial : results.trials())
    for (const Json& chain : trial.outputs.at("last")) all.push_back(number(chain.at(rung)));
  return all;
}

// For the rungs below b = 1 together.
Interval rung_interval(const Results& results, int rung) {
  return mean_interval(last_errors(results, rung), kLevel);
}

void add_figure(const Results& results, Summary& summary) {
  Panel panel{.x = {.label = "sweeps", .log = true},
              .y = {.label = "distance", .log = true},
              .legend = "bottom left"};
  for (const auto& [what, label] :
       {std::pair{"imbalance", "largest |K share_k − 1|, mean over chains"},
        std::pair{"rmse", "RMSE of log g_k − log g_1 / nats"}}) {
    const auto curves = curves_of(results, what);
    panel.series.push_back(
        band({.label = label}, doubling_times(kFirstRecord, curves.front().size()), curves));
  }
  summary.add(
      Figure{.name = "convergence",
             .caption = "How evenly the temperatures are visited, and how far the weights are from "
                        "the ratios of partition functions: means over groups of 50 chains with "
                        "95 % bands.",
             .panels = {std::move(panel)}});
}

void add_table(const Results& results, Summary& summary) {
  Table table{.name = "weights",
              .caption =
                  "Mean error of log g_k − log g_1 at the end, over all chains, with "
                  "intervals that hold for all temperatures together (95 %, Bonferroni).",
              .columns = {{"inverse temperature", "b"}, {"error / nats", "error", 4}}};
  for (int rung = 0; rung + 1 < kRungs; ++rung)
    table.rows.push_back(
        {static_cast<double>(ladder()[rung]), with_interval(rung_interval(results, rung))});
  summary.add(std::move(table));
}

void summarise(const Results& results, Summary& summary) {
  if (results.empty()) return;
  add_figure(results, summary);
  add_table(results, summary);
  if (results.profile() == Profile::smoke || results.trials().size() < results.planned()) return;
  summary.add(mean_measure({.claim = "S10", .part = "occupancy, slope"},
                           log_slopes(curves_of(results, "imbalance"))));
  summary.add(mean_measure({.claim = "S10", .part = "weights, slope"},
                           log_slopes(curves_of(results, "rmse"))));
  std::vector<double> ends;
  for (const std::vector<double>& curve : curves_of(results, "imbalance"))
    ends.push_back(curve.back());
  summary.add(mean_measure({.claim = "S10", .part = "occupancy at the end"}, ends));
  for (int rung = 0; rung + 1 < kRungs; ++rung) {
    const Interval interval = rung_interval(results, rung);
    Measure measure = interval_measure(
        {.claim = "S10",
         .part = fmt::format("weight at b = {}", ladder()[rung]),
         .likely_reason = "a remainder of the start, or of the factor's own size, at this length"},
        interval, last_errors(results, rung).size());
    measure.interval = "98.75 %, for four temperatures";
    measure.post_hoc = true;
    measure.power = interval_power(interval, 0.02, kLevel);
    measure.power_against = "an error of 0.02 nats";
    summary.add(std::move(measure));
  }
}

}  // namespace

Experiment experiment() {
  return {
      .id = "salakhutdinov2010/temperatures",
      .item = "Sec. 5",
      .title = "Do the weights of adaptive tempering become ratios of partition functions?",
      .paper_did =
          "States that, the factor vanishing, the algorithm spends equal time at each "
          "temperature and the ratio of two weights becomes that of their partition "
          "functions.",
      .settings = {.smoke = "100 chains, 512 sweeps.",
                   .quick = "400 chains in groups of 50, 32,768 sweeps, factor 10/t, five inverse "
                            "temperatures from 1 to 0.5.",
                   .paper = "2,000 chains, 262,144 sweeps."},
      .seconds = {.smoke = 0.1, .quick = 2, .paper = 55},
      .claims = {"S10"},
      .deviations = {"The paper gives no example: a Boltzmann machine 4-3-3 with parameters from "
                     "N(0, 1), the sampler of the trainers."},
      .checks = true,
      .trials = trials,
      .run = run,
      .summarise = summarise,
  };
}

}  // namespace boltzmark::experiments::salakhutdinov2010_temperatures
