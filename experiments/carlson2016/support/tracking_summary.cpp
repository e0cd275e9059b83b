#include "experiments/carlson2016/support/tracking_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

#include "experiments/kit/measures.hpp"
#include "experiments/kit/published.hpp"
#include "experiments/kit/statistics/bootstrap.hpp"
#include "experiments/kit/statistics/power.hpp"

namespace boltzmark::experiments {
namespace {

constexpr int kWindows = 20;  // a run's curve is averaged over this many stretches
constexpr int kBatches = 5;   // of a stretch, for the error of its mean

std::vector<double> differences(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> out(a.size());
  std::transform(a.begin(), a.end(), b.begin(), out.begin(), std::minus<>());
  return out;
}

double mean_error(std::span<const std::size_t> rows, const std::vector<double>& errors) {
  double sum = 0;
  for (const std::size_t row : rows) sum += errors[row];
  return sum / static_cast<double>(rows.size());
}

/// The checks at which AIS's training likelihood lies in the range of the published curve: beyond
/// it the run is no longer the paper's.
std::vector<std::size_t> checks_in_range(const TrackingCurves& run) {
  const PublishedCurve published = find_published("carlson2016_fig5", "", "Train-AIS");
  const double most = *std::max_element(published.y.begin(), published.y.end());
  std::vector<std::size_t> inside;
  for (std::size_t i = 0; i < run.ais_train.size(); ++i)
    if (run.ais_train[i] <= most) inside.push_back(i);
  return inside;
}

std::string range_text(const TrackingCurves& run) {
  const auto inside = checks_in_range(run);
  std::vector<int> updates;
  for (const std::size_t i : inside) updates.push_back(static_cast<int>(run.ais_update[i]));
  return fmt::format(
      "the checks in the paper's range of likelihood, updates {}; one run, whose "
      "checks are not independent, decides nothing",
      fmt::join(updates, ", "));
}

/// max / min over alphas of the mean tracking error over some of the checks.
double worst_to_best(std::span<const std::size_t> rows, const TrackingCurves& run) {
  std::vector<double> errors;
  for (const auto& of_alpha : run.follow) errors.push_back(mean_error(rows, of_alpha));
  return *std::max_element(errors.begin(), errors.end()) /
         *std::min_element(errors.begin(), errors.end());
}

/// Mean over a stretch of the run and half the width of its 95 % interval, from its batches.
struct Stretch {
  double mean, half_width;
};
Stretch stretch(const std::vector<double>& curve, int w) {
  const std::size_t length = curve.size() / kWindows, batch = length / kBatches;
  std::vector<double> batches;
  for (std::size_t b = 0; b < kBatches; ++b) {
    const auto first = curve.begin() + static_cast<std::ptrdiff_t>(w * length + b * batch);
    batches.push_back(std::accumulate(first, first + static_cast<std::ptrdiff_t>(batch), 0.0) /
                      static_cast<double>(batch));
  }
  const Interval mean = mean_interval(batches);
  return {mean.estimate, (mean.upper - mean.lower) / 2};
}

void add_gain(const std::string& part, const Stretch& from, const Stretch& to, bool whole,
              const std::string& note, Summary& summary) {
  const double gain = to.mean - from.mean, half = std::hypot(from.half_width, to.half_width);
  Measure measure =
      interval_measure({.claim = "C42",
                        .part = part,
                        .note = note,
                        .likely_reason = "other step sizes of the pretraining and full batches",
                        .decidable = whole},
                       {gain, gain - half, gain + half}, 1);
  measure.power = normal_power(1.96 / half, 0.05, Alternative::greater);
  measure.power_against = "1 nat";
  measure.post_hoc = true;
  summary.add(std::move(measure));
}

}  // namespace

TrackingCurves::TrackingCurves(const Json& outputs)
    : update(numbers(outputs.at("update"))),
      train(numbers(outputs.at("train"))),
      valid(numbers(outputs.at("valid"))),
      ais_update(numbers(outputs.at("ais_update"))),
      ais_std_error(numbers(outputs.at("ais_std_error"))),
      follow(std::size(kTrackingAlphas)) {
  const std::vector<double> ais = numbers(outputs.at("ais_log_z")),
                            tracked = numbers(outputs.at("tracked_log_z"));
  ais_train = differences(numbers(outputs.at("train_log_f")), ais);
  ais_valid = differences(numbers(outputs.at("valid_log_f")), ais);
  for (std::size_t i = 0; i < ais.size(); ++i) {
    errors.push_back(std::abs(tracked[i] - ais[i]));
    const std::vector<double> of_alphas = numbers(outputs.at("followers").at(i));
    for (std::size_t a = 0; a < follow.size(); ++a)
      follow[a].push_back(std::abs(of_alphas[a] - ais[i]));
  }
}

void add_tracking_figure(const TrackingCurves& run, Profile profile, Summary& summary) {
  Panel panel{
      .x = {.label = "update"},
      .y = {.label = "mean log-likelihood / nats"},
      .series = {{.label = "train, tracked", .x = run.update, .y = run.train, .colour = 2},
                 {.label = "validation, tracked", .x = run.update, .y = run.valid, .colour = 1},
                 {.label = "train, AIS",
                  .x = run.ais_update,
                  .y = run.ais_train,
                  .mark = Mark::points,
                  .colour = 0},
                 {.label = "validation, AIS",
                  .x = run.ais_update,
                  .y = run.ais_valid,
                  .mark = Mark::points,
                  .colour = 4}},
      .legend = "below maxrows 4"};
  if (profile != Profile::smoke)
    for (const auto& [curve, label, colour] :
         {std::tuple{"Train-RTS", "train, tracked", 2},
          std::tuple{"Validation-RTS", "validation, tracked", 1},
          std::tuple{"Train-AIS", "train, AIS", 0},
          std::tuple{"Validation-AIS", "validation, AIS", 4}})
      panel.series.push_back(
          published_series(find_published("carlson2016_fig5", "", curve), label, colour));
  Panel published_range = panel;
  published_range.title = "the range that the paper shows";
  published_range.y.low = -110;
  published_range.y.high = -45;
  summary.add(Figure{.name = "tracking",
                     .caption = "Mean log-likelihood of dna during one training run, with log Z "
                                "tracked by RTS, and as AIS gives it at some updates. Dotted, in "
                                "the same colours: published, digitised.",
                     .panels = {std::move(panel), std::move(published_range)},
                     .height = 460});
}

void add_tracking_checks(const TrackingCurves& run, Summary& summary) {
  Table table{.name = "checks",
              .caption = "Tracked log-likelihoods beside those by AIS, nats per case.",
              .columns = {{"update", "update", 0},
                          {"train, tracked", "train", 2},
                          {"train, AIS", "train_ais", 2},
                          {"validation, tracked", "valid", 2},
                          {"validation, AIS", "valid_ais", 2},
                          {"std error of AIS", "ais_std_error", 2}}};
  for (std::size_t i = 0; i < run.ais_update.size(); ++i) {
    const auto at = std::find(run.update.begin(), run.update.end(), run.ais_update[i]);
    const auto row = static_cast<std::size_t>(at - run.update.begin());
    table.rows.push_back({static_cast<std::int64_t>(run.ais_update[i]), run.train[row],
                          run.ais_train[i], run.valid[row], run.ais_valid[i],
                          run.ais_std_error[i]});
  }
  summary.add(std::move(table));
}

void add_tracking_agreement(const TrackingCurves& run, Summary& summary) {
  Measure measure = start_measure(
      {.claim = "C41",
       .note = fmt::format("mean over {}; over all {} checks it is {:.2f}", range_text(run),
                           run.errors.size(), mean_of(run.errors)),
       .likely_reason = "outside the range neither the tracked log Z nor that of AIS finds all "
                        "modes of a run that learns further than the paper's",
       .decidable = false},
      1);
  measure.estimate = mean_error(checks_in_range(run), run.errors);
  measure.power = 0;
  measure.power_against = "anything, with one run";
  summary.add(std::move(measure));
}

void add_tracking_alphas(const TrackingCurves& run, Summary& summary) {
  Table table{.name = "alphas",
              .caption =
                  "Mean |tracked - AIS| of log Z over the checks, by alpha of the partial "
                  "update (Eq. 24).",
              .columns = {{"alpha", "alpha", 2}, {"error / nats", "error", 3}}};
  for (std::size_t a = 0; a < run.follow.size(); ++a)
    table.rows.push_back({kTrackingAlphas[a], mean_cell(run.follow[a])});
  summary.add(std::move(table));
  const auto in_range = checks_in_range(run);
  if (in_range.empty()) return;
  std::vector<std::size_t> all(run.errors.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  Measure measure = start_measure(
      {.claim = "C43",
       .note = fmt::format("over {}; over all {} checks it is {:.2f}", range_text(run),
                           run.errors.size(), worst_to_best(all, run)),
       .likely_reason = "smoothing leaves noise that grows with alpha; where every error is far "
                        "below a nat no plot shows their ratio",
       .decidable = false},
      1);
  measure.estimate = worst_to_best(in_range, run);
  measure.power = 0;
  measure.power_against = "anything, with one run";
  summary.add(std::move(measure));
}

void add_early_stopping(const TrackingCurves& run, int whole_run, Summary& summary) {
  if (run.valid.size() < kWindows * kBatches) return;
  std::vector<Stretch> valid;
  for (int w = 0; w < kWindows; ++w) valid.push_back(stretch(run.valid, w));
  const auto best = static_cast<int>(
      std::max_element(valid.begin(), valid.end(),
                       [](const Stretch& a, const Stretch& b) { return a.mean < b.mean; }) -
      valid.begin());
  const bool whole = run.update.back() >= whole_run;
  const std::string note =
      fmt::format("validation is highest in updates {:.0f} to {:.0f} of {:.0f}",
                  run.update.back() * best / kWindows, run.update.back() * (best + 1) / kWindows,
                  run.update.back());
  add_gain("validation falls", valid.back(), valid[best], whole, note, summary);
  add_gain("training rises", stretch(run.train, best), stretch(run.train, kWindows - 1), whole,
           note, summary);
}

}  // namespace boltzmark::experiments
