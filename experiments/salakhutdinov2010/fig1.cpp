#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "boltzmark/learn/initial.hpp"
#include "experiments/kit/layers_diagram.hpp"
#include "verification/checks/laws/partition.hpp"

namespace boltzmark::experiments::salakhutdinov2010_fig1 {
namespace {

constexpr int kSizes[] = {4, 3, 2};
constexpr int kSets = 4;

std::vector<Json> trials(Profile) { return {{{"sizes", kSizes}}}; }

/// The energy of the state in which these units have value 1 and all others 0.
double energy_of(const StateSpace& space, std::initializer_list<int> units) {
  std::size_t state = 0;
  for (const int unit : units) state += space.place(unit).stride;
  return -space.log_p()[static_cast<Eigen::Index>(state)];
}

/// Two units are joined if the energy is not the sum of a function of each.
Json edges_of(const StateSpace& space) {
  Json edges = Json::array();
  for (int a = 0; a < space.units(); ++a)
    for (int b = a + 1; b < space.units(); ++b) {
      const double mixed = energy_of(space, {a, b}) - energy_of(space, {a}) -
                           energy_of(space, {b}) + energy_of(space, {});
      if (std::abs(mixed) > 1e-12) edges.push_back({a, b});
    }
  return edges;
}

/// Sets of equally many states, the likeliest first.
std::vector<int> sets_by_energy(const StateSpace& space) {
  std::vector<std::size_t> order(space.states());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return space.log_p()[static_cast<Eigen::Index>(a)] >
           space.log_p()[static_cast<Eigen::Index>(b)];
  });
  std::vector<int> set_of(order.size());
  for (std::size_t rank = 0; rank < order.size(); ++rank)
    set_of[order[rank]] = static_cast<int>(rank * kSets / order.size());
  return set_of;
}

Json run(const Json&, const TrialContext& context) {
  const Layered model = initial_network(kSizes, 0.6, context.key);
  const StateSpace space(model);
  const Partition partition(model, sets_by_energy(space));
  const Eigen::VectorXd shares = partition.sums(space.p());
  Json outputs = {{"edges", edges_of(space)},
                  {"share", std::vector<double>(shares.begin(), shares.end())}};
  for (std::size_t x = 0; x < space.states(); ++x) {
    outputs["log_p"].push_back(space.log_p()[static_cast<Eigen::Index>(x)]);
    outputs["set"].push_back(partition.set_of(x));
  }
  return outputs;
}

std::vector<std::string> symbols(const char* name, int count) {
  std::vector<std::string> all;
  for (int i = 1; i <= count; ++i) all.push_back(fmt::format("{}_{}", name, i));
  return all;
}

void add_partition(const Json& outputs, Summary& summary) {
  Panel panel{.x = {.label = "state", .low = 0, .high = 512},
              .y = {.label = "log p(x) / nats", .low = -26},
              .legend = "bottom right"};
  const std::vector<double> log_p = numbers(outputs.at("log_p")), set = numbers(outputs.at("set")),
                            share = numbers(outputs.at("share"));
  for (int k = 0; k < kSets; ++k) {
    Series series{.label = fmt::format("X_{}, probability {:.3f}", k + 1, share[k]),
                  .mark = Mark::points};
    for (std::size_t x = 0; x < set.size(); ++x) {
      if (set[x] != k) continue;
      series.x.push_back(static_cast<double>(x));
      series.y.push_back(log_p[x]);
    }
    panel.series.push_back(std::move(series));
  }
  summary.add(Figure{
      .name = "partition",
      .caption =
          "An example of a partition of the state space: the 512 states of a random machine "
          "of these sizes in four sets of 128, by their energy. A chain that spends equal "
          "times in all sets must be given weights g_k in proportion to their probabilities.",
      .panels = {std::move(panel)}});
}

void summarise(const Results& results, Summary& summary) {
  add_graph({.layers = {{.name = "v", .symbols = symbols("v", kSizes[0])},
                        {.name = "h^1", .symbols = symbols("h", kSizes[1])},
                        {.name = "h^2", .symbols = symbols("h", kSizes[2])}},
             .weights = {"W^1", "W^2"},
             .caption = "The graph of a deep Boltzmann machine: an edge joins two units where the "
                        "engine's energy is not a sum of a function of each. All connections are "
                        "between neighbouring layers, and undirected.",
             .height = 330},
            results, summary);
  if (!results.empty()) add_partition(results.trials().front().outputs, summary);
}

const char* const kSettings =
    "The pairs of units that the energy of a 4-3-2 machine couples, and its 512 states.";

}  // namespace

Experiment experiment() {
  return {
      .id = "salakhutdinov2010/fig1",
      .item = "Fig. 1",
      .title = "A deep Boltzmann machine, and a partition of its states",
      .paper_did =
          "Draws a deep Boltzmann machine of two hidden layers, and a state space in four "
          "sets, in each of which a chain is to spend an equal amount of time.",
      .settings = {.smoke = kSettings, .quick = kSettings, .paper = kSettings},
      .seconds = {.smoke = 0.01, .quick = 0.01, .paper = 0.01},
      .deviations = {"The sets are by energy; the paper draws no particular ones."},
      .checks = true,
      .trials = trials,
      .run = run,
      .summarise = summarise,
  };
}

}  // namespace boltzmark::experiments::salakhutdinov2010_fig1
