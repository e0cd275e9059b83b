#include <algorithm>
#include <cmath>
#include <limits>

#include "boltzmark/transition/rule.hpp"
#include "experiments/kit/results.hpp"
#include "experiments/kit/summary.hpp"

namespace boltzmark::experiments::bruegge2013_fig2 {
namespace {

/// One curve of the figure: a rule and the state that the unit is in.
struct Curve {
  const char* rule;
  int state;
  const char* label;
  Mark mark;
  int colour;
};
constexpr Curve kCurves[] = {
    {"gibbs", 0, "Gibbs, any state", Mark::line, 0},
    {"flip", 0, "T, unit is 0", Mark::dashed, 1},
    {"flip", 1, "T, unit is 1", Mark::dotted, 2},
    {"blend:0.5", 0, "blend 0.5, unit is 0", Mark::dashed, 4},
    {"blend:0.5", 1, "blend 0.5, unit is 1", Mark::dotted, 6},
};
constexpr double kDrawnStep = 1.0 / 16;
constexpr int kDrawn = 96;  // steps to each side of 0 that are drawn
constexpr double kTestedStep = 0.25;
constexpr int kTested = 120;  // steps to each side of 0 that the claim is tested on

std::vector<Json> trials(Profile) {
  std::vector<Json> all;
  for (const Curve& curve : kCurves) all.push_back({{"rule", curve.rule}, {"state", curve.state}});
  return all;
}

/// Evaluates the engine's rule on the grid: the activation, and how far its chance of a change of
/// state lies from that of Gibbs sampling (precise where both are tiny).
Json run(const Json& inputs, const TrialContext&) {
  const Rule rule = parse_rule(inputs.at("rule").get<std::string>());
  const bool on = inputs.at("state") == 1;
  std::vector<double> x, activation, difference_below, difference_above;
  for (int i = -kDrawn; i <= kDrawn; ++i) {
    if (i == 0) continue;  // the tie is a point of its own
    x.push_back(i * kDrawnStep);
    activation.push_back(on_probability(rule, x.back(), on));
  }
  for (int i = 1; i <= kTested; ++i)
    for (const int sign : {-1, 1}) {
      const double input = sign * i * kTestedStep;
      const double difference =
          std::abs(flip_probability(rule, input, on) - flip_probability(Rule::gibbs(), input, on));
      (sign < 0 ? difference_below : difference_above).push_back(difference);
    }
  return {{"x", x},
          {"activation", activation},
          {"tie", on_probability(rule, 0, on)},
          {"difference_below", difference_below},
          {"difference_above", difference_above}};
}

void add_figure(const Results& results, Summary& summary) {
  Panel panel{.x = {.label = "input x of the unit"},
              .y = {.label = "probability that the unit is 1 next", .low = -0.03, .high = 1.03},
              .series = {},
              .legend = "top left"};
  for (const Curve& curve : kCurves)
    for (const Trial* trial : results.where({{"rule", curve.rule}, {"state", curve.state}}))
      panel.series.push_back({.label = curve.label,
                              .x = numbers(trial->outputs.at("x")),
                              .y = numbers(trial->outputs.at("activation")),
                              .mark = curve.mark,
                              .colour = curve.colour});
  const auto ties = results.values(Json::object(), "tie");
  panel.series.push_back({.label = "tie, every rule",
                          .x = std::vector<double>(ties.size(), 0.0),
                          .y = ties,
                          .mark = Mark::points,
                          .colour = 0});
  summary.add(Figure{.name = "activation",
                     .caption = "Activation functions: σ of Gibbs sampling, σ′ of T by the unit's "
                                "state, and the blend of both in equal parts. At x = 0 exactly all "
                                "of them are 1/2.",
                     .panels = {panel}});
}

void add_claim(const Results& results, Summary& summary) {
  double largest_change = -std::numeric_limits<double>::infinity();
  double last = 0;
  const auto found = results.where({{"rule", "flip"}});
  for (const Trial* trial : found)
    for (const char* side : {"difference_below", "difference_above"}) {
      const std::vector<double> difference = numbers(trial->outputs.at(side));
      for (std::size_t i = 1; i < difference.size(); ++i)
        largest_change = std::max(largest_change, difference[i] - difference[i - 1]);
      last = std::max(last, difference.back());
    }
  if (found.size() < 2) return;
  summary.add(Measure{.claim = "B11",
                      .part = "change with |x|",
                      .estimate = largest_change,
                      .n = 4 * (kTested - 1),
                      .note = "Both states, both signs, steps of 0.25 up to 30; the tie at x = 0, "
                              "where T equals Gibbs sampling, is left out"});
  summary.add(Measure{.claim = "B11", .part = "value at |x| = 30", .estimate = last, .n = 4});
}

void summarise(const Results& results, Summary& summary) {
  add_figure(results, summary);
  add_claim(results, summary);
}

const char* const kSettings =
    "The engine's own rules in double precision, drawn from −6 to 6 in steps of 1/16, "
    "tested to ±30 in steps of 1/4. The same in every profile.";

}  // namespace

Experiment experiment() {
  return {
      .id = "bruegge2013/fig2",
      .item = "Fig. 2",
      .title = "Activation functions of Gibbs sampling and of T",
      .paper_did =
          "Plots σ(x) = 1/(1+e⁻ˣ), and σ′(x), which is min(eˣ, 1) for a unit that is 0 and "
          "max(1−e⁻ˣ, 0) for one that is 1.",
      .settings = {.smoke = kSettings, .quick = kSettings, .paper = kSettings},
      .seconds = {.smoke = 0.01, .quick = 0.01, .paper = 0.01},
      .claims = {"B11"},
      .deviations = {"The blend that the paper proposes in Sec. 5.2 is drawn too."},
      .trials = trials,
      .run = run,
      .summarise = summarise,
  };
}

}  // namespace boltzmark::experiments::bruegge2013_fig2
