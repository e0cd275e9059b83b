#include "experiments/carlson2016/support/tracking_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "experiments/kit/measures.hpp"
#include "experiments/kit/published.hpp"
#include "experiments/kit/statistics/interval.hpp"

namespace boltzmark::experiments {
namespace {

constexpr std::size_t kStretches = 20;  // of a run, over each of which its curve is averaged

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

std::vector<std::size_t> all_checks(const TrackingCurves& run) {
  std::vector<std::size_t> all(run.errors.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

/// What a statistic of some checks is of every run that has such checks.
using OfChecks = std::function<double(const TrackingCurves&, std::span<const std::size_t>)>;
std::vector<double> over_runs(const std::vector<TrackingCurves>& runs,
                              std::vector<std::size_t> (*checks)(const TrackingCurves&),
                              const OfChecks& statistic) {
  std::vector<double> values;
  for (const TrackingCurves& run : runs)
    if (const auto chosen = checks(run); !chosen.empty()) values.push_back(statistic(run, chosen));
  return values;
}

std::string range_text(const std::vector<TrackingCurves>& runs) {
  std::set<int> updates;
  for (const TrackingCurves& run : runs)
    for (const std::size_t i : checks_in_range(run))
      updates.insert(static_cast<int>(run.ais_update[i]));
  return fmt::format("the checks in the paper's range of likelihood, updates {}",
                     fmt::join(updates, ", "));
}

/// A measure of one value a run: a run alone is told, not judged, for its checks are not
/// independent. Nothing of no run.
void add_over_runs(About about, const std::vector<double>& values, Summary& summary) {
  if (values.empty()) return;
  if (values.size() > 1) return summary.add(mean_measure(about, values));
  about.note += "; one run decides nothing";
  about.decidable = false;
  Measure measure = start_measure(about, 1);
  measure.estimate = values.front();
  measure.power = 0;
  measure.power_against = "anything, with one run";
  summary.add(std::move(measure));
}

/// Adds a measure of the checks in the paper's range, beside which all checks are told.
void add_of_checks(About about, const std::vector<TrackingCurves>& runs, const OfChecks& statistic,
                   Summary& summary) {
  about.note = fmt::format("over {}; over all checks it is {:.2f}", range_text(runs),
                           mean_of(over_runs(runs, all_checks, statistic)));
  add_over_runs(std::move(about), over_runs(runs, checks_in_range, statistic), summary);
}

/// max / min over alphas of the mean tracking error over some of the checks.
double worst_to_best(const TrackingCurves& run, std::span<const std::size_t> rows) {
  std::vector<double> errors;
  for (const auto& of_alpha : run.follow) errors.push_back(mean_error(rows, of_alpha));
  return *std::max_element(errors.begin(), errors.end()) /
         *std::min_element(errors.begin(), errors.end());
}

/// Means of a curve over a run's stretches.
std::vector<double> stretch_means(const std::vector<double>& curve) {
  const std::size_t length = curve.size() / kStretches;
  std::vector<double> means;
  for (std::size_t s = 0; s < kStretches; ++s)
    means.push_back(mean_of(std::span(curve).subspan(s * length, length)));
  return means;
}

/// How many stretches of a run its tracked likelihood is possible in: no model's can exceed minus the
/// entropy of the training cases, and once it does log Z misses modes.
std::size_t possible_stretches(const TrackingCurves& run, double ceiling) {
  const std::vector<double> train = stretch_means(run.train);
  return static_cast<std::size_t>(
      std::find_if(train.begin(), train.end(), [&](double mean) { return mean > ceiling; }) -
      train.begin());
}

/// The stretch, of the first `count`, where the validation likelihood is highest: of the mean over
/// all runs but one, so that chance in the run that is judged does not choose for it; of that run
/// itself where there is no other.
std::size_t best_stretch(const std::vector<TrackingCurves>& runs, std::size_t judged,
                         std::size_t count) {
  std::vector<double> sums(count, 0.0);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (i == judged && runs.size() > 1) continue;
    const std::vector<double> means = stretch_means(runs[i].valid);
    for (std::size_t s = 0; s < count; ++s) sums[s] += means[s];
  }
  return static_cast<std::size_t>(std::max_element(sums.begin(), sums.end()) - sums.begin());
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

void add_tracking_agreement(const std::vector<TrackingCurves>& runs, Summary& summary) {
  add_of_checks(
      {.claim = "C41",
       .likely_reason = "outside the range neither the tracked log Z nor that of AIS "
                        "finds all modes of a run that learns further than the paper's"},
      runs,
      [](const TrackingCurves& run, std::span<const std::size_t> checks) {
        return mean_error(checks, run.errors);
      },
      summary);
}

void add_tracking_alphas(const std::vector<TrackingCurves>& runs, Summary& summary) {
  Table table{.name = "alphas",
              .caption =
                  "Mean |tracked - AIS| of log Z over the checks of all runs, by alpha of the "
                  "partial update (Eq. 24). Checks of a run are not independent: no interval.",
              .columns = {{"alpha", "alpha", 2}, {"error / nats", "error", 3}}};
  for (std::size_t a = 0; a < std::size(kTrackingAlphas); ++a) {
    std::vector<double> errors;
    for (const TrackingCurves& run : runs)
      errors.insert(errors.end(), run.follow[a].begin(), run.follow[a].end());
    table.rows.push_back(
        {kTrackingAlphas[a], errors.empty() ? Cell(NotRun{}) : Cell(mean_of(errors))});
  }
  summary.add(std::move(table));
  add_of_checks({.claim = "C43",
                 .likely_reason = "a small alpha lags behind log Z as it rises; where every error "
                                  "is far below a nat no plot shows their ratio"},
                runs, worst_to_best, summary);
}

void add_early_stopping(const std::vector<TrackingCurves>& runs, double ceiling, Summary& summary) {
  if (runs.front().valid.size() < kStretches) return;
  std::size_t possible = kStretches;
  for (const TrackingCurves& run : runs)
    possible = std::min(possible, possible_stretches(run, ceiling));
  if (possible < 2) return;
  std::vector<double> falls, rises;
  std::set<std::size_t> best;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::vector<double> valid = stretch_means(runs[i].valid),
                              train = stretch_means(runs[i].train);
    const std::size_t at = best_stretch(runs, i, possible);
    falls.push_back(valid[at] - valid[possible - 1]);
    rises.push_back(train[possible - 1] - train[at]);
    best.insert(at + 1);
  }
  const double length = runs.front().update.back() / static_cast<double>(kStretches);
  const std::string note = fmt::format(
      "validation is highest in stretch {} of {:.0f} updates; judged up to update {:.0f}{}",
      fmt::join(best, ", "), length, length * static_cast<double>(possible),
      possible < kStretches ? ", after which the training likelihood is more than there can be"
                            : "");
  for (const auto& [part, values] :
       {std::pair{"validation falls", falls}, std::pair{"training rises", rises}})
    add_over_runs({.claim = "C42",
                   .part = part,
                   .note = note,
                   .likely_reason = "other step sizes of the pretraining and full batches"},
                  values, summary);
}

}  // namespace boltzmark::experiments
