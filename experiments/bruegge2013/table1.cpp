#include <fmt/format.h>

#include <algorithm>

#include "experiments/bruegge2013/support/training.hpp"
#include "experiments/kit/statistics/power.hpp"
#include "experiments/kit/statistics/proportion.hpp"

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

/// How far a run falls from its best log-likelihood.
double drop(const std::vector<double>& curve) {
  return *std::max_element(curve.begin(), curve.end()) - curve.back();
}

constexpr double kDivergence = 0.1;  // nats: the drop of G from which a setting counts as diverging

/// Adds the share of pairs in which something holds, minus 1/2, with its exact interval and test.
void add_share(const std::string& part, Count count, const std::string& note, Summary& summary) {
  const Interval share = proportion_interval(count.successes, count.trials);
  summary.add(Measure{.claim = "B26",
                      .part = part,
                      .estimate = share.estimate - 0.5,
                      .lower = share.lower - 0.5,
                      .upper = share.upper - 0.5,
                      .p_value = binomial_test(count, 0.5, Alternative::greater),
                      .p_opposite = binomial_test(count, 0.5, Alternative::less),
                      .n = static_cast<std::int64_t>(count.trials),
                      .power = binomial_power(count.trials, 0.5, 0.8, 0.05, Alternative::greater),
                      .power_against = "a share of 0.8",
                      .note = note});
}

/// B26, over the settings where learning with G diverges. Counting pairs keeps the scales of the
/// data sets apart.
void add_divergence(const Results& results, Summary& summary) {
  Count slowed, not_avoided;
  std::string settings;
  for (const std::string& data : kGrid.data)
    for (const std::string& negative : kGrid.negatives)
      for (const double rate : kRates) {
        const PairedCurves curves = collect_pairs(results, data, negative, rate);
        if (curves.pairs() == 0) continue;
        std::vector<double> gibbs, flip;
        for (std::size_t i = 0; i < curves.pairs(); ++i) {
          gibbs.push_back(drop(curves.gibbs[i]));
          flip.push_back(drop(curves.flip[i]));
        }
        if (median(gibbs) <= kDivergence) continue;
        settings += fmt::format("{}{} {} η = {} (median drop of G {:.3f}, of T {:.3f})",
                                settings.empty() ? "" : "; ", data_title(data),
                                negative_title(negative), rate, median(gibbs), median(flip));
        for (std::size_t i = 0; i < gibbs.size(); ++i) {
          slowed.successes += flip[i] < gibbs[i];
          not_avoided.successes += flip[i] > kDivergence;
        }
        slowed.trials += gibbs.size();
        not_avoided.trials += gibbs.size();
      }
  if (slowed.trials == 0) {
    summary.note(
        fmt::format("B26: learning with G diverges (median drop above {} nats) in none of the "
                    "settings run in this profile.",
                    kDivergence));
    return;
  }
  add_share("slowed", slowed, "pairs in which T drops less; settings that diverge: " + settings,
            summary);
  add_share("not avoided", not_avoided,
            fmt::format("pairs in which T drops by more than {} nats", kDivergence), summary);
}

void add_ceiling(const Results& results, Summary& summary) {
  double worst = -1e300;
  std::int64_t runs = 0;
  for (const Trial& trial : results.trials()) {
    const double ceiling = data_ceiling(trial.inputs.at("data"));
    for (const double value : numbers(trial.outputs.at("log_likelihood")))
      worst = std::max(worst, value - ceiling);
    ++runs;
  }
  if (runs > 0)
    summary.add(Measure{.claim = "B27",
                        .estimate = worst,
                        .n = runs,
                        .note = "every run and checkpoint, each against its own data's ceiling"});
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
    add_divergence(results, summary);
  }
  add_ceiling(results, summary);
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
