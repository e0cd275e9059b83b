#include <fmt/format.h>

#include <cmath>

#include "boltzmark/transition/rule.hpp"
#include "experiments/kit/results.hpp"
#include "experiments/kit/summary.hpp"
#include "experiments/kit/text.hpp"

namespace boltzmark::experiments::bruegge2013_fig1 {
namespace {

/// p(V = 1 | h) of the example drawn; the paper asks only that it exceeds 1/2.
constexpr double kOn = 0.7;

/// What the paper writes on an arrow, by rule, state left and state reached.
const char* formula(const std::string& rule, int from, int to) {
  if (rule == "gibbs") return to == 1 ? "p(1|h)" : "p(0|h)";
  if (from == 0) return "";
  return to == 0 ? "p(0|h)/p(1|h)" : "1 − p(0|h)/p(1|h)";
}

std::vector<Json> trials(Profile) { return {{{"rule", "gibbs"}}, {{"rule", "flip"}}}; }

Json run(const Json& inputs, const TrialContext&) {
  const Rule rule = parse_rule(inputs.at("rule").get<std::string>());
  const double input = std::log(kOn / (1 - kOn));
  Json outputs;
  for (const int from : {0, 1}) {
    const double on = on_probability(rule, input, from == 1);
    outputs[fmt::format("{}-1", from)] = on;
    outputs[fmt::format("{}-0", from)] = 1 - on;
  }
  return outputs;
}

void summarise(const Results& results, Summary& summary) {
  Figure figure{.name = "diagrams",
                .caption =
                    "Transitions of one variable V with p(V = 1 | h) = 0.7: (a) Gibbs "
                    "sampling, (b) T. Probabilities are those of the engine's rules.",
                .height = 250,
                .script = "transition-diagram.gp",
                .data = {{"operator", "from", "to", "probability", "label"}}};
  for (const Trial& trial : results.trials())
    for (const auto& [edge, probability] : trial.outputs.items()) {
      const std::string rule = trial.inputs.at("rule");
      const int from = edge[0] - '0', to = edge[2] - '0';
      const std::string symbol = formula(rule, from, to);
      const std::string value = decimals_text(number(probability), 2);
      figure.data.push_back({rule, fmt::format("{}", from), fmt::format("{}", to),
                             fmt::format("{}", number(probability)),
                             symbol.empty() ? value : symbol + " = " + value});
    }
  summary.add(figure);
}

const char* const kSettings =
    "The engine's rules evaluated at the input x = log(0.7/0.3). The same in every profile.";

}  // namespace

Experiment experiment() {
  return {
      .id = "bruegge2013/fig1",
      .item = "Fig. 1",
      .title = "Transition diagrams of a single variable",
      .paper_did =
          "Draws the two states of a variable and the transitions between them, for Gibbs "
          "sampling and for T where V = 1 is the likelier state.",
      .settings = {.smoke = kSettings, .quick = kSettings, .paper = kSettings},
      .seconds = {.smoke = 0.01, .quick = 0.01, .paper = 0.01},
      .deviations = {"The paper writes symbols on the arrows; here an example's numbers stand "
                     "beside them."},
      .trials = trials,
      .run = run,
      .summarise = summarise,
  };
}

}  // namespace boltzmark::experiments::bruegge2013_fig1
