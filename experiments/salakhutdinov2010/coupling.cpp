#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "boltzmark/learn/phases/negative.hpp"
#include "boltzmark/sample/chains/adaptive_chains.hpp"
#include "boltzmark/sample/tempering/parallel_tempering.hpp"
#include "experiments/kit/measures.hpp"
#include "experiments/salakhutdinov2010/support/committed_rbms.hpp"
#include "experiments/salakhutdinov2010/support/curves.hpp"
#include "experiments/salakhutdinov2010/support/modes.hpp"

namespace boltzmark::experiments::salakhutdinov2010_coupling {
namespace {

// Swaps with frozen parameters, on the committed RBMs of Artificial Modes.
constexpr int kPairs = 20, kBurnIn = 1000;
constexpr PerProfile<int> kModels{.smoke = 1, .quick = kCommittedRbms, .paper = kCommittedRbms};
constexpr PerProfile<int> kSweeps{.smoke = 50, .quick = 5000, .paper = 5000};
constexpr const char* kPaperLadder = "cast:20:0.9 --swap each";
constexpr const char* kSwapping[] = {kPaperLadder,
                                     "cast:20:0.9 --swap each --factor constant:0.1",
                                     "cast:10:0 --swap each",
                                     "cast:10:0 --swap each --factor constant:0.1",
                                     "cast:5:0 --swap each",
                                     "cast:5:0 --swap each --factor constant:0.1"};

// One setting at a time is changed from those that modes trains with.
constexpr PerProfile<int> kSeeds{.smoke = 1, .quick = 3, .paper = 10};
constexpr int kSmokeUpdates = 50;
struct Variant {
  const char* changed;
  const char* negative;
  bool quick = false;  ///< runs at quick, not at paper alone
};
constexpr Variant kVariants[] = {
    {"none", "cast:5:0 --swap each --factor constant:0.1", true},
    {"swap: entry", "cast:5:0 --swap entry --factor constant:0.1", true},
    {"swap: lag, 50", "cast:5:0 --swap lag --factor constant:0.1", true},
    {"swap: lag, 10", "cast:5:0 --lag 10 --swap lag --factor constant:0.1", true},
    {"swap: last, 50", "cast:5:0 --factor constant:0.1", true},
    {"swap: last, 10", "cast:5:0 --lag 10 --factor constant:0.1", true},
    {"factor: 1", "cast:5:0 --swap each --factor constant:1"},
    {"factor: 10", "cast:5:0 --swap each"},
    {"factor: 10/t", "cast:5:0 --swap each --factor vanishing:10"},
    {"weights: shared", "cast:5:0 --swap each --factor constant:0.1 --weights shared"},
    {"rungs: 10", "cast:10:0 --swap each --factor constant:0.1"},
    {"rungs: 20", "cast:20:0 --swap each --factor constant:0.1"},
    {"LOW: 0.5", "cast:5:0.5 --swap each --factor constant:0.1"},
    {"LOW: 0.9", "cast:5:0.9 --swap each --factor constant:0.1"},
    {"all: the paper's", "cast:20:0.9", true},
    {"no coupling: SAP, 50 chains", "pcd:1 --chains 50"},
    {"no coupling: SAP, 100 chains", "pcd:1 --chains 100", true},
};
constexpr const char* kData = "artificial-modes-0.01";

std::vector<Json> trials(Profile profile) {
  std::vector<Json> all;
  for (int model = 0; model < kModels.at(profile); ++model)
    for (const char* negative : kSwapping)
      all.push_back({{"model", model}, {"negative", negative}, {"sweeps", kSweeps.at(profile)}});
  const int updates = profile == Profile::smoke ? kSmokeUpdates : find_network("dbm").updates;
  for (int seed = 0; seed < kSeeds.at(profile); ++seed)
    for (const Variant& variant : kVariants) {
      if (profile == Profile::quick && !variant.quick) continue;
      all.push_back({{"network", "dbm"},
                     {"data", kData},
                     {"negative", variant.negative},
                     {"seed", seed},
                     {"updates", updates}});
    }
  return all;
}

/// What fast chains did between their swaps.
class Trips {
 public:
  explicit Trips(int pairs) : far_(static_cast<std::size_t>(pairs), false) {}
  /// Sees a pair after each sweep: where each is at b = 1, it has just swapped. A swap of burn-in
  /// is not counted, but it starts the trip to the next.
  void see(int pair, int rung, int top, bool burn_in) {
    std::vector<bool>::reference far = far_[static_cast<std::size_t>(pair)];
    if (rung == 0) far = true;
    if (rung != top) return;
    if (!burn_in) {
      ++swaps_;
      idle_ += far ? 0 : 1;
    }
    far = false;
  }
  Json outputs() const { return {{"swaps", swaps_}, {"idle", idle_}}; }

