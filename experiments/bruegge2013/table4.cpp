#include <fmt/format.h>

#include <algorithm>

#include "boltzmark/random/stream.hpp"
#include "experiments/bruegge2013/support/classes.hpp"
#include "experiments/bruegge2013/support/measures.hpp"
#include "experiments/bruegge2013/support/sampling.hpp"
#include "experiments/kit/datasets/named_datasets.hpp"

namespace boltzmark::experiments::bruegge2013_table4 {
namespace {

constexpr PerProfile<int> kModels{.smoke = 2, .quick = 10, .paper = 25};
constexpr PerProfile<int> kStarts{.smoke = 32, .quick = 1000, .paper = 1000};
constexpr PerProfile<int> kMostSteps{.smoke = 200, .quick = 20000, .paper = 200000};

std::vector<Json> trials(Profile profile) {
  std::vector<Json> all;
  for (const ModelSet& set : kClassSets)
    for (int i = 0; i < kModels.at(profile); ++i)
      all.push_back({{"set", set.folder},
                     {"model", i},
                     {"starts", kStarts.at(profile)},
                     {"most_steps", kMostSteps.at(profile)}});
  return all;
}

/// The training data of a set of models: "modes-0.1-cd" was trained on artificial-modes-0.1.
std::string data_of(const std::string& set) {
  const auto first = set.find('-') + 1;
  return "artificial-modes-" + set.substr(first, set.rfind('-') - first);
}

Eigen::MatrixXf draw_starts(const std::string& set, int starts, StreamKey key) {
  const CaseValues data = load_dataset(data_of(set)).values;
  Eigen::MatrixXf chosen(data.rows(), starts);
  Stream stream(key, Purpose::start);
  for (int i = 0; i < starts; ++i)
    chosen.col(i) =
        data.col(static_cast<Eigen::Index>(stream.below(static_cast<std::uint64_t>(data.cols()))));
  return chosen;
}

/// Chains from cases of the training data: the step of each one's first class change.
Json run(const Json& inputs, const TrialContext& context) {
  const std::string set = inputs.at("set");
  const int most_steps = inputs.at("most_steps");
  const Layered model = read_committed_model(set, inputs.at("model"));
  const Eigen::MatrixXf start = draw_starts(set, inputs.at("starts"), context.key);
  Json outputs;
  for (const Rule& rule : {Rule::gibbs(), Rule::flip()}) {
    std::vector<double> first;
    int censored = 0;
    for (const ClassChanges& chain :
         follow_classes(model, rule, start, most_steps, true, context)) {
      censored += !chain.first_change.has_value();
      first.push_back(
          static_cast<double>(chain.first_change.value_or(static_cast<std::uint64_t>(most_steps))));
    }
    outputs[rule.name()] = {quantile(first, 0.25), quantile(first, 0.5), quantile(first, 0.75)};
    outputs[rule.name() + "_censored"] = censored;
  }
  return outputs;
}

/// One quantile of each RBM's chains.
std::vector<double> quantiles(const Results& results, const ModelSet& set, const char* rule,
                              int which) {
  std::vector<double> values;
  for (const Trial* trial : results.where({{"set", set.folder}}))
    values.push_back(numbers(trial->outputs.at(rule)).at(static_cast<std::size_t>(which)));
  return values;
}

void summarise(const Results& results, Summary& summary) {
  Table table{.name = "first-change",
              .caption =
                  "Steps before the first class change of chains started from training data: "
                  "medians over RBMs of each RBM's quantiles over its chains. Chains without a "
                  "change count with the largest number of steps.",
              .columns = {{"problem", "problem"},
                          {"operator", "operator"},
                          {"RBMs", "rbms"},
                          {"25 %", "quantile_25", 1},
                          {"median", "median", 1},
                          {"75 %", "quantile_75", 1},
                          {"chains without a change / %", "censored_percent", 2}}};
  for (const ModelSet& set : kClassSets)
    for (const char* rule : {"gibbs", "flip"}) {
      const auto medians = quantiles(results, set, rule, 1);
      if (medians.empty()) continue;
      double censored = 0, starts = 0;
      for (const Trial* trial : results.where({{"set", set.folder}})) {
        censored += number(trial->outputs.at(std::string(rule) + "_censored"));
        starts += number(trial->inputs.at("starts"));
      }
      table.rows.push_back({set.title, operator_title(rule),
                            static_cast<std::int64_t>(medians.size()),
                            median(quantiles(results, set, rule, 0)), median(medians),
                            median(quantiles(results, set, rule, 2)), 100 * censored / starts});
    }
  summary.add(std::move(table));
  if (results.profile() == Profile::smoke || results.empty()) return;
  // A median at the most steps is a bound, not a value.
  const double most_steps = number(results.trials().front().inputs.at("most_steps"));
  const auto known = [&](const std::vector<double>& medians) {
    return std::all_of(medians.begin(), medians.end(), [&](double m) { return m < most_steps; });
  };
  for (const ModelSet& set : kClassSets) {
    const auto flip = quantiles(results, set, "flip", 1),
               gibbs = quantiles(results, set, "gibbs", 1);
    add_paired({.claim = "B32",
                .part = set.title,
                .note = "median steps to the first class change, T − G, paired by RBM",
                .likely_reason = kTrainingReason,
                .decidable = known(flip) && known(gibbs)},
               subtract(flip, gibbs), Alternative::less, summary);
  }
  for (const char* rule : {"gibbs", "flip"}) {
    const auto near = quantiles(results, kClassSets[0], rule, 1);
    const auto far = quantiles(results, kClassSets[1], rule, 1);
    add_unpaired(
        {.claim = "B33",
         .part = "first change, " + operator_title(rule),
         .note = "medians over RBMs of the median steps to the first change, p_mut 0.01 − 0.1",
         .likely_reason = kTrainingReason,
         .decidable = known(near)},
        far, near, Alternative::greater, summary);
  }
}

}  // namespace

Experiment experiment() {
  return {
      .id = "bruegge2013/table4",
      .item = "Table 4",
      .title = "Does T leave the class of its starting point sooner?",
      .paper_did =
          "Starts 1,000 chains for each of 25 RBMs trained with CD-5 on Artificial Modes from "
          "the training distribution and counts the steps before the first class change.",
      .settings = {.smoke = "2 committed RBMs for each p_mut, 32 chains, at most 200 steps.",
                   .quick = "10 committed RBMs for each p_mut, 1,000 chains, at most 20,000 steps.",
                   .paper =
                       "25 committed RBMs for each p_mut, 1,000 chains, at most 200,000 steps."},
      .seconds = {.smoke = 0.5, .quick = 12, .paper = 600},
      .claims = {"B32", "B33"},
      .deviations =
          {"The RBMs are those of Table 3.",
           "A chain that has not changed class after the most steps counts with that number; "
           "medians do not depend on it while fewer than half of the chains do."},
      .data = model_files(kClassSets),
      .trials = trials,
      .run = run,
      .summarise = summarise,
  };
}

}  // namespace boltzmark::experiments::bruegge2013_table4
