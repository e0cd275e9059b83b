#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "boltzmark/learn/initial.hpp"
#include "boltzmark/sample/chains/adaptive_chains.hpp"
#include "boltzmark/sample/tempering/parallel_tempering.hpp"
#include "experiments/kit/results.hpp"
#include "experiments/kit/summary.hpp"

namespace boltzmark::experiments::salakhutdinov2010_fig3 {
namespace {

constexpr int kSizes[] = {8, 4, 4};
constexpr int kLevels = 3, kSweeps = 24;
constexpr double kLowest = 0.5, kFactor = 1;

std::vector<Json> trials(Profile) { return {{{"sizes", kSizes}, {"sweeps", kSweeps}}}; }

bool same_states(const Chains& a, int chain, const Chains& b, int other) {
  for (int l = 0; l < a.layers(); ++l)
    if (a.get_layer(l).col(chain) != b.get_layer(l).col(other)) return false;
  return true;
}

/// Outputs  level [sweeps] of the fast chain, 1 where b = 1; swaps, the sweeps that end with the
/// chains in each other's state
Json run(const Json& inputs, const TrialContext& context) {
  const Layered model = initial_network(kSizes, 1, context.key);
  CoupledChains coupled(
      {.model = model,
       .packing = {.chains = 1},
       .key = context.key,
       .draws = std::make_shared<PhiloxDraws>(context.key)},
      {.inverse_temperatures = uniform_ladder(kLevels, kLowest), .factor = {.size = kFactor}},
      {.swap = SwapRule::entry});
  AdaptiveChains& pair = coupled.pairs();
  Json outputs = {{"level", Json::array()}, {"swaps", Json::array()}};
  const int sweeps = inputs.at("sweeps");
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    pair.sweep();
    const Chains before = pair.states();
    coupled.couple();
    outputs["level"].push_back(kLevels - pair.rung(1));
    if (same_states(pair.states(), 0, before, 1) && same_states(pair.states(), 1, before, 0))
      outputs["swaps"].push_back(sweep);
  }
  return outputs;
}

std::vector<double> counting(std::size_t count) {
  std::vector<double> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(static_cast<double>(i));
  return all;
}

void summarise(const Results& results, Summary& summary) {
  if (results.empty()) return;
  const Json& outputs = results.trials().front().outputs;
  const std::vector<double> level = numbers(outputs.at("level"));
  Panel panel{.x = {.label = "sweep", .low = -1, .high = static_cast<double>(level.size())},
              .y = {.label = "",
                    .low = -0.4,
                    .high = kLevels + 2,
                    .ticks = {{"slow chain", 0}, {"k = 1", 1}, {"k = 2", 2}, {"k = 3", 3}}},
              .series = {{.label = "fast chain",
                          .x = counting(level.size()),
                          .y = level,
                          .mark = Mark::line_points,
                          .colour = 1},
                         {.label = "slow chain",
                          .x = counting(level.size()),
                          .y = std::vector<double>(level.size(), 0),
                          .mark = Mark::line_points,
                          .colour = 0}},
              .legend = "top right"};
  for (const double sweep : numbers(outputs.at("swaps")))
    panel.series.push_back({.label = panel.series.size() == 2 ? "states swapped" : "",
                            .x = {sweep, sweep},
                            .y = {0, 1},
                            .mark = Mark::dashed,
                            .colour = 2});
  summary.add(Figure{.name = "coupling",
                     .caption =
                         "Coupled adaptive simulated tempering, the first sweeps of one pair on a "
                         "random machine: the fast chain moves over three temperatures, and where "
                         "it arrives at k = 1 (b = 1) the two chains are in each other's states.",
                     .panels = {std::move(panel)}});
}

const char* const kText =
    "24 sweeps of one pair on a random 8-4-4 machine, three inverse temperatures from 1 to 0.5, "
    "factor 1, exchange on arrival at k = 1.";

}  // namespace

Experiment experiment() {
  return {
      .id = "salakhutdinov2010/fig3",
      .item = "Fig. 3",
      .title = "A slow chain, a fast one, and when they swap",
      .paper_did =
          "Draws a slow chain and a fast one on three temperatures, which swap their "
          "states once the fast one reaches k = 1.",
      .settings = {.smoke = kText, .quick = kText, .paper = kText},
      .seconds = {.smoke = 0.01, .quick = 0.01, .paper = 0.01},
      .deviations = {"The paper's is a sketch; this is a run of the sampler. The bias of this "
                     "reading of the swap is S33's."},
      .trials = trials,
      .run = run,
      .summarise = summarise,
  };
}

}  // namespace boltzmark::experiments::salakhutdinov2010_fig3
