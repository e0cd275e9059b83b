#include <fmt/format.h>

#include <algorithm>

#include "experiments/kit/paired.hpp"
#include "experiments/yokoyama2019/support/learning.hpp"
#include "experiments/yokoyama2019/support/units.hpp"

namespace boltzmark::experiments::yokoyama2019_fig2 {
namespace {

constexpr PerProfile<int> kRepeats{.smoke = 2, .quick = 30, .paper = 300};
constexpr int kCases = 200;

std::vector<Json> trials(Profile profile) {
  std::vector<Json> all;
  for (int repeat = 0; repeat < kRepeats.at(profile); ++repeat)
    for (const int extra : {0, 5})
      all.push_back(learning_trial(extra, repeat, kCases, {1, 2, 4, 0}));
  return all;
}

/// One number of every repeat's KLD curve.
template <class Statistic>
std::vector<double> each(const Results& results, int extra, int s, const Statistic& statistic) {
  std::vector<double> values;
  for (const auto& curve : learning_curves(results, {{"extra", extra}}, s, "kld"))
    values.push_back(statistic(curve));
  return values;
}

double final_value(const std::vector<double>& curve) { return curve.back(); }
double half_way(const std::vector<double>& curve) { return curve[curve.size() / 2]; }
double lowest(const std::vector<double>& curve) {
  return *std::min_element(curve.begin(), curve.end());
}
double rise(const std::vector<double>& curve) { return final_value(curve) - lowest(curve); }

void add_rises(const Results& results, Summary& summary) {
  for (const int extra : {0, 5})
    for (std::size_t i = 0; i < std::size(kFigureSteps); ++i) {
      const int s = kFigureSteps[i];
      const std::string setting = fmt::format("R = {}, ", extra);
      summary.add(paired_measure("Y07", setting + "s = " + steps_text(s),
                                 each(results, extra, s, final_value),
                                 each(results, extra, s, half_way), true,
                                 "KLD after 5,000 updates less that after 2,500"));
      if (i + 1 == std::size(kFigureSteps)) continue;
      const int next = kFigureSteps[i + 1];
      summary.add(paired_measure("Y08", setting + steps_text(s) + " > " + steps_text(next),
                                 each(results, extra, s, rise), each(results, extra, next, rise),
                                 true, "final KLD less its minimum, lower s less higher s"));
    }
}

void add_model_error(const Results& results, Summary& summary) {
  for (const int s : kFigureSteps) {
    const auto rises = [&](int extra) {
      return by_repeat(results.where({{"extra", extra}}), "repeat", [&](const Trial& run) {
        return rise(numbers(run.outputs.at(std::to_string(s)).at("kld")));
      });
    };
    const ByRepeat with = rises(5), without = rises(0);
    const std::string note = "final KLD less its minimum, R = 5 less R = 0";
    summary.add(paired_measure("Y09", "s = " + steps_text(s), with, without, true, note));
    summary.add(paired_measure("Y24", "s = " + steps_text(s), with, without, true, note));
  }
}

void add_best(const Results& results, Summary& summary) {
  for (const int extra : {0, 5})
    for (const int s : {1, 2, 4}) {
      const std::string setting = fmt::format("R = {}, ∞ < {}", extra, s);
      summary.add(paired_measure("Y11", "final, " + setting, each(results, extra, 0, final_value),
                                 each(results, extra, s, final_value), false, "final KLD"));
      summary.add(paired_measure("Y11", "minimum, " + setting, each(results, extra, 0, lowest),
                                 each(results, extra, s, lowest), false,
                                 "KLD at its minimum over the updates"));
    }
}

void summarise(const Results& results, Summary& summary) {
  Figure figure = learning_figure(results, "kld", "KLD / (nats per spin)");
  figure.name = "kld";
  figure.caption = fmt::format(
      "KLD of the trained from the generating RBM, over |V|, against updates. Means of {} "
      "experiments with 95 % bands.",
      results.where({{"extra", 5}}).size());
  for (Panel& panel : figure.panels) {
    panel.y.high = 0.05;  // the start, at 0.1 and more, is cut off
    panel.legend = "top right";
  }
  summary.add(figure);
  const std::size_t pairs = results.where({{"extra", 5}}).size();
  if (results.profile() == Profile::smoke || pairs < 2 ||
      results.where({{"extra", 0}}).size() != pairs)
    return;
  add_rises(results, summary);
  add_model_error(results, summary);
  add_best(results, summary);
}

}  // namespace

Experiment experiment() {
  return {
      .id = "yokoyama2019/fig2",
      .item = "Fig. 2",
      .title = "Is over-fitting slower the more values a hidden unit has?",
      .paper_did =
          "Trains RBMs with 4 + R hidden units, s = 1, 2, 4 and infinity, on 200 cases of a random "
          "8-4 binary RBM by CD-1 (full batch, Adam) and plots the KLD between the two, over |V|; "
          "R = 0 and 5, 300 experiments.",
      .settings = {.smoke = "2 experiments of 5,000 updates.",
                   .quick = "30 experiments of 5,000 updates.",
                   .paper = "300 experiments of 5,000 updates."},
      .seconds = {.smoke = 2, .quick = 12, .paper = 120},
      .claims = {"Y07", "Y08", "Y09", "Y11", "Y24"},
      .deviations =
          {"The length of training is not stated: 5,000 updates, in which every mean KLD passes its "
           "minimum.",
           "Adam's settings are not stated: its authors' defaults, rate 0.001.",
           "Cases are exact draws from the enumerated law instead of Gibbs samples.",
           "The models of one experiment share task, initial weights and draws."},
      .trials = trials,
      .run = run_learning,
      .summarise = summarise,
  };
}

}  // namespace boltzmark::experiments::yokoyama2019_fig2
