#include "boltzmark/learn/classes/discriminative.hpp"
#include "boltzmark/learn/initial.hpp"
#include "experiments/kit/layers_diagram.hpp"

namespace boltzmark::experiments::yokoyama2019_fig5 {
namespace {

constexpr int kInputs = 5, kHidden = 4, kClasses = 3;

std::vector<Json> trials(Profile) {
  return {{{"inputs", kInputs}, {"hidden", kHidden}, {"classes", kClasses}}};
}

/// Lists which inputs and classes reach which hidden units: those with a gradient.
Json run(const Json& inputs, const TrialContext& context) {
  const DiscriminativeRbm model =
      xavier_discriminative(Unit::continuous(), inputs.at("inputs"), inputs.at("hidden"),
                            inputs.at("classes"), context.key);
  Parameters gradient = model.zero_parameters();
  const LabelledCases cases(Eigen::MatrixXf::Ones(model.inputs(), 1), {0}, model.classes());
  class_gradient(model, cases, std::vector<int>{0}, gradient);
  Json edges = Json::array();
  for (int j = 0; j < model.hidden(); ++j) {
    const int hidden = model.inputs() + j;
    for (int i = 0; i < model.inputs(); ++i)
      if (gradient.weights[0](j, i) != 0) edges.push_back({i, hidden});
    for (int k = 0; k < model.classes(); ++k)
      if (gradient.weights[1](j, k) != 0)
        edges.push_back({hidden, model.inputs() + model.hidden() + k});
  }
  return {{"edges", edges}};
}

void summarise(const Results& results, Summary& summary) {
  add_graph(
      {.layers = {{.name = "input layer x", .symbols = {"x_1", "x_2", "x_3", "…", "x_n"}},
                  {.name = "hidden layer h", .symbols = {"h_1", "h_2", "…", "h_{|H|}"}},
                  {.name = "output layer t", .symbols = {"t_1", "…", "t_K"}}},
       .weights = {"w^{(1)}", "w^{(2)}"},
       .caption = "The graph of a discriminative RBM: an edge is a weight that has a gradient. "
                  "Exactly one of the outputs is 1.",
       .height = 330},
      results, summary);
}

const char* const kSettings = "The weights of a 5-4-3 discriminative RBM that have a gradient.";

}  // namespace

Experiment experiment() {
  return {
      .id = "yokoyama2019/fig5",
      .item = "Fig. 5",
      .title = "The discriminative RBM: an RBM whose visible layer is split in two",
      .paper_did =
          "Draws the input, hidden and output layers of the discriminative RBM and their "
          "couplings.",
      .settings = {.smoke = kSettings, .quick = kSettings, .paper = kSettings},
      .seconds = {.smoke = 0.01, .quick = 0.01, .paper = 0.01},
      .trials = trials,
      .run = run,
      .summarise = summarise,
  };
}

}  // namespace boltzmark::experiments::yokoyama2019_fig5
