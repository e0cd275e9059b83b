#include <ctime>
#include <string>

#include "boltzmark/core/parallel.hpp"
#include "experiments/carlson2016/support/tracked_training.hpp"
#include "experiments/kit/measures.hpp"
#include "experiments/kit/results.hpp"
#include "experiments/kit/statistics/interval.hpp"

namespace boltzmark::experiments::carlson2016_tracking_cost {
namespace {

struct Size {
  int hidden, chains, timed;  // updates
};
constexpr PerProfile<Size> kSize{
    .smoke = {20, 64, 5}, .quick = {500, 2000, 8}, .paper = {500, 2000, 100}};

std::vector<Json> trials(Profile profile) {
  const Size& size = kSize.at(profile);
  return {{{"hidden", size.hidden}, {"chains", size.chains}, {"timed", size.timed}}};
}

/// Processor time. Unlike the wall's, it does not count what else the machine does.
template <class Work>
double seconds(const Work& work) {
  const std::clock_t start = std::clock();
  work();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

/// Times the parts of each update apart, so that the two sums differ by the log-likelihoods alone
/// and not by what two updates happen to take. The sampler moves its Zhat in either.
Json run(const Json& inputs, const TrialContext& context) {
  const int timed = inputs.at("timed");
  const ThreadLimit one(1);
  TrackedTraining training(
      {.hidden = inputs.at("hidden"), .chains = inputs.at("chains"), .key = context.key});
  std::vector<double> ratios, milliseconds, tracking_milliseconds;
  for (int i = -1; i < timed; ++i) {
    const double sampling = seconds([&] { training.sample(); }),
                 tracking = seconds([&] { training.mean_log_f(); }),
                 without = sampling + seconds([&] { training.update(); });
    if (i < 0) continue;  // warm-up
    ratios.push_back((without + tracking) / without);
    milliseconds.push_back(1e3 * without);
    tracking_milliseconds.push_back(1e3 * tracking);
    context.progress(static_cast<double>(i + 1) / timed);
  }
  return {{"ratios", ratios},
          {"milliseconds", milliseconds},
          {"tracking_milliseconds", tracking_milliseconds}};
}

void summarise(const Results& results, Summary& summary) {
  if (results.empty()) return;
  const Trial& trial = results.trials().front();
  const std::vector<double> ratios = numbers(trial.outputs.at("ratios"));
  const Interval ratio = median_interval(ratios);
  summary.add(Table{
      .name = "tracking-cost",
      .caption =
          "Processor time of an update with both log-likelihoods over that of the same one without "
          "them, one thread: median of updates with its exact 95 % interval.",
      .columns = {{"model", "model"},
                  {"chains", "chains"},
                  {"with / without", "ratio", 3},
                  {"without / ms", "milliseconds", 1}},
      .rows = {{"180-" + std::to_string(trial.inputs.at("hidden").get<int>()) + " RBM",
                std::int64_t{trial.inputs.at("chains")}, with_interval(ratio),
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
  measure.power_against = "a ratio of 1.02";
  measure.post_hoc = true;
  summary.add(std::move(measure));
}

}  // namespace

Experiment experiment() {
  return {
      .id = "carlson2016/tracking-cost",
      .item = "Sec. 4.4",
      .title = "What does tracking the log-likelihoods add to an update?",
      .paper_did =
          "States that training and validation log-likelihoods are tracked at minimal "
          "additional cost.",
      .settings = {.smoke = "5 updates of a 180-20 RBM, 64 chains.",
                   .quick = "8 updates at the paper's size, one thread.",
                   .paper = "100 updates at the paper's size, one thread."},
      .seconds = {.smoke = 0.5, .quick = 7, .paper = 40},
      .claims = {"C40"},
      .deviations = {"The paper measures no times."},
      .data = {"dna/dna_3186x181.csv.gz"},
      .alone = true,
      .trials = trials,
      .run = run,
      .summarise = summarise,
  };
}

}  // namespace boltzmark::experiments::carlson2016_tracking_cost
