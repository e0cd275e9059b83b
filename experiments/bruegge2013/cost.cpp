#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "boltzmark/core/parallel.hpp"
#include "boltzmark/random/stream.hpp"
#include "boltzmark/transition/sweep.hpp"
#include "experiments/kit/results.hpp"
#include "experiments/kit/statistics/interval.hpp"
#include "experiments/kit/statistics/power.hpp"
#include "experiments/kit/summary.hpp"

namespace boltzmark::experiments::bruegge2013_cost {
namespace {

struct Size {
  int visible, hidden, chains;
  int sweeps;  ///< per timing, so that one lasts milliseconds
};
constexpr Size kSizes[] = {{784, 500, 100, 4}, {784, 10, 100, 40}, {16, 16, 100, 1000}};
constexpr PerProfile<int> kPairs{.smoke = 5, .quick = 100, .paper = 200};

std::vector<Json> trials(Profile profile) {
  std::vector<Json> all;
  for (const Size& size : kSizes)
    all.push_back({{"visible", size.visible},
                   {"hidden", size.hidden},
                   {"chains", size.chains},
                   {"sweeps", size.sweeps},
                   {"pairs", kPairs.at(profile)}});
  return all;
}

double seconds(const PackedModel& model, Chains& chains, const Draws& draws, const Rule& rule,
               int sweeps) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  sweep(model, chains, draws, {.rule = rule, .sweeps = sweeps});
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The share of visible units whose states are others.
double share_moved(const Chains& from, const Chains& to) {
  const Eigen::MatrixXf before = from.get_layer(0), after = to.get_layer(0);
  return (before.array() != after.array()).cast<double>().mean();
}

/// Times Gibbs and T in turn, so that a machine whose speed drifts treats both alike.
/// Outputs  microseconds of a sweep of either and ratios, of each pair; moved_gibbs, moved_flip,
/// the shares of visible units that the first of the timed runs leaves elsewhere
Json run(const Json& inputs, const TrialContext& context) {
  const int visible = inputs.at("visible"), hidden = inputs.at("hidden"),
            pairs = inputs.at("pairs");
  const int sweeps = inputs.at("sweeps");
  Stream stream(context.key, Purpose::initial_weights);
  Eigen::MatrixXd weights(visible, hidden);
  for (double& w : weights.reshaped()) w = 0.1 * stream.normal();
  const Layered model =
      Layered::rbm(weights, Eigen::VectorXd::Zero(visible), Eigen::VectorXd::Zero(hidden));
  const PackedModel packed(model, {.chains = inputs.at("chains"),
                                   .sweeps = static_cast<std::uint64_t>(sweeps) * 2 * (pairs + 1)});
  const PhiloxDraws draws(context.key);
  Chains gibbs(model, inputs.at("chains"));
  gibbs.randomise(context.key);
  const Chains start = gibbs;
  Chains flip = gibbs;
  const ThreadLimit one(1);
  std::vector<double> ratios, of_gibbs, of_flip;
  double moved_gibbs = 0, moved_flip = 0;
  for (int i = -1; i < pairs; ++i) {
    const double g = seconds(packed, gibbs, draws, Rule::gibbs(), sweeps);
    const double t = seconds(packed, flip, draws, Rule::flip(), sweeps);
    if (i < 0) {  // warm-up
      moved_gibbs = share_moved(start, gibbs);
      moved_flip = share_moved(start, flip);
      continue;
    }
    ratios.push_back(t / g);
    of_gibbs.push_back(1e6 * g / sweeps);
    of_flip.push_back(1e6 * t / sweeps);
    context.progress(static_cast<double>(i + 1) / pairs);
  }
  return {{"ratios", ratios},
          {"microseconds_gibbs", of_gibbs},
          {"microseconds_flip", of_flip},
          {"moved_gibbs", moved_gibbs},
          {"moved_flip", moved_flip}};
}

void summarise(const Results& results, Summary& summary) {
  Table table{.name = "cost",
              .caption =
                  "Time of a T sweep over that of a Gibbs sweep, one thread: median of "
                  "interleaved pairs with its exact 95 % interval. All chains together.",
              .columns = {{"model", "model"},
                          {"chains", "chains"},
                          {"pairs", "pairs"},
                          {"T / G", "ratio", 3},
                          {"G / µs a sweep", "microseconds_gibbs", 1}},
              .timing = true};
  for (const Trial& trial : results.trials()) {
    const std::vector<double> ratios = numbers(trial.outputs.at("ratios"));
    const Interval ratio = median_interval(ratios);
    const int visible = trial.inputs.at("visible"), hidden = trial.inputs.at("hidden");
    table.rows.push_back({fmt::format("{}x{}", visible, hidden),
                          std::int64_t{trial.inputs.at("chains")},
                          std::int64_t{trial.inputs.at("pairs")},
                          WithInterval{ratio.estimate, ratio.lower, ratio.upper},
                          median(numbers(trial.outputs.at("microseconds_gibbs")))});
    if (hidden == 500)
      summary.add(Measure{
          .claim = "B20",
          .estimate = ratio.estimate,
          .lower = ratio.lower,
          .upper = ratio.upper,
          .n = static_cast<std::int64_t>(ratios.size()),
          .power =
              normal_power(0.02 / ((ratio.upper - ratio.lower) / 3.92), 0.05, Alternative::greater),
          .power_against = "a ratio of 1",
          .post_hoc = true,
          .note =
              "784x500, 100 chains; pairs of sweeps timed one after the other, on the machine of the trials",
          .likely_reason = "a shared machine: the interval is that of its noise"});
  }
  summary.add(std::move(table));
}

}  // namespace

Experiment experiment() {
  return {
      .id = "bruegge2013/cost",
      .item = "Sec. 3.1",
      .title = "Does T cost more than Gibbs sampling?",
      .paper_did =
          "Argues that the activation functions differ by nothing that matters, and that "
          "matrix products dominate.",
      .settings = {.smoke = "5 interleaved pairs of timings per size.",
                   .quick = "100 interleaved pairs of timings per size, one thread.",
                   .paper = "200 interleaved pairs of timings per size, one thread."},
      .seconds = {.smoke = 1, .quick = 12, .paper = 24},
      .claims = {"B20"},
      .deviations = {"The paper measures no times."},
      .alone = true,
      .trials = trials,
      .run = run,
      .summarise = summarise,
  };
}

}  // namespace boltzmark::experiments::bruegge2013_cost