 private:
  std::vector<bool> far_;  ///< has been at the ladder's other end since its last swap
  int swaps_ = 0, idle_ = 0;
};

Json swap(const Json& inputs, const TrialContext& context) {
  const Layered model = committed_rbm(inputs.at("model"));
  const Negative negative = parse_negative_description(inputs.at("negative").get<std::string>());
  CoupledChains chains(
      {.model = model,
       .packing = {.chains = kPairs},
       .key = context.key,
       .draws = std::make_shared<PhiloxDraws>(context.key)},
      {.inverse_temperatures = uniform_ladder(negative.temperatures, negative.lowest),
       .factor = negative.factor,
       .weights = negative.weights},
      negative.coupling);
  const AdaptiveChains& pairs = chains.pairs();
  Trips trips(kPairs);
  const int sweeps = inputs.at("sweeps");
  for (int sweep = -kBurnIn; sweep < sweeps; ++sweep) {
    chains.advance(1);
    for (int pair = 0; pair < kPairs; ++pair)
      trips.see(pair, pairs.rung(kPairs + pair), pairs.rungs() - 1, sweep < 0);
  }
  return trips.outputs();
}

Json run(const Json& inputs, const TrialContext& context) {
  return inputs.contains("model") ? swap(inputs, context) : train_on_modes(inputs, context);
}

/// The share of idle swaps, one for each model.
std::vector<double> idle_shares(const Results& results, const char* negative) {
  std::vector<double> shares;
  for (const Trial* trial : results.where({{"negative", negative}}))
    if (trial->inputs.contains("model"))
      shares.push_back(number(trial->outputs.at("idle")) / number(trial->outputs.at("swaps")));
  return shares;
}

/// How many models there are of each ladder: "25", or "24 to 25" where not of all the same.
std::string counted_models(const Results& results) {
  std::vector<std::size_t> counts;
  for (const char* negative : kSwapping) counts.push_back(idle_shares(results, negative).size());
  const auto [fewest, most] = std::minmax_element(counts.begin(), counts.end());
  return *fewest == *most ? fmt::format("{}", *most) : fmt::format("{} to {}", *fewest, *most);
}

void add_swaps(const Results& results, Summary& summary) {
  Table table{
      .name = "swaps",
      .caption = fmt::format(
          "Exchanging states whenever the fast chain is at b = 1: share of the swaps before "
          "which it has not been at the other end of its ladder since the last one, so that "
          "the same states go back and forth. Means over {} RBMs 16-16 with 95 % intervals, "
          "{} pairs, parameters as they are.",
          counted_models(results), kPairs),
      .columns = {{"as on the command line", "negative"}, {"idle swaps", "idle"}}};
  for (const char* negative : kSwapping)
    table.rows.push_back({negative, mean_cell(idle_shares(results, negative))});
  summary.add(std::move(table));
  const std::vector<double> shares = idle_shares(results, kPaperLadder);
  if (shares.size() > 1)
    summary.add(mean_measure(
        {.claim = "S32", .note = "the paper's ladder and factor; the others stand in the table"},
        shares));
}

void add_variants(const Results& results, Summary& summary) {
  Table table{
      .name = "variants",
      .caption =
          "DBM 16-8-8 trained on Artificial Modes, p = 0.01, by CAST with 50 + 50 chains: "
          "one setting at a time changed from five rungs, LOW 0, swap each, factor 0.1, own "
          "weights. The last fifth of training, exact log-likelihood: its mean and its "
          "standard deviation about a straight line, means over seeds whose parameters stayed "
          "finite, nats per case.",
      .columns = {{"changed", "changed"},
                  {"as on the command line", "negative"},
                  {"seeds", "seeds"},
                  {"log-likelihood", "late"},
                  {"deviation", "deviation"}}};
  for (const Variant& variant : kVariants) {
    std::vector<double> late, deviation;
    for (const Trial* trial : results.where({{"network", "dbm"}, {"negative", variant.negative}})) {
      if (trial->outputs.contains("diverged_at")) continue;
      const std::vector<double> curve = numbers(trial->outputs.at("log_likelihood"));
      late.push_back(late_mean(curve));
      deviation.push_back(late_deviation(curve));
    }
    table.rows.push_back({variant.changed, variant.negative, static_cast<std::int64_t>(late.size()),
                          mean_cell(late), mean_cell(deviation)});
  }
  summary.add(std::move(table));
}

void summarise(const Results& results, Summary& summary) {
  if (results.profile() == Profile::smoke || results.empty()) return;
  add_swaps(results, summary);
  add_variants(results, summary);
}

}  // namespace

Experiment experiment() {
  return {
      .id = "salakhutdinov2010/coupling",
      .item = "Secs. 6.1, 8",
      .title = "How should slow and fast chains exchange states?",
      .paper_did =
          "Exchanges states every 50 updates, with the last state that the fast chain had "
          "at k = 1, since swaps whenever it is there mostly hand the same states back and "
          "forth. It shows no experiment.",
      .settings =
          {.smoke = "50 sweeps and updates.",
           .quick =
               "Frozen parameters: 25 RBMs 16-16 of Artificial Modes, 20 pairs, 5,000 "
               "sweeps. Training: six rules of swapping, the paper's setting and SAP on a DBM 16-8-8, "
               "Artificial Modes, p = 0.01, 40,000 updates, three seeds.",
           .paper = "As quick, with ten seeds, and 17 settings in all."},
      .seconds = {.smoke = 0.3, .quick = 15, .paper = 90},
      .claims = {"S32"},
      .deviations =
          {"Swaps are counted on RBMs that parallel tempering has trained.",
           "Three of the settings, none, the paper's and SAP with 100 chains, are trained in "
           "modes too, from ten other seeds; modes has these ten again, and claims are judged on all "
           "twenty there."},
      .data = committed_rbm_files(),
      .trials = trials,
      .cost = [](const Json& inputs) { return inputs.contains("model") ? 1.0 : 25.0; },
      .run = run,
      .summarise = summarise,
  };
}

}  // namespace boltzmark::experiments::salakhutdinov2010_coupling
