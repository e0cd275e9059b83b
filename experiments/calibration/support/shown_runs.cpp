#include "experiments/calibration/support/shown_runs.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "experiments/kit/statistics/ranking.hpp"

namespace boltzmark::experiments {
namespace {

constexpr double kCaught = 0.95;  // of the wrong ones

ShownRun read_run(const Trial& trial, const std::string& method) {
  const Json& said = trial.outputs.at("methods").at(method);
  ShownRun run{.outcome = read_outcome(trial, method)};
  for (const auto& [key, value] : said.at("numbers").items()) run.numbers[key] = number(value);
  for (const auto& [key, value] : said.at("refused").items()) run.refused[key] = value;
  return run;
}

}  // namespace

bool ShownRun::is_refused_by(const std::string& rule) const {
  const auto found = refused.find(rule);
  return found != refused.end() && found->second;
}

bool ShownRun::is_refused_by_any(const std::function<bool(const StatusRule&)>& picked) const {
  const auto& rules = status_rules();
  return std::any_of(rules.begin(), rules.end(), [&](const StatusRule& rule) {
    return picked(rule) && is_refused_by(rule.key);
  });
}

double ShownRun::score(const Predictor& predictor) const {
  constexpr double kMost = std::numeric_limits<double>::infinity();
  const auto found = numbers.find(predictor.key);
  if (found != numbers.end() && !std::isnan(found->second)) return found->second;
  return predictor.needed ? kMost : -kMost;
}

ShownHalves ShownHalves::of_method(const std::string& method) const {
  const auto is_of = [&](const ShownRun& run) { return run.outcome.method == method; };
  return {pick(training, is_of), pick(held_out, is_of)};
}

ShownHalves read_shown(const Results& results) {
  ShownHalves halves;
  for (const Trial& trial : results.trials())
    for (const auto& [method, said] : trial.outputs.at("methods").items()) {
      ShownRun run = read_run(trial, method);
      if (run.outcome.model->unfindable || !std::isfinite(run.outcome.error) ||
          !std::isfinite(run.outcome.std_error))
        continue;
      (run.outcome.model->training ? halves.training : halves.held_out).push_back(std::move(run));
    }
  return halves;
}

std::vector<ShownRuns> by_model(const ShownRuns& runs) {
  std::vector<ShownRuns> models;
  for (const ZooModel& model : zoo()) {
    ShownRuns of_model =
        pick(runs, [&](const ShownRun& run) { return run.outcome.model == &model; });
    if (!of_model.empty()) models.push_back(std::move(of_model));
  }
  return models;
}

double area_of(const std::vector<ShownRuns>& models, std::span<const std::size_t> rows,
               const Predictor& predictor) {
  std::vector<double> wrong, others;
  for (const std::size_t row : rows)
    for (const ShownRun& run : models[row])
      (is_wrong(run) ? wrong : others).push_back(run.score(predictor));
  return wrong.empty() || others.empty() ? 0.5 : area_under_roc(wrong, others);
}

double area_of(const ShownRuns& runs, const Predictor& predictor) {
  const std::size_t row = 0;
  return area_of(std::vector<ShownRuns>{runs}, {&row, 1}, predictor);
}

std::vector<Predictor> ranked_predictors(const ShownRuns& runs) {
  std::vector<std::pair<double, Predictor>> areas;
  for (const Predictor& predictor : predictors())
    if (std::any_of(runs.begin(), runs.end(),
                    [&](const ShownRun& run) { return run.numbers.contains(predictor.key); }))
      areas.emplace_back(area_of(runs, predictor), predictor);
  std::stable_sort(areas.begin(), areas.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<Predictor> ranked;
  for (auto& [area, predictor] : areas) ranked.push_back(std::move(predictor));
  return ranked;
}

double threshold_of(const ShownRuns& runs, const Predictor& predictor) {
  std::vector<double> scores;
  for (const ShownRun& run : runs)
    if (is_wrong(run)) scores.push_back(run.score(predictor));
  std::sort(scores.begin(), scores.end(), std::greater<>());
  const double caught = std::ceil(kCaught * static_cast<double>(scores.size()));
  return scores.at(static_cast<std::size_t>(caught) - 1);
}

}  // namespace boltzmark::experiments
