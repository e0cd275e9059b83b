#include <fmt/format.h>

#include <cmath>

#include "boltzmark/diagnose/autocorrelation_time.hpp"
#include "boltzmark/estimate/estimators/rts.hpp"
#include "boltzmark/sample/tempering/mixing.hpp"
#include "experiments/carlson2016/support/mixture.hpp"
#include "experiments/kit/measures.hpp"

namespace boltzmark::experiments::carlson2016_fig6 {
namespace {

constexpr int kSamples = 10000;  ///< behind an estimate of log Z, as published
/// Behind an autocorrelation time: one of 1,000 samples needs 50 times as many to be known.
constexpr int kMixingSamples = 100000;
constexpr int kCheckpoint = 1000;
constexpr int kTrace = 2000;  ///< samples of a trace that are drawn
constexpr int kTraceStep = 4;
constexpr PerProfile<int> kRepeats{.smoke = 3, .quick = 12, .paper = 100};
constexpr const char* kKernels[] = {"hmc", "random-walk"};
constexpr const char* kSteps[] = {"adaptive", "fixed"};

std::vector<Json> trials(Profile profile) {
  std::vector<Json> all;
  for (const char* kernel : kKernels)
    for (int repeat = 1; repeat <= kRepeats.at(profile); ++repeat)
      for (const char* steps : kSteps)
        all.push_back({{"kernel", kernel}, {"repeat", repeat}, {"steps", steps}});
  return all;
}

/// How the chain wandered over the rungs with Zhat exact.
Json mixing(const ContinuousTarget& target, bool keep_trace, const TrialContext& context) {
  const SampleStore store = sample_mixture_at_truth(target, kMixingSamples, context);
  Eigen::VectorXd b(kMixingSamples);
  std::vector<int> trace;
  for (int t = 0; t < kMixingSamples; ++t) {
    b[t] = store.ladder[store.rung(t, 0)];
    if (keep_trace && t < kTrace && t % kTraceStep == 0) trace.push_back(store.rung(t, 0) + 1);
  }
  return {{"tau", geyer_time(b).tau},
          {"trips", traffic_of(store.rung, store.rungs()).trips},
          {"trace", trace}};
}

/// RTS of the first 1000, 2000, .. samples, from the paper's start.
std::vector<double> estimates(const ContinuousTarget& target, StreamKey key,
                              const TrialContext& context) {
  const SampleStore store = sample_mixture(target, kSamples, key, context);
  std::vector<double> log_z;
  for (int n = kCheckpoint; n <= kSamples; n += kCheckpoint)
    log_z.push_back(rts(first_sweeps(store, n), States::joint).log_z);
  return log_z;
}

Json run(const Json& inputs, const TrialContext& context) {
  const std::string kernel = inputs.at("kernel");
  const int repeat = inputs.at("repeat");
  // Both arms of a pair use one tuning: the fixed step is the mean of the adaptive ones.
  const TunedSteps tuned =
      tune_mixture(kernel, context.shared_key(fmt::format("{} {}", kernel, repeat)));
  const bool adaptive = inputs.at("steps") == "adaptive";
  const ContinuousTarget target =
      mixture_target(kernel, adaptive ? tuned.steps : StepSizes::fixed(tuned.steps.mean()));
  Json outputs = mixing(target, repeat == 1, context);
  if (kernel == "hmc")
    outputs["log_z"] = estimates(target, context.shared_key("estimate " + inputs.dump()), context);
  return outputs;
}

/// The outputs of one repeat, both arms.
struct Pair {
  Json adaptive, fixed;
};

std::vector<Pair> pairs(const Results& results, const std::string& kernel) {
  std::vector<Pair> found;
  for (const Trial* trial : results.where({{"kernel", kernel}, {"steps", "adaptive"}})) {
    const auto other = results.where(
        {{"kernel", kernel}, {"steps", "fixed"}, {"repeat", trial->inputs.at("repeat")}});
    if (!other.empty()) found.push_back({trial->outputs, other.front()->outputs});
  }
  return found;
}

void add_mean(const About& about, const std::vector<double>& differences, Summary& summary) {
  if (differences.size() >= 2) summary.add(mean_measure(about, differences));
}

void add_mixing_measures(const std::string& claim, const std::vector<Pair>& found,
                         Summary& summary) {
  std::vector<double> log_ratios, trips;
  for (const Pair& pair : found) {
    log_ratios.push_back(std::log(number(pair.fixed.at("tau")) / number(pair.adaptive.at("tau"))));
    trips.push_back(number(pair.adaptive.at("trips")) - number(pair.fixed.at("trips")));
  }
  add_mean({.claim = claim,
            .part = "autocorrelation time",
            .note = "log(τ fixed / τ adaptive) of b, paired by repeat",
            .likely_reason = "the kernel's moves, not their size, may limit how fast b mixes"},
           log_ratios, summary);
  add_mean({.claim = claim,
            .part = "round trips",
            .note = "round trips in 100,000 samples, adaptive − fixed, paired by repeat"},
           trips, summary);
}

void add_mixing(const Results& results, Summary& summary) {
  Table table{.name = "mixing",
              .caption =
                  "Mixing of the rung in 100,000 samples of one chain, Ẑ exact: means over "
                  "repeats with 95 % intervals.",
              .columns = {{"kernel", "kernel"},
                          {"step sizes", "steps"},
                          {"repeats", "repeats"},
                          {"τ of b / samples", "tau", 1},
                          {"round trips", "trips", 1}}};
  for (const char* kernel : kKernels)
    for (const char* steps : kSteps) {
      const Json filter = {{"kernel", kernel}, {"steps", steps}};
      const auto tau = results.values(filter, "tau");
      table.rows.push_back({std::string(kernel), std::string(steps),
                            static_cast<std::int64_t>(tau.size()), mean_cell(tau),
                            mean_cell(results.values(filter, "trips"))});
    }
  summary.add(std::move(table));
  add_mixing_measures("C49", pairs(results, "hmc"), summary);
  add_mixing_measures("C52", pairs(results, "random-walk"), summary);
}

Panel trace_panel(const Results& results, const std::string& kernel, const std::string& steps) {
  Panel panel{.title = fmt::format("{}, {} step", kernel == "hmc" ? "HMC" : "random walk", steps),
              .x = {.label = "sample", .low = 0, .high = kTrace},
              .y = {.label = "rung",
                    .low = 0,
                    .high = 21,
                    .ticks = {{"b = 0", 1}, {"5", 5}, {"10", 10}, {"15", 15}, {"b = 1", 20}}},
              .series = {},
              .legend = ""};
  const auto found = results.where({{"kernel", kernel}, {"steps", steps}, {"repeat", 1}});
  Series series{.label = steps, .mark = Mark::line, .colour = steps == "adaptive" ? 1 : 0};
  if (!found.empty()) series.y = numbers(found.front()->outputs.at("trace"));
  for (std::size_t i = 0; i < series.y.size(); ++i)
    series.x.push_back(static_cast<double>(i) * kTraceStep);
  panel.series.push_back(std::move(series));
  return panel;
}

void add_traces(const Results& results, Summary& summary) {
  std::vector<Panel> panels;
  for (const char* kernel : kKernels)
    for (const char* steps : kSteps) panels.push_back(trace_panel(results, kernel, steps));
  summary.add(Figure{.name = "traces",
                     .caption = fmt::format(
                         "Fig. 6 (left, middle): the rung of one chain, every {}th of its first "
                         "{} samples; Ẑ exact, so that a chain that mixes visits every rung alike.",
                         kTraceStep, kTrace),
                     .panels = std::move(panels),
                     .columns = 2,
                     .height = 240});
}

/// log Z(1) after each checkpoint, by repeat.
std::vector<std::vector<double>> by_checkpoint(const Results& results, const char* steps) {
  std::vector<std::vector<double>> columns(kSamples / kCheckpoint);
  for (const Trial* trial : results.where({{"kernel", "hmc"}, {"steps", steps}})) {
    const auto log_z = numbers(trial->outputs.at("log_z"));
    for (std::size_t i = 0; i < columns.size(); ++i) columns[i].push_back(log_z[i]);
  }
  return columns;
}

void add_estimates(const Results& results, Summary& summary) {
  Panel panel{.x = {.label = "samples", .low = 0, .high = 10800},
              .y = {.label = "log Z(1) / nats"},
              .series = {},
              .guides = {{.at = mixture_log_z(), .label = "exact, 5.7236"}},
              .legend = "outside right"};
  int colour = 1;
  for (const char* steps : kSteps) {
    Series series{.label = steps, .mark = Mark::line_points, .colour = colour--};
    const auto columns = by_checkpoint(results, steps);
    for (std::size_t i = 0; i < columns.size() && !columns[i].empty(); ++i) {
      series.x.push_back(static_cast<double>((i + 1) * kCheckpoint));
      series.y.push_back(median(columns[i]));
      series.lower.push_back(quantile(columns[i], 0.1));
      series.upper.push_back(quantile(columns[i], 0.9));
    }
    panel.series.push_back(std::move(series));
  }
  // Ends of the published bands at 10,000 samples.
  panel.series.push_back({.label = "published, adaptive",
                          .x = {10400},
                          .y = {5.705},
                          .lower = {5.48},
                          .upper = {5.93},
                          .mark = Mark::points,
                          .colour = 1});
  panel.series.push_back({.label = "published, fixed",
                          .x = {10400},
                          .y = {1.27},
                          .lower = {1.05},
                          .upper = {1.49},
                          .mark = Mark::points,
                          .colour = 0});
  summary.add(Figure{.name = "log-z",
                     .caption = "Fig. 6 (right): log Z(1) by RTS along one chain moved by HMC, "
                                "started at the paper's Ẑ = 1. Medians and central 80 % of the "
                                "repeats; bars at the right: the published bands.",
                     .panels = {std::move(panel)}});
  std::vector<double> gains;
  for (const Pair& pair : pairs(results, "hmc"))
    gains.push_back(std::abs(number(pair.fixed.at("log_z").back()) - mixture_log_z()) -
                    std::abs(number(pair.adaptive.at("log_z").back()) - mixture_log_z()));
  add_mean({.claim = "C50",
            .note = "|error| of log Z(1) after 10,000 samples, fixed − adaptive, paired by repeat"},
           gains, summary);
}

void summarise(const Results& results, Summary& summary) {
  add_traces(results, summary);
  add_mixing(results, summary);
  add_estimates(results, summary);
}

std::string settings(Profile profile) {
  return fmt::format(
      "{} repeats of each kernel with adaptive and with fixed steps: 100,000 samples of one chain "
      "with Ẑ exact, and with HMC 10,000 more after initial rounds from Ẑ = 1.",
      kRepeats.at(profile));
}

}  // namespace

Experiment experiment() {
  return {
      .id = "carlson2016/fig6",
      .item = "Fig. 6",
      .title = "Do step sizes that fall with b let a tempered chain of HMC reach log Z?",
      .paper_did =
          "Two 10-dimensional Gaussians 5 apart, p1 = N(0, 30 I), 20 inverse temperatures: HMC "
          "whose step size is tuned for each b to an acceptance of 0.651, against HMC with the "
          "average step; traces of b, and log Z(1) against the number of samples.",
      .settings = {.smoke = settings(Profile::smoke),
                   .quick = settings(Profile::quick),
                   .paper = settings(Profile::paper)},
      .seconds = {.smoke = 1, .quick = 6, .paper = 60},
      .claims = {"C49", "C50", "C52"},
      .deviations =
          {"Up to ten initial rounds of 1,000 sweeps from Ẑ = 1 precede the samples of log Z(1): "
           "as "
           "many rounds, and samples a rung, as the paper states for its RBMs. It does not say "
           "what preceded these.",
           "The paper does not say how many leapfrog steps a move takes: here 1 to 10, uniformly.",
           "Steps are tuned before sampling, on 64 chains that climb the ladder, and then kept: "
           "the sampler is a fixed Markov chain.",
           "Mixing is judged on 100,000 samples: the fixed step makes about two round trips in the "
           "10,000 of the paper's traces, which tell no autocorrelation time.",
           "Mixing is compared with Ẑ exact for both steps: with Ẑ estimated, a chain that does "
           "not reach b = 1 would also have a worse Ẑ.",
           "The random walk is tuned to an acceptance of 0.234; the paper gives no target.",
           "The means are at ±2.5 on the first axis; the paper says that they are 5 apart."},
      .trials = trials,
      .run = run,
      .summarise = summarise,
  };
}

}  // namespace boltzmark::experiments::carlson2016_fig6
