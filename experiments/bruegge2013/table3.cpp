#include <fmt/format.h>

#include "experiments/bruegge2013/support/classes.hpp"
#include "experiments/bruegge2013/support/measures.hpp"
#include "experiments/bruegge2013/support/sampling.hpp"

namespace boltzmark::experiments::bruegge2013_table3 {
namespace {

constexpr PerProfile<int> kModels{.smoke = 2, .quick = 25, .paper = 25};
constexpr PerProfile<int> kSteps{.smoke = 500, .quick = 10000, .paper = 10000};

std::vector<Json> trials(Profile profile) {
  std::vector<Json> all;
  for (const ModelSet& set : kClassSets)
    for (int i = 0; i < kModels.at(profile); ++i)
      all.push_back({{"set", set.folder}, {"model", i}, {"steps", kSteps.at(profile)}});
  return all;
}

/// One chain from all visible units on: how often its class changes.
Json run(const Json& inputs, const TrialContext& context) {
  const Layered model = read_committed_model(inputs.at("set"), inputs.at("model"));
  const Eigen::MatrixXf start = Eigen::MatrixXf::Ones(model.size(0), 1);
  Json outputs;
  for (const Rule& rule : {Rule::gibbs(), Rule::flip()}) {
    const std::vector<ClassChanges> changes =
        follow_classes(model, rule, start, inputs.at("steps"), false, context);
    outputs[rule.name()] = changes.front().changes;
    outputs[rule.name() + "_discarded"] = changes.front().discarded;
  }
  return outputs;
}

void summarise(const Results& results, Summary& summary) {
  Table table{.name = "class-changes",
              .caption =
                  "Class changes in a chain of 10,000 steps (smoke: fewer) from all visible units "
                  "on: quantiles over RBMs.",
              .columns = {{"problem", "problem"},
                          {"operator", "operator"},
                          {"RBMs", "rbms"},
                          {"25 %", "quantile_25", 1},
                          {"median", "median", 1},
                          {"75 %", "quantile_75", 1}}};
  for (const ModelSet& set : kClassSets)
    for (const char* rule : {"gibbs", "flip"}) {
      const auto counts = results.values({{"set", set.folder}}, rule);
      if (counts.empty()) continue;
      table.rows.push_back({set.title, operator_title(rule),
                            static_cast<std::int64_t>(counts.size()), quantile(counts, 0.25),
                            quantile(counts, 0.5), quantile(counts, 0.75)});
    }
  summary.add(std::move(table));
  if (results.profile() == Profile::smoke) return;
  const auto counts = [&](const ModelSet& set, const char* rule) {
    return results.values({{"set", set.folder}}, rule);
  };
  for (const ModelSet& set : kClassSets)
    add_paired({.claim = "B31",
                .part = set.title,
                .note = "class changes, T − G, paired by RBM",
                .likely_reason = kTrainingReason},
               subtract(counts(set, "flip"), counts(set, "gibbs")), Alternative::greater, summary);
  for (const char* rule : {"gibbs", "flip"})
    add_unpaired({.claim = "B33",
                  .part = "changes, " + operator_title(rule),
                  .note = "median class changes over RBMs, p_mut 0.01 − 0.1",
                  .likely_reason = kTrainingReason},
                 counts(kClassSets[1], rule), counts(kClassSets[0], rule), Alternative::less,
                 summary);
}

}  // namespace

Experiment experiment() {
  return {
      .id = "bruegge2013/table3",
      .item = "Table 3",
      .title = "Does T change the class of its samples more often?",
      .paper_did =
          "Trains 25 RBMs with CD-5 on Artificial Modes with p_mut 0.1 and 0.01, starts one "
          "chain for each with all visible units on and counts the class changes in 10,000 "
          "steps; a sample's class is the nearest mode, ties are discarded.",
      .settings = {.smoke = "2 committed RBMs for each p_mut, 500 steps.",
                   .quick = "25 committed RBMs for each p_mut, 10,000 steps.",
                   .paper = "25 committed RBMs for each p_mut, 10,000 steps."},
      .seconds = {.smoke = 0.5, .quick = 6, .paper = 6},
      .claims = {"B31", "B33"},
      .deviations = {"The learning rate of the training (0.05, with Gibbs sampling) is ours; the "
                     "RBMs are committed (datasets/models/README.md).",
                     "The first hidden state is drawn by Gibbs sampling given the visible one."},
      .data = model_files(kClassSets),
      .trials = trials,
      .run = run,
      .summarise = summarise,
  };
}

}  // namespace boltzmark::experiments::bruegge2013_table3
