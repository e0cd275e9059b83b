#include "experiments/bruegge2013/support/training.hpp"

namespace boltzmark::experiments::bruegge2013_table1 {
namespace {

const SettingsGrid kGrid{
    .data = {"bas", "mnist"},
    .negatives = {"cd:5", "cd:10", "pt:10:1", "pt:10:10", "pt:20:1", "pt:20:10"}};

std::vector<Json> trials(Profile profile) {
  std::vector<Json> all;
  if (profile == Profile::smoke) {
    add_training_trials({.data = "bas", .negative = "cd:5", .repeats = 2, .updates = 300}, all);
    add_training_trials({.data = "bas", .negative = "pt:10:1", .repeats = 2, .updates = 300}, all);
    add_training_trials({.data = "mnist", .negative = "cd:5", .repeats = 2, .updates = 100}, all);
  } else if (profile == Profile::quick) {
    for (const char* negative : {"cd:5", "cd:10", "pt:10:1"})
      add_training_trials({.data = "bas", .negative = negative, .repeats = 10}, all);
  } else {
    for (const std::string& data : kGrid.data)
      for (const std::string& negative : kGrid.negatives)
        for (const double rate : kRates)
          add_training_trials({.data = data, .negative = negative, .rate = rate}, all);
  }
  return all;
}

void summarise(const Results& results, Summary& summary) {
  const std::vector<int> signs = add_maxima_table(
      results, kGrid, "maxima",
      "Medians of the maximum mean log-likelihood reached in a run. The larger value of a setting "
      "is "
      "starred where the operators differ (Wilcoxon's signed-rank test, two-sided p < 0.05).",
      summary);
  if (results.profile() != Profile::smoke) {
    add_majority_measure("B21", signs,
                         kGrid.data.size() * kGrid.negatives.size() * std::size(kRates), summary);
    add_divergence_measures(results, kGrid, "", summary);
  }
  add_ceiling_measure(results, summary);
}

}  // namespace

Experiment experiment() {
  return {
      .id = "bruegge2013/table1",
      .item = "Table 1",
      .title = "Which operator reaches the higher likelihood in training?",
      .paper_did =
          "Trains on Bars and Stripes (16 hidden units) and MNIST (10 hidden units) by CD "
          "and PT with several k, ladders and learning rates 0.01, 0.05, 0.1: 20,000 updates, "
          "25 runs with each operator; reports medians of the maximum exact log-likelihood.",
      .settings =
          {.smoke = "Three settings, 2 pairs of runs of a few hundred updates.",
           .quick =
               "Bars and Stripes alone: CD-5, CD-10 and 10-PT1 at η = 0.05, 10 pairs of runs of "
               "20,000 updates.",
           .paper = "All 36 settings, 25 pairs of runs of 20,000 updates."},
      .seconds = {.smoke = 6, .quick = 14, .paper = 215000},
      .claims = {"B21", "B26", "B27"},
      .deviations =
          {"The grid of k and of ladders is ours (CD: k = 5, 10; PT: 10 and 20 temperatures, "
           "k = 1, 10): the published cells are not available.",
           "PT keeps one persistent ladder for each case of a minibatch.",
           "MNIST is binarised at > 127. Quick leaves it to paper: of the two pairs that it made "
           "before, T dropped less than G in one and more in the other."},
      .data = {"mnist/train-images-idx3-ubyte.gz"},
      .trials = trials,
      .cost = training_cost,
      .run = run_training,
      .summarise = summarise,
  };
}

}  // namespace boltzmark::experiments::bruegge2013_table1
