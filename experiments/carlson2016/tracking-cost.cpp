#include <ctime>
#include <string>

#include "boltzmark/core/parallel.hpp"
#include "boltzmark/diagnose/interval.hpp"
#include "experiments/carlson2016/tracked_training.hpp"
#include "experiments/kit/measures.hpp"
#include "experiments/kit/results.hpp"

namespace boltzmark::experiments {
namespace {

struct Size {
  int hidden, chains, pairs;
};
constexpr PerProfile<Size> kSize{
    .smoke = {20, 64, 5}, .quick = {500, 2000, 10}, .paper = {500, 2000, 100}};

std::vector<Json> trials(Profile profile) {
  const Size& size = kSize.at(profile);
  return {{{"hidden", size.hidden}, {"chains", size.chains}, {"pairs", size.pairs}}};
}

/// Processor time of one update, with or without both log-likelihoods; the sampler moves its Zhat
/// in either case. Unlike the wall's, it does not count what else the machine does.
double seconds(TrackedTraining& training, bool tracked) {
  const std::clock_t start = std::clock();
  training.look();
  if (tracked) training.mean_log_f();
  training.update();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

/// Times updates with and without in turn, so that a machine whose speed drifts treats both alike.
Json run(const Json& inputs, const TrialContext& context) {
  const int pairs = inputs.at("pairs");
  const ThreadLimit one(1);
  TrackedTraining training(
      {.hidden = inputs.at("hidden"), .chains = inputs.at("chains"), .key = context.key});
  std::vector<double> ratios, milliseconds;
  for (int i = -1; i < pairs; ++i) {
    const double with = seconds(training, true), without = seconds(training, false);
    if (i < 0) continue;  // warm-up
    ratios.push_back(with / without);
    milliseconds.push_back(1e3 * without);
    context.progress(static_cast<double>(i + 1) / pairs);
  }
  return {{"ratios", ratios}, {"milliseconds", milliseconds}};
}

void summarise(const Results& results, Summary& summary) {
  if (results.empty()) return;
  const Trial& trial = results.trials().front();
  const std::vector<double> ratios = numbers(trial.outputs.at("ratios"));
  const Interval ratio = median_interval(ratios);
  summary.add(Table{
      .name = "tracking-cost",
      .caption =
          "Processor time of an update with both log-likelihoods over that of one without, one "
          "thread: median of interleaved pairs with its exact 95 % interval.",
      .columns = {{"model", "model"},
                  {"chains", "chains"},
                  {"with / without", "ratio", 3},
                  {"without / ms", "milliseconds", 1}},
      .rows = {{"180-" + std::to_string(trial.inputs.at("hidden").get<int>()) + " RBM",
                std::int64_t{trial.inputs.at("chains")}, to_estimate(ratio),
                median(numbers(trial.outputs.at("milliseconds")))}},
      .timing = true});
  if (results.profile() == Profile::smoke) return;
  Measure measure = interval_measure(
      {.claim = "C40",
       .note = "both log-likelihoods at every update; the partial update of Zhat is part of both, "
               "as the sampler needs it to mix",
       .likely_reason = "a shared machine: the interval is that of its noise"},
      ratio, ratios.size());
  measure.power = interval_power(ratio, 0.08);
  measure.power_against = "a ratio of 1.02 (given the spread seen)";
  summary.add(std::move(measure));
}

}  // namespace

Experiment carlson2016_tracking_cost() {
  return {
      .id = "carlson2016/tracking-cost",
      .item = "Sec. 4.4",
      .title = "Tracking the log-likelihoods adds little to an update",
      .paper_did =
          "States that training and validation log-likelihoods are tracked at minimal "
          "additional cost.",
      .settings = {.smoke = "5 interleaved pairs of updates of a 180-20 RBM, 64 chains.",
                   .quick = "10 interleaved pairs of updates at the paper's size, one thread.",
                   .paper = "100 interleaved pairs of updates at the paper's size, one thread."},
      .seconds = {.smoke = 0.5, .quick = 15, .paper = 75},
      .claims = {"C40"},
      .deviations = {"The paper measures no times."},
      .data = {"dna/dna_3186x181.csv.gz"},
      .alone = true,
      .trials = trials,
      .run = run,
      .summarise = summarise,
  };
}

}  // namespace boltzmark::experiments
