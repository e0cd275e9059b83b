#include "experiments/carlson2016/support/error_curves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

#include "boltzmark/core/error.hpp"
#include "boltzmark/estimate/methods.hpp"
#include "boltzmark/sample/annealing/annealing.hpp"
#include "experiments/carlson2016/support/initial_rounds.hpp"
#include "experiments/carlson2016/support/models.hpp"
#include "experiments/kit/datasets/named_datasets.hpp"
#include "experiments/kit/measures.hpp"
#include "experiments/kit/published.hpp"
#include "experiments/kit/statistics/interval.hpp"

namespace boltzmark::experiments {
namespace {

constexpr int kCurveChains = 100;
/// What the law of 100 rungs given a state takes, in the units of sweep_cost, as timed.
constexpr double kRungLawCost = 90;
constexpr double kFarOff = 10;  ///< times the median curve's largest error

// Ten initial iterations as the paper made, or until they settle, at most half of the sweeps.
Estimate run_paper_start(const LayeredTarget& target, int sweeps, bool settle,
                         const TrialContext& context) {
  SimulatedTemperingOptions options =
      paper_start(target, Ladder::linear(100), sweeps,
                  settle ? iterations_in(sweeps) : kPaperIterations, context);
  options.stop_early = settle;
  return judged_rts(simulated_tempering(target, options));
}

Json run_raise(const LayeredTarget& target, int sweeps, const TrialContext& context) {
  const Eigen::MatrixXf cases = load_dataset("mnist:test").values.leftCols(kCurveChains);
  const AnnealingResult result =
      reverse_annealing(target,
                        {.ladder = Ladder::linear(sweeps + 1),
                         .chains = kCurveChains,
                         .sweeps = sweeps,
                         .key = context.key,
                         .progress = [&](double share) { context.progress(share); }},
                        [&](Population& population, int first) {
                          population.observe(cases.middleCols(first, population.chains()));
                        });
  Json outputs = describe_estimate(result.estimate);
  outputs["mean_r"] = -result.mean_log_weight;
  return outputs;
}

std::string truth_text(const Truth& truth) {
  if (truth.exact()) return fmt::format("{:.3f} nats", truth.log_z);
  return fmt::format("{:.3f} nats, the mean of {} other RTS runs with a standard error of {:.3f}",
                     truth.log_z, truth.runs, truth.std_error);
}

std::string shown_name(const std::string& method) {
  if (method == "rts-paper") return "RTS, paper's start";
  if (method == "rts-settled") return "RTS, Sec. 2.4";
  if (method == "rts-joint") return "RTS, joint states";
  if (method == "raise-mean") return "RAISE, mean R";
  std::string text = method;
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

int colour_of(const std::string& method) {
  const std::vector<std::string> order = {"ais",         "rts",       "raise",     "rts-paper",
                                          "rts-settled", "rts-joint", "raise-mean"};
  return static_cast<int>(std::find(order.begin(), order.end(), method) - order.begin());
}

bool starts_as_the_paper(const std::string& method) {
  return method == "rts-paper" || method == "rts-settled";
}

/// How the paper's curve is named that one of ours stands for; its RTS is the one that starts as the paper does, where
/// there is such a one.
std::string published_name(const ErrorPanel& panel, const std::string& method) {
  if (starts_as_the_paper(method)) return "RTS";
  if (method == "rts" && std::ranges::any_of(panel.methods, starts_as_the_paper)) return "";
  return shown_name(method);
}

/// The published curves of a figure, less the truth that it draws if it does.
void add_published(const ErrorPanel& panel, const std::string& figure, Panel& graph) {
  if (figure.empty()) return;
  const std::vector<PublishedCurve> all = read_published(panel.published_file);
  double truth = 0;
  for (const PublishedCurve& curve : all)
    if (curve.figure == figure && (curve.curve == "True" || curve.curve == "truth"))
      truth = curve.y.front();
  for (const std::string& method : panel.methods)
    for (PublishedCurve curve : all) {
      if (curve.figure != figure || curve.curve != published_name(panel, method)) continue;
      for (double& y : curve.y) y -= truth;
      graph.series.push_back(published_series(curve, curve.curve, colour_of(method)));
    }
}

Series curve_of(const Results& results, const ErrorPanel& panel, const std::string& method,
                bool rmse) {
  Series series{
      .label = shown_name(method), .mark = Mark::line_points, .colour = colour_of(method)};
  for (const int sweeps : panel.sweeps) {
    const ErrorCell cell =
        error_cell(results, {panel.model, panel.base, method, sweeps}, panel.truth.log_z);
    if (cell.empty()) continue;
    const Interval bias = cell.bias();
    series.x.push_back(sweeps);
    series.y.push_back(rmse ? cell.rmse : cell.mean);
    series.lower.push_back(rmse ? cell.lower : bias.lower);
    series.upper.push_back(rmse ? cell.upper : bias.upper);
  }
  return series;
}

double largest_error(const Series& series) {
  double largest = 0;
  for (const double y : series.y) largest = std::max(largest, std::abs(y));
  return largest;
}

/// Takes RAISE, and curves so far off that they would leave nothing of the others' differences, into a panel of their
/// own.
Panel split_far(Panel& mean) {
  const auto is_raise = [](const Series& s) { return s.label.find("RAISE") != std::string::npos; };
  std::vector<double> errors;
  for (const Series& series : mean.series)
    if (!is_raise(series)) errors.push_back(largest_error(series));
  const double near = errors.empty() ? 0 : kFarOff * median(errors);
  Panel far = mean;
  const auto is_far = [&](const Series& s) { return is_raise(s) || largest_error(s) > near; };
  std::erase_if(mean.series, is_far);
  std::erase_if(far.series, [&](const Series& s) { return !is_far(s); });
  return far;
}

}  // namespace

std::vector<Json> error_trials(const ErrorPoint& point, int repeats) {
  std::vector<Json> trials;
  for (int repeat = 1; repeat <= repeats; ++repeat)
    trials.push_back({{"model", point.model},
                      {"file", carlson_model_file(point.model)},
                      {"base", point.base},
                      {"method", point.method},
                      {"sweeps", point.sweeps},
                      {"repeat", repeat}});
  return trials;
}

double error_trial_cost(const Json& inputs) {
  const std::string method = inputs.value("method", "rts");
  const double rungs = method == "ais" || method == "raise" ? 0 : kRungLawCost;
  return number(inputs.at("sweeps")) * (sweep_cost(inputs.at("model")) + rungs);
}

Json run_error_trial(const Json& inputs, const TrialContext& context) {
  const LayeredTarget& target = carlson_target(inputs.at("model"), inputs.at("base"));
  const std::string method = inputs.at("method");
  const int sweeps = inputs.at("sweeps");
  if (method == "raise") return run_raise(target, sweeps, context);
  if (method == "rts-paper" || method == "rts-settled")
    return describe_estimate(run_paper_start(target, sweeps, method == "rts-settled", context));
  const bool joint = method == "rts-joint";
  MethodSettings settings{.chains = kCurveChains, .sweeps = sweeps};
  settings.states = joint ? States::joint : States::collapsed;
  settings.key = context.key;
  settings.progress = [&](double share) { context.progress(share); };
  const bool rts = joint || method == "truth";
  return describe_estimate(estimate_log_z(rts ? "rts" : method, target, settings));
}

ErrorCell error_cell(const Results& results, const ErrorPoint& point, double truth) {
  const bool mean_r = point.method == "raise-mean";
  std::vector<Outcome> outcomes;
  for (const Trial* trial : results.where({{"model", point.model},
                                           {"base", point.base},
                                           {"method", mean_r ? "raise" : point.method},
                                           {"sweeps", point.sweeps}}))
    outcomes.push_back({.truth = truth,
                        .estimate = number(trial->outputs.at(mean_r ? "mean_r" : "log_z")),
                        .ok = trial->outputs.at("status") == "ok"});
  return sum_up_errors(outcomes);
}

bool add_error_table(const Results& results, const ErrorPanel& panel, const std::string& name,
                     Summary& summary) {
  Table table{.name = name,
              .caption = fmt::format("Errors of log Z on {}, base {}, against {}.", panel.title,
                                     panel.base, truth_text(panel.truth)),
              .columns = {{"method", "method"},
                          {"sweeps", "sweeps"},
                          {"repeats", "repeats"},
                          {"refused", "refused"},
                          {"mean error / nats", "mean_error"},
                          {"standard deviation / nats", "std_dev"},
                          {"RMSE / nats", "rmse"}}};
  for (const std::string& method : panel.methods)
    for (const int sweeps : panel.sweeps) {
      const ErrorCell cell =
          error_cell(results, {panel.model, panel.base, method, sweeps}, panel.truth.log_z);
      if (cell.empty()) continue;
      table.rows.push_back({shown_name(method), std::int64_t{sweeps},
                            static_cast<std::int64_t>(cell.errors.size()),
                            std::int64_t{cell.refused}, cell.mean, cell.std_dev,
                            WithInterval{cell.rmse, cell.lower, cell.upper}});
    }
  if (table.rows.empty()) return false;
  summary.add(std::move(table));
  return true;
}

void add_error_panel(const Results& results, const ErrorPanel& panel, const std::string& name,
                     Summary& summary) {
  if (!add_error_table(results, panel, name, summary)) return;
  const Axis sweeps{.label = "Gibbs sweeps of each of 100 chains",
                    .log = true,
                    .low = 0.7 * panel.sweeps.front()};
  Panel mean{.title = panel.title,
             .x = sweeps,
             .y = {.label = "mean error of log Z / nats"},
             .guides = {{.at = 0}},
             .legend = "outside right"};
  Panel rmse{.title = panel.title,
             .x = sweeps,
             .y = {.label = "RMSE of log Z / nats", .log = true},
             .legend = "outside right"};
  add_published(panel, panel.published_mean, mean);
  add_published(panel, panel.published_rmse, rmse);
  for (const std::string& method : panel.methods) {
    for (Panel* graph : {&mean, &rmse}) {
      Series series = curve_of(results, panel, method, graph == &rmse);
      if (!series.x.empty()) graph->series.push_back(std::move(series));
    }
  }
  Panel far = split_far(mean);
  std::vector<Panel> panels{std::move(mean)};
  if (!far.series.empty()) panels.push_back(std::move(far));
  panels.push_back(std::move(rmse));
  const bool started = std::ranges::any_of(panel.methods, starts_as_the_paper);
  summary.add(Figure{
      .name = name + "-figure",
      .caption = fmt::format(
          "Mean error and RMSE of estimates of log Z, {} (base: "
          "{}), against {}. Bars: 95 %. Dotted: published, "
          "digitised, against the paper's own truth{}.{}",
          panel.title, panel.base, truth_text(panel.truth),
          started ? "; its RTS has the colour of ours with the paper's start" : "", panel.remark),
      .panels = std::move(panels),
      .columns = 1});
}

Measure rmse_ratio(const std::string& claim, const std::string& part, const ErrorCell& a,
                   const ErrorCell& b, const Truth& truth, double seen) {
  const boost::math::fisher_f law(squares_freedom(a.errors), squares_freedom(b.errors));
  const std::size_t repeats = std::min(a.errors.size(), b.errors.size());
  const double log_ratio = std::log(a.rmse / b.rmse);
  const double low = log_ratio - 0.5 * std::log(boost::math::quantile(law, 0.975));
  const double high = log_ratio - 0.5 * std::log(boost::math::quantile(law, 0.025));
  Measure measure =
      interval_measure({.claim = claim, .part = part, .decidable = repeats >= kEnoughRepeats},
                       {log_ratio, low, high}, repeats);
  measure.p_value = boost::math::cdf(law, std::exp(2 * log_ratio));
  // The test rejects if the observed ratio of squares is below q; truly it is 1/seen^2 of F.
  const double q = boost::math::quantile(law, 0.05);
  measure.power = boost::math::cdf(law, q * seen * seen);
  measure.power_against = fmt::format("an RMSE ratio of {}", seen);
  measure.post_hoc = true;  // the degrees of freedom are those of the errors seen
  const auto square = [](const ErrorCell& cell, double shift) {
    return cell.rmse * cell.rmse - cell.mean * cell.mean + std::pow(cell.mean - shift, 2);
  };
  return with_truth_error(measure, truth, std::min(a.rmse, b.rmse), std::log(seen),
                          [&](double d) { return 0.5 * std::log(square(a, d) / square(b, d)); });
}

Measure bias_difference(const std::string& claim, const std::string& part, const ErrorCell& a,
                        const ErrorCell& b, const Truth& truth, double seen) {
  const auto variance = [](const ErrorCell& cell) {
    return cell.std_dev * cell.std_dev / static_cast<double>(cell.errors.size());
  };
  const auto freedom = [](const ErrorCell& cell) {
    return static_cast<double>(cell.errors.size()) - 1;
  };
  const double both = variance(a) + variance(b);
  const boost::math::students_t law(
      both * both /
      (std::pow(variance(a), 2) / freedom(a) + std::pow(variance(b), 2) / freedom(b)));
  const double half = std::sqrt(both) * boost::math::quantile(law, 0.975);
  const double difference = std::abs(a.mean) - std::abs(b.mean);
  const Interval interval{difference, difference - half, difference + half};
  Measure measure = interval_measure({.claim = claim, .part = part}, interval,
                                     std::min(a.errors.size(), b.errors.size()));
  measure.power = interval_power(interval, seen);
  measure.power_against = fmt::format("a difference of {} nats", seen);
  measure.post_hoc = true;
  return with_truth_error(measure, truth, std::min(a.rmse, b.rmse), seen,
                          [&](double d) { return std::abs(a.mean - d) - std::abs(b.mean - d); });
}

}  // namespace boltzmark::experiments
