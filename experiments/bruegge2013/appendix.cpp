#include "experiments/bruegge2013/support/training.hpp"

namespace boltzmark::experiments::bruegge2013_appendix {
namespace {

const std::vector<std::string> kPcd{"pcd:5", "pcd:10"};
const SettingsGrid kPcdGrid{.data = {"bas", "mnist"}, .negatives = kPcd};
const SettingsGrid kModesGrid{.data = {"artificial-modes-0.1", "artificial-modes-0.01"},
                              .negatives = {"cd:5", "cd:10", "pcd:5", "pcd:10", "pt:10:1",
                                            "pt:10:10", "pt:20:1", "pt:20:10"}};

std::size_t settings(const SettingsGrid& grid) {
  return grid.data.size() * grid.negatives.size() * std::size(kRates);
}

std::vector<Json> trials(Profile profile) {
  std::vector<Json> all;
  if (profile == Profile::smoke) {
    add_training_trials({.data = "bas", .negative = "pcd:5", .repeats = 2, .updates = 300}, all);
    for (const std::string& data : kModesGrid.data)
      add_training_trials({.data = data, .negative = "cd:5", .repeats = 2, .updates = 300}, all);
  } else if (profile == Profile::quick) {
    for (const std::string& negative : kPcd)
      add_training_trials({.data = "bas", .negative = negative, .repeats = 10}, all);
    for (const std::string& data : kModesGrid.data)
      add_training_trials({.data = data, .negative = "cd:5", .repeats = 10}, all);
  } else {
    for (const SettingsGrid* grid : {&kPcdGrid, &kModesGrid})
      for (const std::string& data : grid->data)
        for (const std::string& negative : grid->negatives)
          for (const double rate : kRates)
            add_training_trials({.data = data, .negative = negative, .rate = rate}, all);
  }
  return all;
}

void summarise(const Results& results, Summary& summary) {
  const std::vector<int> pcd =
      add_maxima_table(results, kPcdGrid, "pcd",
                       "PCD on Bars and Stripes and MNIST: medians of the maximum mean "
                       "log-likelihood of a run, starred as in Table 1.",
                       summary);
  const std::vector<int> modes =
      add_maxima_table(results, kModesGrid, "modes",
                       "Artificial Modes: medians of the maximum mean log-likelihood of a run, "
                       "starred as in Table 1.",
                       summary);
  add_ceiling_measure(results, summary);
  if (results.profile() == Profile::smoke) return;
  add_majority_measure("B22", pcd, settings(kPcdGrid), summary);
  add_majority_measure("B23", modes, settings(kModesGrid), summary);
  add_divergence_measures(results, kPcdGrid, ", PCD", summary);
  add_divergence_measures(results, kModesGrid, ", Artificial Modes", summary);
}

}  // namespace

Experiment experiment() {
  return {
      .id = "bruegge2013/appendix",
      .item = "Appendix",
      .title = "Does the comparison of Table 1 hold for PCD and for Artificial Modes?",
      .paper_did =
          "Repeats Table 1 for PCD, and for Artificial Modes (four modes of 16 pixels, each "
          "flipped with probability 0.1 or 0.01) with all algorithms.",
      .settings = {.smoke = "Three settings, 2 pairs of runs of 300 updates.",
                   .quick =
                       "Bars and Stripes: PCD-5 and PCD-10; Artificial Modes: CD-5 at both p_mut; "
                       "η = 0.05, 10 pairs of runs of 20,000 updates.",
                   .paper = "All 60 settings, 25 pairs of runs of 20,000 updates."},
      .seconds = {.smoke = 2, .quick = 18, .paper = 26000},
      .claims = {"B22", "B23", "B26", "B27"},
      .deviations =
          {"The grid is that of Table 1 with PCD-5 and PCD-10 added: the published cells are "
           "not available.",
           "Persistent chains start uniformly at random, and there are as many as a "
           "minibatch has cases."},
      .data = {"mnist/train-images-idx3-ubyte.gz"},
      .trials = trials,
      .cost = training_cost,
      .run = run_training,
      .summarise = summarise,
  };
}

}  // namespace boltzmark::experiments::bruegge2013_appendix
