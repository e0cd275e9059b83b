#include "experiments/carlson2016/support/knot.hpp"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

namespace boltzmark::experiments {
namespace {

constexpr double kLeastShade = 1e-4;  // of the figure's colours

Json chain_of(const char* base) { return {{"base", base}, {"method", "chain"}}; }

Series flux_series(const Results& results, const char* base, int colour) {
  Series series{.label = base == std::string("rates") ? "base rates" : "uniform",
                .mark = Mark::line,
                .colour = colour};
  std::vector<std::vector<double>> all;
  for (const Trial* trial : results.where(chain_of(base)))
    all.push_back(numbers(trial->outputs.at("flux")));
  for (std::size_t k = 0; !all.empty() && k < all.front().size(); ++k) {
    double sum = 0, low = all.front()[k], high = low;
    for (const std::vector<double>& flux : all) {
      sum += flux[k];
      low = std::min(low, flux[k]);
      high = std::max(high, flux[k]);
    }
    series.x.push_back(static_cast<double>(k + 1));
    series.y.push_back(sum / static_cast<double>(all.size()));
    series.lower.push_back(low);
    series.upper.push_back(high);
  }
  return series;
}

/// Shares of the transitions from each rung, over all repeats; empty if there is no repeat.
Eigen::MatrixXd transition_matrix(const Results& results, const char* base) {
  Eigen::MatrixXd counts;
  for (const Trial* trial : results.where(chain_of(base))) {
    const Json& rows = trial->outputs.at("transitions");
    const auto rungs = static_cast<Eigen::Index>(rows.size());
    if (counts.size() == 0) counts = Eigen::MatrixXd::Zero(rungs, rungs);
    for (Eigen::Index j = 0; j < rungs; ++j) {
      const std::vector<double> row = numbers(rows[static_cast<std::size_t>(j)]);
      counts.row(j) += Eigen::Map<const Eigen::RowVectorXd>(row.data(), rungs);
    }
  }
  for (auto row : counts.rowwise()) row /= std::max(1.0, row.sum());
  return counts;
}

}  // namespace

void add_transition_figure(const Results& results, Summary& summary) {
  Figure figure{
      .name = "transitions",
      .caption =
          "Fig. 7 (right): the empirical matrix of transitions between the 100 rungs of "
          "RTS chains, all repeats together: left with base rates, right with a uniform p_1.",
      .height = 340,
      .script = "rung-transitions.gp",
      .data = {{"base", "from", "to", "log10_probability"}}};
  std::vector<std::string> rare;
  for (const char* base : {"rates", "uniform"}) {
    const Eigen::MatrixXd matrix = transition_matrix(results, base);
    if (matrix.size() == 0) return;
    rare.push_back(fmt::format("{} of {}", (matrix.array() < kLeastShade).count(), matrix.size()));
    for (Eigen::Index j = 0; j < matrix.rows(); ++j)
      for (Eigen::Index k = 0; k < matrix.cols(); ++k)
        figure.data.push_back(
            {base, fmt::format("{}", j + 1), fmt::format("{}", k + 1),
             fmt::format("{:.2f}", std::log10(std::max(kLeastShade, matrix(j, k))))});
  }
  figure.caption +=
      fmt::format(" The least shade is of those rarer than 10^-4 or not seen: {} left, {} right.",
                  rare[0], rare[1]);
  summary.add(std::move(figure));
}

void add_flux_figure(const Results& results, Summary& summary) {
  Panel panel{.title = "Flux between rungs",
              .x = {.label = "cut above rung k"},
              .y = {.label = "flux / flux of independent rungs", .log = true},
              .legend = "bottom left"};
  panel.series = {flux_series(results, "rates", 0), flux_series(results, "uniform", 1)};
  if (panel.series[0].x.empty() || panel.series[1].x.empty()) return;
  summary.add(Figure{.name = "knot-figure",
                     .caption = "How often chains of RTS cross from rungs 1..k to those above, "
                                "relative to rungs drawn independently. Mean and range of repeats.",
                     .panels = {std::move(panel)}});
}

}  // namespace boltzmark::experiments
