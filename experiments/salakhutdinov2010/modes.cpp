#include "experiments/salakhutdinov2010/support/modes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "experiments/kit/bands.hpp"
#include "experiments/kit/measures.hpp"
#include "experiments/kit/published.hpp"
#include "experiments/salakhutdinov2010/support/curves.hpp"

namespace boltzmark::experiments::salakhutdinov2010_modes {
namespace {

constexpr PerProfile<int> kSeeds{.smoke = 1, .quick = 5, .paper = 10};
constexpr int kSmokeUpdates = 50;

/// A negative phase that a network is trained by. All of a network make as many sweeps of a chain an
/// update, chains at other temperatures too, but those of CAST that have as many slow chains as SAP.
struct ModesPhase {
  const char* network;
  const char* negative;  ///< with its options
  const char* title;
  double seconds;     ///< of a whole run on one core, about
  bool quick = true;  ///< runs at quick, not at paper alone
};
constexpr ModesPhase kPhases[] = {
    {"rbm", "pcd:10 --chains 1", "SAP, one chain, ten sweeps", 3},
    {"rbm", "pcd:1 --chains 10", "SAP, ten chains", 1.2},
    {"rbm", "fpcd:1 --chains 10", "FPCD, ten chains", 2},
    {"rbm", "pt:10:1 --chains 10", "PT, ten rungs", 1.6},
    {"rbm", "cast:20:0.9 --chains 10", "CAST, the paper's, 5 + 5", 2},
    {"rbm", "cast:5:0 --chains 10 --swap each --factor constant:0.1", "CAST, LOW = 0, 5 + 5", 2},
    {"rbm", "cast:20:0.9 --chains 20", "CAST, the paper's, 10 + 10", 3},
    {"rbm", "cast:5:0 --chains 20 --swap each --factor constant:0.1", "CAST, LOW = 0, 10 + 10", 3},
    // A transition of 38 sweeps after as many: of half the chains it is SAP's sweeps.
    {"rbm", "tt:20:0.9 --chains 5 --every 38", "Trans-SAP, 5 chains", 1.6, false},
    {"rbm", "st:20:0.9 --chains 5", "ST, the paper's, 5 chains", 1.8, false},
    {"dbm", "pcd:1 --chains 100", "SAP, 100 chains", 1},
    {"dbm", "fpcd:1 --chains 100", "FPCD, 100 chains", 1.5},
    {"dbm", "st:20:0.9 --chains 50", "ST, the paper's, 50 chains", 1.5},
    {"dbm", "pt:10:1 --chains 100", "PT, ten ladders of ten rungs", 1.1},
    {"dbm", "cast:20:0.9 --chains 100", "CAST, the paper's, 50 + 50", 1.5},
    {"dbm", "cast:5:0 --chains 100 --swap each --factor constant:0.1", "CAST, LOW = 0, 50 + 50",
     1.5},
    {"dbm", "cast:20:0.9 --chains 200", "CAST, the paper's, 100 + 100", 2.5},
    {"dbm", "cast:5:0 --chains 200 --swap each --factor constant:0.1", "CAST, LOW = 0, 100 + 100",
     2.5},
    {"dbm", "tt:20:0.9 --chains 50 --every 38", "Trans-SAP, 50 chains", 1, false},
};
constexpr const char* kAnchorPhases[] = {"pcd:10 --chains 1", "pt:10:1 --chains 10"};

const ModesPhase& find_phase(const std::string& network, const std::string& negative) {
  return *std::find_if(std::begin(kPhases), std::end(kPhases), [&](const ModesPhase& phase) {
    return phase.network == network && phase.negative == negative;
  });
}

/// The phase's place among those of its network.
int colour_of(const ModesPhase& phase) {
  return static_cast<int>(std::count_if(
      std::begin(kPhases), &phase,
      [&](const ModesPhase& earlier) { return std::string(earlier.network) == phase.network; }));
}

/// A data set that is trained on.
struct ModesData {
  const char* name;
  const char* title;
  const char* p;  ///< probability of a flipped pixel, of Artificial Modes
  bool quick;     ///< runs at quick, not at paper alone
};
constexpr ModesData kData[] = {{"artificial-modes-0.1", "p = 0.1", "0.1", false},
                               {"artificial-modes-0.01", "p = 0.01", "0.01", true},
                               {"artificial-modes-0.001", "p = 0.001", "0.001", false},
                               {"bas", "Bars and Stripes", "", false}};
constexpr const ModesData& kJudged = kData[1];  ///< of the claims

/// What `coupling` trains too, from other seeds: the same computation, so that its runs count here beside ours.
constexpr const char* kShared[] = {"pcd:1 --chains 100", "cast:20:0.9 --chains 100",
                                   "cast:5:0 --chains 100 --swap each --factor constant:0.1"};

std::vector<Json> trials(Profile profile) {
  std::vector<Json> all;
  for (int seed = 0; seed < kSeeds.at(profile); ++seed)
    for (const ModesData& data : kData)
      for (const ModesPhase& phase : kPhases) {
        if (profile != Profile::paper && !(data.quick && phase.quick)) continue;
        const int updates = find_network(phase.network).updates;
        all.push_back({{"network", phase.network},
                       {"data", data.name},
                       {"negative", phase.negative},
                       {"seed", seed},
                       {"updates", profile == Profile::smoke ? kSmokeUpdates : updates}});
      }
  if (profile != Profile::paper) return all;
  for (int seed = kSeeds.paper; seed < 2 * kSeeds.paper; ++seed)
    for (const char* negative : kShared)
      all.push_back({{"network", "dbm"},
                     {"data", kJudged.name},
                     {"negative", negative},
                     {"seed", seed},
                     {"updates", find_network("dbm").updates}});
  return all;
}

/// Seeds beyond ours are those of `coupling`, in its order: its runs, byte for byte.
Json run(const Json& inputs, const TrialContext& context) {
  const int seed = inputs.at("seed");
  if (seed < kSeeds.paper) return train_on_modes(inputs, context);
  Json theirs = inputs;
  theirs["seed"] = seed - kSeeds.paper;
  TrialContext coupling = context;
  coupling.experiment = "salakhutdinov2010/coupling";
  return train_on_modes(theirs, coupling);
}

Json cell_of(const ModesData& data, const ModesPhase& phase) {
  return {{"network", phase.network}, {"data", data.name}, {"negative", phase.negative}};
}

/// The whole runs of a negative phase.
std::vector<const Trial*> runs_of(const Results& results, const ModesData& data,
                                  const ModesPhase& phase) {
  std::vector<const Trial*> runs = results.where(cell_of(data, phase));
  std::erase_if(runs, [](const Trial* run) { return run->outputs.contains("diverged_at"); });
  return runs;
}

std::vector<double> curve_of(const Trial& run) { return numbers(run.outputs.at("log_likelihood")); }

Panel panel_of(const Results& results, const ModesNetwork& network, const ModesData& data) {
  const double ceiling = modes_ceiling(data.name);
  Panel panel{.title = fmt::format("{}, {}", network.title, data.title),
              .x = {.label = "updates / 1000"},
              .y = {.label = "log-likelihood / (nats per case)", .low = -16, .high = -1},
              .guides = {{.at = ceiling, .label = "ceiling"}},
              .legend = "bottom left"};
  for (const ModesPhase& phase : kPhases) {
    if (std::string(phase.network) != network.name) continue;
    std::vector<std::vector<double>> curves;
    for (const Trial* run : runs_of(results, data, phase)) curves.push_back(curve_of(*run));
    if (curves.empty()) continue;
    std::vector<double> updates;
    for (std::size_t i = 0; i < curves.front().size(); ++i)
      updates.push_back(static_cast<double>(i) * network.record / 1000);
    panel.series.push_back(
        band({.label = phase.title, .colour = colour_of(phase)}, updates, curves));
  }
  return panel;
}

void add_published_curves(const char* p, Panel& panel) {
  for (PublishedCurve curve : read_published("desjardins2010_fig5")) {
    if (curve.figure != p) continue;
    for (double& update : curve.x) update /= 1000;
    const char* ours = kAnchorPhases[curve.curve == "PT" ? 1 : 0];
    panel.series.push_back(
        published_series(curve, curve.curve, colour_of(find_phase("rbm", ours))));
  }
}

void add_curves(const Results& results, Summary& summary) {
  Figure figure{
      .name = "likelihood",
      .caption =
          "Exact mean log-likelihood of the training cases, Artificial Modes by their p "
          "and Bars and Stripes: means over seeds with 95 % bands. Dotted: Desjardins et al. "
          "2010, Fig. 5, digitised (their PCD is the one with one chain and ten sweeps). Ceiling: "
          "no model can do better."};
  figure.height = 460;
  for (const ModesNetwork& network : modes_networks())
    for (const ModesData& data : kData) {
      Panel panel = panel_of(results, network, data);
      if (panel.series.empty()) continue;
      if (std::string(network.name) == "rbm") add_published_curves(data.p, panel);
      figure.panels.push_back(std::move(panel));
    }
  if (!figure.panels.empty()) summary.add(std::move(figure));
}

double fall(const std::vector<double>& curve) {
  return *std::max_element(curve.begin(), curve.end()) - late_mean(curve);
}

/// Calls a statistic of each run's curve.
template <class Statistic>
ByRepeat each(const std::vector<const Trial*>& runs, const Statistic& statistic) {
  return by_repeat(runs, "seed", [&](const Trial& run) { return statistic(curve_of(run)); });
}

// The likelihoods are exact: no record has an error.
double deviation(const std::vector<double>& curve) { return late_deviation(curve); }
double rising_share(const std::vector<double>& curve) { return share_not_falling(curve); }

void add_late(const Results& results, Summary& summary) {
  Table table{.name = "late",
              .caption =
                  "The last fifth of training: mean log-likelihood, how far it is below the "
                  "run's maximum, and its standard deviation about a straight line; means "
                  "over seeds with 95 % intervals, nats per case. Diverged runs are left out.",
              .columns = {{"network", "network"},
                          {"data", "data"},
                          {"negative phase", "phase"},
                          {"as on the command line", "negative"},
                          {"runs", "runs"},
                          {"log-likelihood", "late"},
                          {"below the maximum", "fall"},
                          {"deviation", "deviation"}}};
  for (const ModesData& data : kData)
    for (const ModesPhase& phase : kPhases) {
      const auto runs = runs_of(results, data, phase);
      if (results.planned(cell_of(data, phase)) == 0) continue;
      std::vector<Cell> row{find_network(phase.network).title, data.title, phase.title,
                            phase.negative, static_cast<std::int64_t>(runs.size())};
      for (const auto statistic : {late_mean, fall, deviation})
        row.push_back(mean_cell(values_of(each(runs, statistic))));
      table.rows.push_back(std::move(row));
    }
  summary.add(std::move(table));
}

/// The curve of the means over runs, as far as all have records.
std::vector<double> mean_curve(const std::vector<const Trial*>& runs) {
  std::vector<double> mean = curve_of(*runs.front());
  for (std::size_t r = 1; r < runs.size(); ++r) {
    const std::vector<double> curve = curve_of(*runs[r]);
    mean.resize(std::min(mean.size(), curve.size()));
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += curve[i];
  }
  for (double& value : mean) value /= static_cast<double>(runs.size());
  return mean;
}

void add_anchor(const Results& results, Summary& summary) {
  for (const auto& [part, negative] :
       {std::pair{"PCD", kAnchorPhases[0]}, {"PT", kAnchorPhases[1]}}) {
    const auto runs = runs_of(results, kJudged, find_phase("rbm", negative));
    const auto falls = values_of(each(runs, fall));
    if (falls.size() < 2) continue;
    summary.add(mean_measure(
        {.claim = "S36",
         .part = part,
         .note = fmt::format("a mean of maxima: each run's own, wherever it is, less the mean "
                             "of its last fifth; of the mean curve, as a figure shows it, {:.2f}",
                             fall(mean_curve(runs)))},
        falls));
  }
}

/// The two settings of CAST that claims are judged with: of a network, by its slow chains.
struct CoupledSetting {
  const char* part;
  const char* phase;  ///< to which the number of chains is added
};
constexpr CoupledSetting kSettings[] = {
    {"the paper's settings", "cast:20:0.9 --chains {}"},
    {"ladder to 0", "cast:5:0 --chains {} --swap each --factor constant:0.1"}};

std::vector<const Trial*> runs_by_text(const Results& results, const char* network,
                                       const std::string& negative) {
  return runs_of(results, kJudged, find_phase(network, negative));
}

std::vector<const Trial*> coupled_runs(const Results& results, const char* network,
                                       const CoupledSetting& setting, int chains) {
  return runs_by_text(results, network, fmt::format(fmt::runtime(setting.phase), chains));
}

// S35: CAST against SAP, at equal sweeps and at equal slow chains.
void add_likelihoods(const Results& results, Summary& summary) {
  for (const auto& [network, title, sap] :
       {std::tuple{"rbm", "RBM", 10}, std::tuple{"dbm", "DBM", 100}}) {
    const ByRepeat theirs =
        each(runs_by_text(results, network, fmt::format("pcd:1 --chains {}", sap)), late_mean);
    for (const CoupledSetting& setting : kSettings)
      for (const auto& [equal, chains] :
           {std::pair{"equal sweeps", sap}, {"equal slow chains", 2 * sap}})
        add_difference(
            {.claim = "S35",
             .part = fmt::format("{}, {}, {}", title, setting.part, equal),
             .note = "exact log-likelihood of the last fifth of training, nats per case"},
            each(coupled_runs(results, network, setting, chains), late_mean), theirs, summary);
  }
}

// S15, S16, S25, S31: how training of the deep machine goes.
void add_dynamics(const Results& results, Summary& summary) {
  const auto sap = runs_by_text(results, "dbm", "pcd:1 --chains 100"),
             fpcd = runs_by_text(results, "dbm", "fpcd:1 --chains 100"),
             st = runs_by_text(results, "dbm", "st:20:0.9 --chains 50");
  for (const CoupledSetting& setting : kSettings) {
    const auto cast = coupled_runs(results, "dbm", setting, 100);
    for (const auto& [other, runs] : {std::pair{"SAP", &sap}, {"FPCD", &fpcd}})
      add_ratio({.claim = "S15", .part = fmt::format("{}, {}", other, setting.part)},
                each(*runs, deviation), each(cast, deviation), summary);
    if (cast.size() < 2) continue;
    summary.add(mean_measure({.claim = "S16",
                              .part = fmt::format("trend, {}", setting.part),
                              .note = "least squares rise over the last half, nats per case"},
                             values_of(each(cast, last_half_trend))));
    summary.add(mean_measure({.claim = "S16", .part = fmt::format("not falling, {}", setting.part)},
                             values_of(each(cast, rising_share))));
    add_time_ratio(
        {.claim = "S31",
         .part = setting.part,
         .note = "autocorrelation time, in updates, of a slow chain's overlap with a mode"},
        sap, cast, summary);
  }
  for (const auto& [other, runs] : {std::pair{"SAP", &sap}, {"FPCD", &fpcd}})
    add_difference({.claim = "S25",
                    .part = fmt::format("over {}", other),
                    .note = "N = 50, runs of 50 sweeps, 50 chains against 100: equal sweeps"},
                   each(st, late_mean), each(*runs, late_mean), summary);
}

void summarise(const Results& results, Summary& summary) {
  if (results.profile() == Profile::smoke || results.empty()) return;
  add_curves(results, summary);
  add_late(results, summary);
  add_anchor(results, summary);
  add_likelihoods(results, summary);
  add_dynamics(results, summary);
}

}  // namespace

Experiment experiment() {
  return {
      .id = "salakhutdinov2010/modes",
      .item = "Beyond the paper",
      .title = "Which negative phase trains best where the likelihood is exact?",
      .paper_did =
          "Nothing: its comparisons rest on a bound with an estimated log Z. Desjardins et "
          "al. 2010, whom it cites, train RBMs 16-10 on Artificial Modes by PCD and by "
          "parallel tempering and follow the exact likelihood.",
      .settings =
          {.smoke = "50 updates of each, one seed, p = 0.01.",
           .quick =
               "p = 0.01, five seeds. RBM 16-10: batches of 10, rate 0.001, 500,000 updates, "
               "ten sweeps of a chain an update. DBM 16-8-8: batches of 100, five updates of "
               "mean field, rate 0.05 falling as 4,000/(4,000 + t), 40,000 updates, 100 sweeps "
               "of a chain an update, CAST also with twice as many.",
           .paper =
               "As quick, with ten seeds, and p = 0.1 and 0.001 and Bars and Stripes (batches of "
               "at most its 32 cases) too, on which no setting was picked; also Trans-SAP, and "
               "ST on the RBM, at equal sweeps: no claim judges them. Of SAP and CAST with 100 chains "
               "on the DBM, p = 0.01, the ten seeds of coupling besides, which trains these too."},
      .seconds = {.smoke = 0.3, .quick = 55, .paper = 520},
      .claims = {"S15", "S16", "S25", "S31", "S35", "S36"},
      .deviations =
          {"Minibatches and the number of states in a negative phase are not stated by Desjardins et "
           "al.: batches of 10, and the last state of a chain or ladder for each update.",
           "Their Artificial Modes are ours in the modes and p, not in the cases drawn.",
           "Trans-SAP makes a transition every 38 updates, and has half of SAP's chains: equal sweeps.",
           "Weights start as N(0, 0.01²)."},
      .trials = trials,
      .cost =
          [](const Json& inputs) {
            return find_phase(inputs.at("network"), inputs.at("negative")).seconds;
          },
      .run = run,
      .summarise = summarise,
  };
}

}  // namespace boltzmark::experiments::salakhutdinov2010_modes
