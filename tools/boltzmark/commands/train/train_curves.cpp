#include "tools/boltzmark/commands/train/train_curves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <utility>

#include "experiments/kit/bands.hpp"
#include "experiments/kit/csv.hpp"
#include "experiments/kit/files.hpp"
#include "experiments/kit/report/plot.hpp"
#include "tools/boltzmark/input.hpp"

namespace boltzmark::cli {
namespace {

using experiments::csv_number;
using experiments::Series;

using Curve = std::function<double(const Evaluation&)>;

bool is_trusted(const Evaluation& evaluation) {
  return evaluation.status == Status::ok && std::isfinite(evaluation.mean_log_likelihood);
}

// The first and the last that can be trusted; none: null.
std::pair<const Evaluation*, const Evaluation*> trusted_ends(const Curves& curves) {
  const auto& all = curves.evaluations;
  const auto first = std::find_if(all.begin(), all.end(), is_trusted);
  if (first == all.end()) return {nullptr, nullptr};
  return {&*first, &*std::find_if(all.rbegin(), all.rend(), is_trusted)};
}

// A curve with its 95 % of log Z, through what can be trusted; or, beside it, the rest.
Series series(const Curves& curves, const std::string& label, int colour, bool trusted,
              const Curve& value) {
  Series curve{.label = trusted ? label : label + ", log Z not to be trusted", .colour = colour};
  curve.mark = trusted ? experiments::Mark::line_points : experiments::Mark::rings;
  for (const Evaluation& evaluation : curves.evaluations) {
    const double y = value(evaluation);
    if (is_trusted(evaluation) != trusted || !std::isfinite(y)) continue;
    const auto x = static_cast<double>(evaluation.update);
    if (curves.tracked && trusted) {
      experiments::add_normal(curve, x, y, evaluation.log_z_std_error);
      continue;
    }
    curve.x.push_back(x);
    curve.y.push_back(y);
  }
  return curve;
}

void add_series(experiments::Panel& panel, const Curves& curves, const std::string& label,
                int colour, const Curve& value) {
  for (const bool trusted : {true, false})
    if (Series drawn = series(curves, label, colour, trusted, value); !drawn.x.empty())
      panel.series.push_back(std::move(drawn));
}

template <class Number>
std::string optional_cell(const std::optional<Number>& value) {
  return value ? csv_number(static_cast<double>(*value)) : "";
}

std::string row(const Evaluation& e) {
  return fmt::format("{},{},{},{},{},{},{},{},{},{}\n", e.update, csv_number(e.learning_rate),
                     csv_number(e.weight_norm), csv_number(e.mean_log_likelihood),
                     optional_cell(e.validation), csv_number(e.log_z),
                     csv_number(e.log_z_std_error), name(e.status), optional_cell(e.round_trips),
                     optional_cell(e.negative_round_trips));
}

std::string curves_text(const Curves& curves) {
  std::string text = fmt::format(
      "update,learning_rate,weight_norm,{0},validation_{0},log_z,log_z_std_error,status,"
      "round_trips,negative_round_trips\n",
      curves.likelihood_name());
  for (const Evaluation& evaluation : curves.evaluations) text += row(evaluation);
  return text;
}

}  // namespace

bool fell_far(const Curves& curves) {
  const auto [first, last] = trusted_ends(curves);
  if (first == nullptr) return false;
  const double start = first->mean_log_likelihood;
  return last->mean_log_likelihood < start - 1 - 0.1 * std::abs(start);
}

std::string fall_text(const Curves& curves) {
  const auto [first, last] = trusted_ends(curves);
  return fmt::format(
      "at update {} the mean log-likelihood is {:.6g}, far below {:.6g} at update {}: training has "
      "gone wrong (a lower --learning-rate may help)",
      last->update, last->mean_log_likelihood, first->mean_log_likelihood, first->update);
}

std::string refused_text(const Curves& curves) {
  const auto& all = curves.evaluations;
  const auto refused = std::count_if(all.begin(), all.end(),
                                     [](const auto& one) { return one.status != Status::ok; });
  if (refused == 0) return "";
  return fmt::format(
      "log Z of {} of {} evaluations is not to be trusted: see their status (more "
      "--evaluate-sweeps may help)",
      refused, all.size());
}

std::string evaluation_heading(const Curves& curves) {
  const bool validated =
      !curves.evaluations.empty() && curves.evaluations.front().validation.has_value();
  return fmt::format("    update  {}mean log-likelihood / nats{}{}\n",
                     curves.bound ? "bound of the " : "", validated ? ": training, validation" : "",
                     curves.tracked ? " (+- by log Z), status" : "");
}

std::string evaluation_line(const Curves& curves, const Evaluation& evaluation) {
  const auto said = [&](double value) {
    return curves.tracked ? fmt::format("  {:.6f} +- {:.2g}", value, evaluation.log_z_std_error)
                          : fmt::format("  {:.6f}", value);
  };
  return fmt::format("{:>10}{}{}{}\n", evaluation.update, said(evaluation.mean_log_likelihood),
                     evaluation.validation ? said(*evaluation.validation) : "",
                     curves.tracked ? fmt::format("  {}", name(evaluation.status)) : "");
}

std::vector<JsonObject> evaluation_objects(const Curves& curves) {
  std::vector<JsonObject> all;
  const std::string likelihood = curves.likelihood_name();
  for (const Evaluation& one : curves.evaluations) {
    JsonObject& object = all.emplace_back();
    object.set("update", one.update).set(likelihood, finite(one.mean_log_likelihood));
    if (one.validation) object.set("validation_" + likelihood, finite(*one.validation));
    if (curves.tracked)
      object.set("log_z", finite(one.log_z))
          .set("log_z_std_error", finite(one.log_z_std_error))
          .set("status", std::string(name(one.status)))
          .set("round_trips", *one.round_trips);
  }
  return all;
}

void check_curves(const std::string& folder, bool replace, const Curves* own) {
  experiments::make_folder(folder);
  const std::string table = folder + "/curves.csv";
  std::error_code error;
  if (own != nullptr && !replace && std::filesystem::is_regular_file(table, error))
    replace = experiments::read_text(table).starts_with(curves_text(*own));
  for (const std::string& path : {table, folder + "/curves.svg"}) check_output(path, replace);
}

void write_curves(const Curves& curves, const std::string& folder) {
  experiments::write_text(folder + "/curves.csv", curves_text(curves));
}

void draw_curves(const Curves& curves, const std::string& folder) {
  experiments::Panel panel{.x = {.label = "update"},
                           .y = {.label = curves.bound ? "bound of the mean log-likelihood / nats"
                                                       : "mean log-likelihood / nats"},
                           .series = {},
                           .legend = "bottom right"};
  add_series(panel, curves, "training", 0, [](const auto& e) { return e.mean_log_likelihood; });
  if (curves.evaluations.front().validation)
    add_series(panel, curves, "validation", 1, [](const auto& e) { return *e.validation; });
  try {
    experiments::draw_figure({.name = "curves", .caption = "", .panels = {std::move(panel)}},
                             folder);
  } catch (const experiments::DrawingError& error) {
    complain(fmt::format("figure curves is missing: {}", error.what()));
  }
}

}  // namespace boltzmark::cli
