#include "train_curves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "experiments/kit/csv.hpp"
#include "experiments/kit/files.hpp"
#include "experiments/kit/plot.hpp"
#include "input.hpp"
#include "output.hpp"

namespace boltzmark::cli {
namespace {

using Curve = std::function<double(const Evaluation&)>;

experiments::Series series(const std::vector<Evaluation>& evaluations, const std::string& label,
                           const Curve& value) {
  experiments::Series curve{.label = label, .mark = experiments::Mark::line_points};
  for (const Evaluation& evaluation : evaluations) {
    curve.x.push_back(static_cast<double>(evaluation.update));
    curve.y.push_back(value(evaluation));
  }
  return curve;
}

}  // namespace

bool fell_far(const std::vector<Evaluation>& evaluations) {
  if (evaluations.empty()) return false;
  const double start = evaluations.front().mean_log_likelihood;
  return evaluations.back().mean_log_likelihood < start - 1 - 0.1 * std::abs(start);
}

std::string fall_text(const std::vector<Evaluation>& evaluations) {
  return fmt::format(
      "at update {} the mean log-likelihood is {:.6g}, far below {:.6g} at update {}: training has "
      "gone wrong (a lower --learning-rate may help)",
      evaluations.back().update, evaluations.back().mean_log_likelihood,
      evaluations.front().mean_log_likelihood, evaluations.front().update);
}

void check_curves(const std::string& folder, bool replace) {
  experiments::make_folder(folder);
  for (const char* name : {"/curves.csv", "/curves.svg"}) check_output(folder + name, replace);
}

void write_curves(const std::vector<Evaluation>& evaluations, const std::string& folder) {
  using experiments::csv_number;
  std::string text =
      "update,learning_rate,weight_norm,mean_log_likelihood,validation_mean_log_likelihood\n";
  for (const Evaluation& e : evaluations)
    text += fmt::format("{},{},{},{},{}\n", e.update, csv_number(e.learning_rate),
                        csv_number(e.weight_norm), csv_number(e.mean_log_likelihood),
                        e.validation ? csv_number(*e.validation) : "");
  experiments::write_text(folder + "/curves.csv", text);
}

void draw_curves(const std::vector<Evaluation>& evaluations, const std::string& folder) {
  experiments::Panel panel{.x = {.label = "update"},
                           .y = {.label = "mean log-likelihood / nats"},
                           .series = {},
                           .legend = "bottom right"};
  panel.series.push_back(
      series(evaluations, "training", [](const auto& e) { return e.mean_log_likelihood; }));
  if (evaluations.front().validation)
    panel.series.push_back(
        series(evaluations, "validation", [](const auto& e) { return *e.validation; }));
  try {
    experiments::draw_figure({.name = "curves", .caption = "", .panels = {std::move(panel)}},
                             folder);
  } catch (const std::exception& error) {
    complain(fmt::format("figure curves is missing: {}", error.what()));
  }
}

}  // namespace boltzmark::cli
