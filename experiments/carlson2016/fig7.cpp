#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "boltzmark/estimate/methods.hpp"
#include "experiments/carlson2016/support/error_curves.hpp"
#include "experiments/carlson2016/support/initial_rounds.hpp"
#include "experiments/carlson2016/support/knot.hpp"
#include "experiments/carlson2016/support/rung_flux.hpp"
#include "experiments/carlson2016/support/starts.hpp"
#include "experiments/kit/measures.hpp"

namespace boltzmark::experiments::carlson2016_fig7 {
namespace {

const std::string kModel = "cd25";
/// "rts-settled" is the paper's RTS: it starts as Sec. 2.4 says. "rts" starts from an annealed
/// pass.
const std::vector<std::string> kMethods = {"rts", "ais", "raise"};
const std::vector<std::string> kUniformMethods = {"rts-settled", "rts", "ais", "raise"};

/// Repeats of some methods at some number of sweeps.
struct Row {
  int sweeps = 0;
  int repeats = 0;
  std::vector<std::string> methods = kMethods;
};
const PerProfile<std::vector<Row>> kUniform{.smoke = {{40, 2}},
                                            .quick = {},
                                            .paper = {{1000, 20, kUniformMethods},
                                                      {2000, 20, kUniformMethods},
                                                      {5000, 20, kUniformMethods},
                                                      {10000, 20, kUniformMethods},
                                                      {100000, 20, kUniformMethods}}};
const PerProfile<Row> kRates{.smoke = {40, 2}, .quick = {.repeats = 0}, .paper = {1000, 20}};
const PerProfile<Row> kChain{.smoke = {40, 2}, .quick = {500, 8}, .paper = {5000, 20}};
/// Of every setting that the paper leaves open.
const PerProfile<Row> kStarts{.smoke = {20, 1}, .quick = {.repeats = 0}, .paper = {5000, 5}};
/// The most sweeps that initial iterations may take, 50 each.
const PerProfile<Row> kInitial{.smoke = {50, 2}, .quick = {10000, 8}, .paper = {10000, 20}};
constexpr int kIteration = 50;
constexpr double kFalseStop = 1;  // nats, as C08: a stop further from log Z has found no Zhat
/// Other runs of RTS, with base rates, that stand for the truth where the RBM is our own.
const PerProfile<Row> kTruth{.smoke = {60, 2}, .quick = {.repeats = 0}, .paper = {1000000, 4}};

std::vector<Json> trials(Profile profile) {
  const Row& starts = kStarts.at(profile);
  std::vector<Json> all = start_trials(starts.sweeps, starts.repeats);
  const auto add = [&](const char* base, const std::string& method, const Row& row) {
    for (Json& trial : error_trials({kModel, base, method, row.sweeps}, row.repeats))
      all.push_back(std::move(trial));
  };
  for (const Row& row : kUniform.at(profile))
    for (const std::string& method : row.methods) add("uniform", method, row);
  for (const std::string& method : kMethods) add("rates", method, kRates.at(profile));
  for (const char* base : {"uniform", "rates"}) {
    add(base, "stops", kInitial.at(profile));
    add(base, "chain", kChain.at(profile));
  }
  if (!has_published_cd25()) add("rates", "truth", kTruth.at(profile));
  return all;
}

Json run_chain(const LayeredTarget& target, int sweeps, const TrialContext& context) {
  const TemperedRun run = run_tempering(
      target, {.chains = 100, .sweeps = sweeps, .key = context.key, .progress = [&](double share) {
                 context.progress(share);
               }});
  const Eigen::MatrixXd transitions = count_transitions(run.store);
  const std::vector<double> flux = relative_flux(transitions);
  Json rows;
  for (const auto& row : transitions.rowwise())
    rows.push_back(std::vector<int>(row.begin(), row.end()));
  return {{"transitions", rows},
          {"flux", flux},
          {"least_flux", *std::min_element(flux.begin(), flux.end())},
          {"round_trips", run.trips}};
}

Json run(const Json& inputs, const TrialContext& context) {
  const std::string method = inputs.at("method");
  if (method == "start") return run_start_trial(inputs, context);
  if (method != "stops" && method != "chain") return run_error_trial(inputs, context);
  const LayeredTarget& target = carlson_target(kModel, inputs.at("base"));
  const int sweeps = inputs.at("sweeps");
  if (method == "chain") return run_chain(target, sweeps, context);
  const TemperedRun run = run_initial_iterations(
      target, {.iterations = sweeps / kIteration, .stop_early = true}, context);
  const Eigen::VectorXd& found = run.store.log_z_hat;
  return {{"iterations", iterations_to_stop(run)},
          {"log_z", found[found.size() - 1] - found[0]},
          {"excess", (run.rounds.back().occupancy.array() * found.size() - 1).abs().maxCoeff()}};
}

Json cell_of(const char* base, const char* method) { return {{"base", base}, {"method", method}}; }

// Uniform over base rates, at the sweeps that both were run for.
void add_base_ratios(const Results& results, const Truth& truth, Summary& summary) {
  const int sweeps = kRates.at(results.profile()).sweeps;
  for (const std::string& method : kMethods) {
    const ErrorCell uniform = error_cell(results, {kModel, "uniform", method, sweeps}, truth.log_z);
    const ErrorCell rates = error_cell(results, {kModel, "rates", method, sweeps}, truth.log_z);
    if (uniform.empty() || rates.empty()) continue;
    std::string part = method;
    for (char& c : part) c = static_cast<char>(std::toupper(c));
    Measure ratio = rmse_ratio("C53", part, uniform, rates, truth, 5);
    ratio.estimate = std::exp(ratio.estimate);
    ratio.lower = std::exp(ratio.lower);
    ratio.upper = std::exp(ratio.upper);
    ratio.p_value = 1 - ratio.p_value;
    ratio.note =
        fmt::format("at {} sweeps{}{}", sweeps, ratio.note.empty() ? "" : "; ", ratio.note);
    summary.add(ratio);
  }
}

// The larger of two RMSEs over the smaller one.
Measure spread_of(const ErrorCell& a, const ErrorCell& b, const Truth& truth) {
  Measure spread = rmse_ratio("C54", "RMSE at 100,000 sweeps", a, b, truth);
  const double ends[] = {std::abs(spread.lower), std::abs(spread.upper)};
  const bool either = spread.lower < 0 && spread.upper > 0;
  spread.power = interval_power({0, spread.lower, spread.upper}, std::log(2.0));
  spread.power_against = "equal RMSEs";
  spread.estimate = std::exp(std::abs(spread.estimate));
  spread.lower = either ? 1 : std::exp(std::min(ends[0], ends[1]));
  spread.upper = std::exp(std::max(ends[0], ends[1]));
  spread.p_value = std::nan("");  // it is one-sided; the interval decides
  return spread;
}

constexpr const char* kKnot =
    "the chains do not pass the knot often enough to mend what their start makes of Ẑ";

void add_uniform_comparison(const Results& results, const Truth& truth, Summary& summary) {
  const auto cell = [&](const char* method, int sweeps) {
    return error_cell(results, {kModel, "uniform", method, sweeps}, truth.log_z);
  };
  const ErrorCell rts = cell("rts-settled", 5000), ais = cell("ais", 5000);
  if (!rts.empty() && !ais.empty()) {
    Measure bias = bias_difference("C54", "bias at 5,000 sweeps", rts, ais, truth, 5);
    const ErrorCell annealed = cell("rts", 5000);
    bias.note += fmt::format("{}RTS from Ẑ_k = 1, mean error {:.1f}; AIS {:.1f}",
                             bias.note.empty() ? "" : "; ", rts.mean, ais.mean);
    if (!annealed.empty())
      bias.note += fmt::format("; RTS from an annealed pass {:.1f}", annealed.mean);
    bias.likely_reason = kKnot;
    summary.add(bias);
  }
  const ErrorCell long_rts = cell("rts-settled", 100000), long_ais = cell("ais", 100000);
  if (!long_rts.empty() && !long_ais.empty()) {
    Measure spread = spread_of(long_rts, long_ais, truth);
    spread.note +=
        fmt::format("{}RTS from Ẑ_k = 1, RMSE {:.2f}, mean error {:.2f}; AIS {:.2f}, {:.2f}",
                    spread.note.empty() ? "" : "; ", long_rts.rmse, long_rts.mean, long_ais.rmse,
                    long_ais.mean);
    spread.likely_reason = kKnot;
    summary.add(spread);
  }
}

/// A ratio of paired means, with its power against a factor of two on the log scale, where the
/// interval's width hardly depends on the ratio.
Measure base_ratio(const std::string& claim, const std::vector<double>& uniform,
                   const std::vector<double>& rates) {
  const Interval ratio = paired_ratio_interval(uniform, rates);
  Measure measure = interval_measure({.claim = claim}, ratio, rates.size());
  measure.power = interval_power({0, std::log(ratio.lower), std::log(ratio.upper)}, std::log(2.0));
  measure.power_against = "a factor of two";
  measure.post_hoc = true;
  return measure;
}

/// Iterations until the rule held; at least so many where it never did, or held falsely, that is while log Zhat_K
/// was still far from log Z.
struct Stops {
  std::vector<double> iterations, errors, excess;
  std::int64_t cut = 0, false_stops = 0;
};
Stops stops_of(const Results& results, const char* base, double truth, int most) {
  Stops stops;
  for (const Trial* trial : results.where(cell_of(base, "stops"))) {
    const double error = number(trial->outputs.at("log_z")) - truth;
    stops.iterations.push_back(number(trial->outputs.at("iterations")));
    stops.errors.push_back(error);
    stops.excess.push_back(number(trial->outputs.at("excess")));
    if (stops.iterations.back() > most)
      ++stops.cut;
    else
      stops.false_stops += !(std::abs(error) <= kFalseStop);
  }
  return stops;
}

std::string stops_text(const char* base, const Stops& stops) {
  return fmt::format(
      "{}: mean error {:.1f} nats and max |c_k/r_k − 1| {:.2f} at the end, {} of {} runs stopped more than {} nat "
      "off, {} not at all",
      base, mean_of(stops.errors), mean_of(stops.excess), stops.false_stops,
      stops.iterations.size(), kFalseStop, stops.cut);
}

void add_initial_stage(const Results& results, const Truth& truth, Summary& summary) {
  const int most = kInitial.at(results.profile()).sweeps / kIteration;
  const Stops uniform = stops_of(results, "uniform", truth.log_z, most),
              rates = stops_of(results, "rates", truth.log_z, most);
  if (rates.iterations.size() < 2 || uniform.iterations.size() != rates.iterations.size()) return;
  Measure ratio = base_ratio("C55", uniform.iterations, rates.iterations);
  ratio.note = fmt::format("iterations of {} sweeps from Ẑ_k = 1. ", kIteration);
  ratio.decidable = std::isfinite(truth.log_z);
  if (!ratio.decidable) {
    ratio.note +=
        "Log Z of this RBM is not known in this profile, so neither is whether they found it";
    summary.add(ratio);
    return;
  }
  ratio.note += stops_text("Uniform p_1", uniform) + "; " + stops_text("base rates", rates);
  // Whoever has found no Zhat needs more iterations than it made: how many more is not known.
  if (uniform.cut + uniform.false_stops > 0) ratio.interval = "95 %, of a lower limit";
  ratio.decidable = rates.cut + rates.false_stops == 0;
  if (!ratio.decidable) ratio.interval = "95 %, of the iterations made";
  summary.add(ratio);
}

void add_knot(const Results& results, Summary& summary) {
  const std::vector<double> uniform = results.values(cell_of("uniform", "chain"), "least_flux");
  const std::vector<double> rates = results.values(cell_of("rates", "chain"), "least_flux");
  if (rates.size() < 2 || uniform.size() != rates.size()) return;
  Measure ratio = base_ratio("C56", uniform, rates);
  ratio.note = "flux over that of independent rungs with the same occupancies";
  summary.add(ratio);
}

void summarise(const Results& results, Summary& summary) {
  const Truth truth = carlson_truth(results, kModel, "rates");
  std::vector<int> sweeps;
  for (const Row& row : kUniform.at(results.profile()))
    if (sweeps.empty() || sweeps.back() != row.sweeps) sweeps.push_back(row.sweeps);
  if (std::isfinite(truth.log_z) && !sweeps.empty()) {
    ErrorPanel panel{.model = kModel,
                     .title = "784-500",
                     .base = "uniform",
                     .sweeps = sweeps,
                     .methods = kUniformMethods,
                     .truth = truth,
                     .published_file = "carlson2016_fig6_fig7_fig8",
                     .published_mean = "7a_mean_uniform",
                     .published_rmse = "7b_rmse_uniform"};
    if (!error_cell(results, {kModel, "uniform", "rts-settled", sweeps.front()}, 0).empty())
      panel.remark =
          " The paper's RTS starts as Sec. 2.4 says; ours does too in the curve named so, and from "
          "an annealed pass in the other.";
    add_error_panel(results, panel, "errors-uniform", summary);
    panel.base = "rates";
    panel.methods = kMethods;
    panel.sweeps = {kRates.at(results.profile()).sweeps};
    panel.published_mean = panel.published_rmse = "";
    add_error_table(results, panel, "errors-rates", summary);
    add_base_ratios(results, truth, summary);
    add_uniform_comparison(results, truth, summary);
    add_starts(results, truth, summary);
  }
  add_transition_figure(results, summary);
  add_flux_figure(results, summary);
  add_initial_stage(results, truth, summary);
  add_knot(results, summary);
}

}  // namespace

Experiment experiment() {
  return {
      .id = "carlson2016/fig7",
      .item = "Fig. 7, App. F",
      .title = "Does a uniform p_1 make every estimator worse, and tie a knot into the ladder?",
      .paper_did =
          "Estimated log Z of the 784-500 RBM as in Fig. 3, with a uniform p_1 instead of "
          "base rates, and showed the empirical transitions between rungs.",
      .settings = {.smoke = "40 sweeps, 2 repeats.",
                   .quick = "8 repeats: transitions in 500 sweeps, at most 200 initial iterations; "
                            "no estimates.",
                   .paper = "20 repeats: up to 100,000 sweeps, transitions in 5,000, at most 200 "
                            "initial iterations; 5 of each of 24 settings that the paper leaves "
                            "open, 5,000 sweeps."},
      .seconds = {.smoke = 2, .quick = 15, .paper = 10500},
      .claims = {"C53", "C54", "C55", "C56"},
      .deviations =
          {"Linear ladder of 100 rungs; the paper's is not given.",
           "RTS starts from an annealed pass instead of Ẑ = 1. C54 and C55, which are about "
           "the start, are judged on the paper's: rounds of 50 sweeps from Ẑ = 1 until "
           "max |log(c_k / r_k)| < 1, at most half of the sweeps.",
           "Collapsed states: the rung is drawn with the hidden units summed out.",
           "RAISE starts from the first 100 test images.",
           "The knot is judged by the flux across each cut of the matrix of transitions, over that "
           "of independent rungs with the same occupancies: the paper shows the matrix alone.",
           "Quick's chains for the knot have 500 sweeps. For C55 and C56 it has made 4, 12 and now "
           "8 "
           "repeats; the verdicts of those before were known each time. It makes no estimates, for "
           "time: C53 and C54 are left to paper."},
      .data = carlson_data({"cd25"}),
      .trials = trials,
      .cost = error_trial_cost,
      .run = run,
      .summarise = summarise,
  };
}

}  // namespace boltzmark::experiments::carlson2016_fig7
