#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "boltzmark/estimate/methods.hpp"
#include "experiments/carlson2016/error_curves.hpp"
#include "experiments/carlson2016/initial_rounds.hpp"
#include "experiments/carlson2016/rung_flux.hpp"
#include "experiments/kit/measures.hpp"

namespace boltzmark::experiments {
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
const PerProfile<std::vector<Row>> kUniform{
    .smoke = {{40, 2}},
    .quick = {{1000, 6}, {5000, 4, {"rts-settled", "ais"}}, {5000, 2, {"rts"}}},
    .paper = {{1000, 20, kUniformMethods},
              {2000, 20, kUniformMethods},
              {5000, 20, kUniformMethods},
              {10000, 20, kUniformMethods},
              {100000, 20, kUniformMethods}}};
const PerProfile<Row> kRates{.smoke = {40, 2}, .quick = {1000, 5}, .paper = {1000, 20}};
const PerProfile<Row> kChain{.smoke = {40, 2}, .quick = {1500, 4}, .paper = {5000, 20}};
/// The most sweeps that initial iterations may take, 50 each.
const PerProfile<Row> kInitial{.smoke = {50, 2}, .quick = {2000, 4}, .paper = {10000, 20}};
constexpr int kIteration = 50;

std::vector<Json> trials(Profile profile) {
  std::vector<Json> all;
  const auto add = [&](const char* base, const std::string& method, const Row& row) {
    for (Json& trial : error_trials({kModel, base, method, row.sweeps}, row.repeats))
      all.push_back(std::move(trial));
  };
  for (const Row& row : kUniform.at(profile))
    for (const std::string& method : row.methods) add("uniform", method, row);
  for (const std::string& method : kMethods) add("rates", method, kRates.at(profile));
  for (const char* base : {"uniform", "rates"}) {
    add(base, "initial", kInitial.at(profile));
    add(base, "chain", kChain.at(profile));
  }
  return all;
}

Json run_chain(const LayeredTarget& target, int sweeps, const TrialContext& context) {
  const TemperedRun run = run_tempering(
      target, {.chains = 100, .sweeps = sweeps, .key = context.key, .progress = [&](double share) {
                 context.progress(share);
               }});
  const std::vector<double> flux = relative_flux(run.store);
  return {{"flux", flux},
          {"least_flux", *std::min_element(flux.begin(), flux.end())},
          {"round_trips", run.trips}};
}

Json run(const Json& inputs, const TrialContext& context) {
  const std::string method = inputs.at("method");
  if (method != "initial" && method != "chain") return run_error_trial(inputs, context);
  const LayeredTarget& target = carlson_target(kModel, inputs.at("base"));
  const int sweeps = inputs.at("sweeps");
  if (method == "chain") return run_chain(target, sweeps, context);
  const TemperedRun run = run_initial_iterations(
      target, {.iterations = sweeps / kIteration, .stop_early = true}, context);
  return {{"iterations", iterations_to_stop(run)}};
}

Json cell_of(const char* base, const char* method) { return {{"base", base}, {"method", method}}; }

// Uniform over base rates, at the sweeps that both were run for.
void add_base_ratios(const Results& results, double truth, Summary& summary) {
  const int sweeps = kRates.at(results.profile()).sweeps;
  for (const std::string& method : kMethods) {
    const ErrorCell uniform = error_cell(results, {kModel, "uniform", method, sweeps}, truth);
    const ErrorCell rates = error_cell(results, {kModel, "rates", method, sweeps}, truth);
    if (uniform.empty() || rates.empty()) continue;
    std::string part = method;
    for (char& c : part) c = static_cast<char>(std::toupper(c));
    Measure ratio = rmse_ratio("C53", part, uniform, rates, 5);
    ratio.estimate = std::exp(ratio.estimate);
    ratio.lower = std::exp(ratio.lower);
    ratio.upper = std::exp(ratio.upper);
    ratio.p_value = 1 - ratio.p_value;
    ratio.note = fmt::format("at {} sweeps", sweeps);
    summary.add(ratio);
  }
}

// The larger of two RMSEs over the smaller one.
Measure spread_of(const ErrorCell& a, const ErrorCell& b) {
  const Measure log_ratio = rmse_ratio("", "", a, b);
  Measure spread{.claim = "C54", .part = "RMSE at 100,000 sweeps"};
  const bool either = log_ratio.lower < 0 && log_ratio.upper > 0;
  spread.estimate = std::exp(std::abs(log_ratio.estimate));
  spread.lower =
      either ? 1 : std::exp(std::min(std::abs(log_ratio.lower), std::abs(log_ratio.upper)));
  spread.upper = std::exp(std::max(std::abs(log_ratio.lower), std::abs(log_ratio.upper)));
  spread.n = log_ratio.n;
  spread.power = log_ratio.power;
  spread.power_against = log_ratio.power_against;
  return spread;
}

void add_uniform_comparison(const Results& results, double truth, Summary& summary) {
  const auto cell = [&](const char* method, int sweeps) {
    return error_cell(results, {kModel, "uniform", method, sweeps}, truth);
  };
  const ErrorCell rts = cell("rts-settled", 5000), ais = cell("ais", 5000);
  if (!rts.empty() && !ais.empty()) {
    Measure bias = bias_difference("C54", "bias at 5,000 sweeps", rts, ais, 5);
    const ErrorCell annealed = cell("rts", 5000);
    bias.note = fmt::format("RTS from Ẑ_k = 1, mean error {:.1f}; AIS {:.1f}", rts.mean, ais.mean);
    if (!annealed.empty())
      bias.note += fmt::format("; RTS from an annealed pass {:.1f}", annealed.mean);
    bias.likely_reason =
        "the chains do not pass the knot often enough to mend what their start makes of Ẑ";
    summary.add(bias);
  }
  const ErrorCell long_rts = cell("rts-settled", 100000), long_ais = cell("ais", 100000);
  if (!long_rts.empty() && !long_ais.empty()) summary.add(spread_of(long_rts, long_ais));
}

/// A ratio of paired means, with its power against a factor of two on the log scale, where the
/// interval's width hardly depends on the ratio.
Measure base_ratio(const std::string& claim, const std::vector<double>& uniform,
                   const std::vector<double>& rates) {
  const Interval ratio = paired_ratio_interval(uniform, rates);
  Measure measure = interval_measure({.claim = claim}, ratio, rates.size());
  measure.power = interval_power({0, std::log(ratio.lower), std::log(ratio.upper)}, std::log(2.0));
  measure.power_against = "a factor of two";
  return measure;
}

void add_initial_stage(const Results& results, Summary& summary) {
  const std::vector<double> uniform = results.values(cell_of("uniform", "initial"), "iterations");
  const std::vector<double> rates = results.values(cell_of("rates", "initial"), "iterations");
  if (rates.size() < 2 || uniform.size() != rates.size()) return;
  const int most = kInitial.at(results.profile()).sweeps / kIteration;
  Measure ratio = base_ratio("C55", uniform, rates);
  ratio.note = fmt::format(
      "iterations of 50 sweeps from Ẑ_k = 1; {} of {} runs with a uniform p_1 and {} with base "
      "rates had not stopped after {} and count as {}, so that the ratio is a lower limit",
      std::count(uniform.begin(), uniform.end(), most + 1), uniform.size(),
      std::count(rates.begin(), rates.end(), most + 1), most, most + 1);
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

Series flux_series(const Results& results, const char* base, int colour) {
  Series series{.label = base == std::string("rates") ? "base rates" : "uniform",
                .mark = Mark::line,
                .colour = colour};
  std::vector<std::vector<double>> all;
  for (const Trial* trial : results.where(cell_of(base, "chain")))
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

void add_flux_figure(const Results& results, Summary& summary) {
  Panel panel{.title = "The knot",
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

void summarise(const Results& results, Summary& summary) {
  const double truth = has_published_cd25() ? kPublishedCd25LogZ
                                            : estimated_truth(results, kModel, "rates",
                                                              kRates.at(results.profile()).sweeps);
  if (std::isfinite(truth)) {
    std::vector<int> sweeps;
    for (const Row& row : kUniform.at(results.profile()))
      if (sweeps.empty() || sweeps.back() != row.sweeps) sweeps.push_back(row.sweeps);
    ErrorPanel panel{.model = kModel,
                     .title = "784-500",
                     .base = "uniform",
                     .sweeps = sweeps,
                     .methods = kUniformMethods,
                     .truth = truth,
                     .published_file = "carlson2016_fig6_fig7_fig8",
                     .published_mean = "7a_mean_uniform",
                     .published_rmse = "7b_rmse_uniform"};
    add_error_panel(results, panel, "errors-uniform", summary);
    panel.base = "rates";
    panel.methods = kMethods;
    panel.sweeps = {kRates.at(results.profile()).sweeps};
    panel.published_mean = panel.published_rmse = "";
    add_error_table(results, panel, "errors-rates", summary);
    add_base_ratios(results, truth, summary);
    add_uniform_comparison(results, truth, summary);
  }
  add_flux_figure(results, summary);
  add_initial_stage(results, summary);
  add_knot(results, summary);
}

}  // namespace

Experiment carlson2016_fig7() {
  return {
      .id = "carlson2016/fig7",
      .item = "Fig. 7, App. F",
      .title = "A uniform p_1 makes every estimator worse, and ties a knot into the ladder",
      .paper_did =
          "Estimated log Z of the 784-500 RBM as in Fig. 3, with a uniform p_1 instead of "
          "base rates, and showed the empirical transitions between rungs.",
      .settings = {.smoke = "40 sweeps, 2 repeats.",
                   .quick = "1,000 sweeps, 6 repeats (base rates 5), and 5,000 sweeps of RTS and "
                            "AIS, 4 repeats; transitions in 4 runs of 1,500 sweeps; initial "
                            "iterations, 4 runs of at most 40.",
                   .paper = "Up to 100,000 sweeps, 20 repeats; at most 200 initial iterations."},
      .seconds = {.smoke = 2, .quick = 150, .paper = 16000},
      .claims = {"C53", "C54", "C55", "C56"},
      .deviations =
          {"Linear ladder of 100 rungs; the paper's is not given.",
           "RTS starts from an annealed pass instead of Ẑ = 1. C54 and C55, which are about "
           "the start, are judged on the paper's: rounds of 50 sweeps from Ẑ = 1 until "
           "max |log(c_k / r_k)| < 1, at most half of the sweeps.",
           "Collapsed states: the rung is drawn with the hidden units summed out.",
           "RAISE starts from the first 100 test images.",
           "The paper shows the matrix of transitions; here it is reduced to the flux "
           "across each cut."},
      .data = carlson_data({"cd25"}),
      .trials = trials,
      .cost = error_trial_cost,
      .run = run,
      .summarise = summarise,
  };
}

}  // namespace boltzmark::experiments
