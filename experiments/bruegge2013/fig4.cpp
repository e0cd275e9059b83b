#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "experiments/bruegge2013/support/sampling.hpp"
#include "experiments/kit/bands.hpp"
#include "experiments/kit/statistics/power.hpp"
#include "experiments/kit/statistics/wilcoxon.hpp"

namespace boltzmark::experiments::bruegge2013_fig4 {
namespace {

constexpr int kShortLags = 30;  // beyond them ours are noise

/// The autocorrelation functions of all RBMs.  Shapes  [RBMs][lags + 1]
std::vector<std::vector<double>> functions(const std::vector<const Trial*>& rbms,
                                           const char* rule) {
  std::vector<std::vector<double>> all;
  for (const Trial* rbm : rbms) all.push_back(numbers(rbm->outputs.at(rule).at("acf")));
  return all;
}

/// Both functions up to some lag.
Panel panel(Series gibbs, Series flip, std::size_t lags) {
  for (Series* series : {&gibbs, &flip})
    for (std::vector<double>* values : {&series->x, &series->y, &series->lower, &series->upper})
      values->resize(std::min(values->size(), lags + 1));
  return {.x = {.label = "lag Δt / sweeps"},
          .y = {.label = "R(Δt)"},
          .series = {std::move(gibbs), std::move(flip)},
          .guides = {{.at = 0}},
          .legend = "top right"};
}

void summarise(const Results& results, Summary& summary) {
  const std::vector<const Trial*> rbms = find_rbms(results, sampled_problems().back());
  if (rbms.empty()) return;
  const auto gibbs = functions(rbms, "gibbs"), flip = functions(rbms, "flip");
  std::vector<double> lags(gibbs.front().size());
  std::iota(lags.begin(), lags.end(), 0);
  const Series g = band({.label = "G", .colour = 0}, lags, gibbs),
               t = band({.label = "T", .mark = Mark::dotted, .colour = 1}, lags, flip);
  const auto below =
      std::inner_product(t.y.begin() + 1, t.y.end(), g.y.begin() + 1, 0, std::plus<>(),
                         [](double a, double b) { return a < b ? 1 : 0; });
  summary.add(Figure{
      .name = "autocorrelation",
      .caption = fmt::format("Autocorrelation R(Δt) of the joint energy, {} RBMs with 500 hidden "
                             "units trained on MNIST; bands: 95 % intervals of the mean over "
                             "RBMs.",
                             gibbs.size()),
      .panels = {panel(g, t, lags.size() - 1), panel(g, t, kShortLags)},
      .columns = 2});
  if (gibbs.size() < 2 || results.profile() == Profile::smoke) return;
  std::vector<double> areas;
  for (std::size_t i = 0; i < gibbs.size(); ++i)
    areas.push_back(std::accumulate(gibbs[i].begin(), gibbs[i].end(), 0.0) -
                    std::accumulate(flip[i].begin(), flip[i].end(), 0.0));
  std::vector<double> times;
  for (const Trial* rbm : rbms) times.push_back(number(rbm->outputs.at("gibbs").at("tau")));
  const double time = mean_of(times);  // the paper's models, whose energies stay alike, exceed 1
  std::size_t larger = 0;
  for (std::size_t lag = 1; lag <= kShortLags; ++lag)
    larger += std::abs(t.y[lag]) > std::abs(g.y[lag]) ? 1 : 0;
  bool sound = time > 1;
  for (const Trial* rbm : rbms)
    for (const char* rule : {"gibbs", "flip"})
      sound = sound && rbm->outputs.at(rule).at("decided").get<bool>();
  const Interval area = mean_interval(areas);
  summary.add(Measure{
      .claim = "B30",
      .estimate = area.estimate,
      .lower = area.lower,
      .upper = area.upper,
      .n = static_cast<std::int64_t>(areas.size()),
      .power = sound ? mean_difference_power(areas.size(), 2, 0.05, Alternative::greater) : 0,
      .power_against = "a mean of two standard deviations over RBMs",
      .power_of_n = sound,
      .post_hoc = !sound,
      .decidable = sound,
      .note = fmt::format("area between the curves, lags 1 to {}; R of T lies below that of G at "
                          "{} of them, and is the larger in magnitude at {} of the first {}; "
                          "autocorrelation time of G (Geyer's) {:.2f} sweeps, which must exceed 1 "
                          "for a decision: the paper's is of energies that stay alike",
                          lags.size() - 1, below, larger, kShortLags, time)});
}

}  // namespace

Experiment experiment() {
  return {
      .id = "bruegge2013/fig4",
      .item = "Fig. 4",
      .title = "Does the autocorrelation function of T lie below that of Gibbs sampling?",
      .paper_did =
          "Plots the autocorrelation function of the energy for 24 RBMs with 500 hidden units "
          "trained on MNIST, a million steps each.",
      .settings = {.smoke = "The RBM of Table 2, 16 chains of 200 steps.",
                   .quick = "The 3 committed RBMs of Table 2, 16 chains of 10,000 steps.",
                   .paper = "The 24 RBMs of Table 2, 16 chains of 62,500 steps."},
      .claims = {"B30"},
      .deviations =
          {"The learning rate of the RBMs, 0.05, and that Gibbs sampling trained them, are ours; quick "
           "samples 3 committed ones, trained by 20-PT1 instead of 20-PT10.",
           "16 independent chains share the steps; quick cuts them to 10,000 each."},
      .trials_of = "bruegge2013/table2",
      .summarise = summarise,
  };
}

}  // namespace boltzmark::experiments::bruegge2013_fig4
