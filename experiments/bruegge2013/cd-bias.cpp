#include <fmt/format.h>

#include "boltzmark/random/stream.hpp"
#include "experiments/bruegge2013/support/measures.hpp"
#include "experiments/bruegge2013/support/random_rbm.hpp"
#include "experiments/kit/bands.hpp"
#include "experiments/kit/results.hpp"
#include "experiments/kit/summary.hpp"
#include "verification/checks/laws/cd_gradient.hpp"

namespace boltzmark::experiments::bruegge2013_cd_bias {
namespace {

constexpr PerProfile<int> kModels{.smoke = 5, .quick = 50, .paper = 200};
constexpr int kUnits = 4;
constexpr int kCases = 10;
constexpr int kSteps[] = {1, 5};
constexpr double kLargestWeights[] = {0.25, 0.5, 1, 1.5, 2, 3, 4, 6};

std::vector<Json> trials(Profile profile) {
  std::vector<Json> all;
  for (const double c : kLargestWeights) all.push_back({{"c", c}, {"models", kModels.at(profile)}});
  return all;
}

/// The norm of the exact bias of CD-k on random 4x4 RBMs and random binary cases.
Json run(const Json& inputs, const TrialContext& context) {
  const SquareRbms rbms{.units = kUnits, .c = inputs.at("c"), .count = inputs.at("models")};
  Json outputs;
  for_each_rbm(rbms, context.key, context, [&](const Layered& model, Stream& stream) {
    Eigen::MatrixXf data(kUnits, kCases);
    for (float& value : data.reshaped()) value = static_cast<float>(stream.below(2));
    for (const Rule& rule : {Rule::gibbs(), Rule::flip()})
      for (const int k : kSteps)
        outputs[fmt::format("{}-{}", rule.name(), k)].push_back(cd_bias_norm(model, data, rule, k));
  });
  return outputs;
}

void summarise(const Results& results, Summary& summary) {
  Panel panel{.x = {.label = "c, the largest size of a weight"},
              .y = {.label = "norm of the bias of CD-k"},
              .series = {},
              .legend = "top left"};
  for (const Rule& rule : {Rule::gibbs(), Rule::flip()})
    for (const int k : kSteps) {
      const bool gibbs = rule == Rule::gibbs();
      Series series{.label = fmt::format("{}, CD-{}", gibbs ? "G" : "T", k),
                    .mark = k == 1 ? Mark::line : Mark::dashed,
                    .colour = gibbs ? 0 : 1};
      std::vector<std::vector<double>> groups;
      for (const Trial& trial : results.trials()) {
        groups.push_back(numbers(trial.outputs.at(fmt::format("{}-{}", rule.name(), k))));
        add_mean(series, number(trial.inputs.at("c")), groups.back());
      }
      if (gibbs && k == 1 && groups.size() >= 2) {
        add_trend({.claim = "B35",
                   .note = fmt::format(
                       "estimate: P(larger bias at the larger c) − 1/2, CD-1 with Gibbs "
                       "sampling; mean norm {:.3g} at c = {}, {:.3g} at c = {}",
                       series.y.front(), series.x.front(), series.y.back(), series.x.back())},
                  groups, summary);
      }
      panel.series.push_back(std::move(series));
    }
  summary.add(Figure{.name = "bias",
                     .caption =
                         "Euclidean norm of the exact bias of the CD-k gradient over random 4x4 "
                         "RBMs, with 95 % intervals of the mean.",
                     .panels = {std::move(panel)}});
}

}  // namespace

Experiment experiment() {
  return {
      .id = "bruegge2013/cd-bias",
      .item = "Sec. 1",
      .title = "Does the bias of contrastive divergence grow with the size of the weights?",
      .paper_did =
          "Cites that the bias of the CD gradient increases with the absolute values of the "
          "parameters: the reason to want faster mixing.",
      .settings = {.smoke = "5 random 4x4 RBMs per c.",
                   .quick =
                       "50 random 4x4 RBMs with weights uniform on [−c, c], no biases, 10 random "
                       "binary cases each; the bias is enumerated exactly.",
                   .paper = "200 random 4x4 RBMs per c."},
      .seconds = {.smoke = 0.1, .quick = 1, .paper = 3},
      .claims = {"B35"},
      .deviations = {"The paper cites the fact without an experiment."},
      .trials = trials,
      .run = run,
      .summarise = summarise,
  };
}

}  // namespace boltzmark::experiments::bruegge2013_cd_bias
