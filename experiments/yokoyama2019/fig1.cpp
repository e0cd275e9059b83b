#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "boltzmark/learn/initial.hpp"
#include "experiments/kit/layers_diagram.hpp"

namespace boltzmark::experiments::yokoyama2019_fig1 {
namespace {

constexpr int kVisible = 5, kHidden = 4;

std::vector<Json> trials(Profile) { return {{{"visible", kVisible}, {"hidden", kHidden}}}; }

/// The energy of the state in which these units have value 1 and all others 0.
double energy_of(const Layered& model, std::initializer_list<int> units) {
  State state{Eigen::VectorXd::Zero(model.size(0)), Eigen::VectorXd::Zero(model.size(1))};
  for (const int unit : units)
    (unit < model.size(0) ? state[0][unit] : state[1][unit - model.size(0)]) = 1;
  return energy(model, state);
}

/// Two units are joined if the energy is not the sum of a function of each.
Json run(const Json& inputs, const TrialContext& context) {
  const Layered model = xavier_rbm(inputs.at("visible"), inputs.at("hidden"), context.key,
                                   {.visible = Unit::multivalued(1), .hidden = Unit::continuous()});
  Json edges = Json::array();
  for (int a = 0; a < model.units(); ++a)
    for (int b = a + 1; b < model.units(); ++b) {
      const double mixed = energy_of(model, {a, b}) - energy_of(model, {a}) -
                           energy_of(model, {b}) + energy_of(model, {});
      if (std::abs(mixed) > 1e-12) edges.push_back({a, b});
    }
  return {{"edges", edges}};
}

std::vector<std::string> symbols(const char* name, int count) {
  std::vector<std::string> all;
  for (int i = 1; i <= count; ++i) all.push_back(fmt::format("{}_{}", name, i));
  return all;
}

void summarise(const Results& results, Summary& summary) {
  add_graph({.layers = {{.name = "visible layer V", .symbols = symbols("v", kVisible)},
                        {.name = "hidden layer H", .symbols = symbols("h", kHidden)}},
             .weights = {"w_{i,j}"},
             .caption = "The graph of an RBM: an edge joins two units where the engine's energy is "
                        "not a sum of a function of each. Visible units are spins, hidden units "
                        "any of X(s).",
             .height = 260},
            results, summary);
}

const char* const kSettings = "The pairs of units that the energy of a 5-4 RBM couples.";

}  // namespace

Experiment experiment() {
  return {
      .id = "yokoyama2019/fig1",
      .item = "Fig. 1",
      .title = "An RBM is a bipartite graph",
      .paper_did = "Draws the visible and the hidden layer and the couplings between them.",
      .settings = {.smoke = kSettings, .quick = kSettings, .paper = kSettings},
      .seconds = {.smoke = 0.01, .quick = 0.01, .paper = 0.01},
      .trials = trials,
      .run = run,
      .summarise = summarise,
  };
}

}  // namespace boltzmark::experiments::yokoyama2019_fig1
