#include <fmt/format.h>

#include <cmath>

#include "boltzmark/estimate/estimators/rts.hpp"
#include "boltzmark/sample/sample_store.hpp"
#include "boltzmark/sample/tempering/simulated_tempering.hpp"
#include "experiments/carlson2016/support/models.hpp"
#include "experiments/carlson2016/support/ratios.hpp"
#include "experiments/kit/results.hpp"

namespace boltzmark::experiments::carlson2016_updates {
namespace {

constexpr PerProfile<int> kRepeats{.smoke = 2, .quick = 8, .paper = 50};
constexpr PerProfile<int> kMostIterations{.smoke = 3, .quick = 100, .paper = 1000};
constexpr int kSweeps = 50;
constexpr int kChains = 100;

std::vector<Json> trials(Profile profile) {
  std::vector<Json> all;
  for (int repeat = 1; repeat <= kRepeats.at(profile); ++repeat)
    all.push_back({{"repeat", repeat}, {"most", kMostIterations.at(profile)}});
  return all;
}

/// Iterations of 50 sweeps until every log Zhat_k is within 1 nat; the most there may be if never.
struct Path {
  int iterations = 0;
  bool arrived = false;
  std::vector<double> errors = {};  ///< max_k |log Zhat_k - log Z_k| after each iteration
};

// Both updates see the same draws: base states and rungs of an iteration depend on its number
// alone.
Path follow(const LayeredTarget& target, bool rts, int most, StreamKey key) {
  const Ladder ladder = Ladder::linear(100);
  const Eigen::VectorXd exact = exact_log_z_of_rungs(target, ladder);
  const Eigen::VectorXd log_prior = Eigen::VectorXd::Constant(100, -std::log(100.0));
  Eigen::VectorXd log_z_hat = unit_log_z_hat(target, ladder);
  Path path;
  while (path.iterations < most && !path.arrived) {
    ++path.iterations;
    const TemperedRun run = simulated_tempering(
        target, {.chains = kChains,
                 .sweeps = kSweeps,
                 .ladder = ladder,
                 .states = States::collapsed,
                 .start = Start::base,
                 .log_z_hat = log_z_hat,
                 .round_sweeps = kSweeps,
                 .max_rounds = 1,
                 .initial_only = true,
                 .key = derive_key(key, "iteration", fmt::format("{}", path.iterations))});
    const Eigen::VectorXd& occupancy = run.rounds.front().occupancy;
    log_z_hat = rts ? log_z_from_occupancies(occupancy.cwiseMax(1e-300), log_prior, log_z_hat)
                    : sams_update(occupancy, log_prior, log_z_hat, 1.0 / path.iterations);
    path.errors.push_back((log_z_hat - exact).cwiseAbs().maxCoeff());
    path.arrived = path.errors.back() < 1;
  }
  return path;
}

Json run(const Json& inputs, const TrialContext& context) {
  const LayeredTarget& target = carlson_target("mnist-10", "rates");
  Json outputs;
  for (const bool rts : {true, false}) {
    const Path path = follow(target, rts, inputs.at("most"), context.key);
    const std::string name = rts ? "rts" : "sams";
    outputs[name] = path.iterations;
    outputs[name + "_arrived"] = path.arrived;
    outputs[name + "_errors"] = path.errors;
    context.progress(rts ? 0.1 : 1);
  }
  return outputs;
}

void summarise(const Results& results, Summary& summary) {
  if (results.trials().size() < 2) return;
  const std::vector<double> rts = results.values({}, "rts"), sams = results.values({}, "sams");
  Figure figure{.name = "errors",
                .caption =
                    "Largest error of log Zhat over the rungs after each iteration, one "
                    "run; both updates start from Zhat = 1.",
                .panels = {{.x = {.label = "iteration of 50 sweeps", .log = true},
                            .y = {.label = "largest error of log Zhat_k / nats", .log = true},
                            .guides = {{.at = 1, .label = "1 nat"}},
                            .legend = "bottom left"}}};
  int late = 0;
  for (const Trial* trial : results.where({}))
    late += trial->outputs.at("sams_arrived").get<bool>() ? 0 : 1;
  for (const char* name : {"rts", "sams"}) {
    Series series{.label = std::string(name) == "rts" ? "update (12): RTS" : "update (19)"};
    series.y = numbers(results.trials().front().outputs.at(std::string(name) + "_errors"));
    for (std::size_t i = 1; i <= series.y.size(); ++i) series.x.push_back(static_cast<double>(i));
    figure.panels[0].series.push_back(std::move(series));
  }
  summary.add(std::move(figure));
  Measure measure =
      ratio_measure({.claim = "C21", .threshold = 1, .against = 0.5}, rts.size(),
                    [&](std::span<const std::size_t> rows) {
                      double above = 0, below = 0;
                      for (const std::size_t row : rows) {
                        above += std::log(rts[row]);
                        below += std::log(sams[row]);
                      }
                      return std::exp((above - below) / static_cast<double>(rows.size()));
                    });
  measure.note = fmt::format(
      "geometric mean over runs; in {} of {} runs (19) had not arrived when it was stopped, and "
      "counts as if it then had{}",
      late, sams.size(), measure.note);
  // What (19) takes that had not arrived is more than is counted.
  if (late > 0) measure.interval = "95 %, of an upper limit";
  summary.add(measure);
}

}  // namespace

Experiment experiment() {
  return {
      .id = "carlson2016/updates",
      .item = "Sec. 3.3",
      .title = "Far from the truth, how fast do the updates (12) and (19) approach it?",
      .paper_did =
          "Says that the update (12) dominates the stochastic one of Tan et al. (19), with "
          "steps 1/t, while the estimates are far from the truth; shows no numbers.",
      .settings = {.smoke = "3 iterations, 2 repeats.",
                   .quick = "784-10, K = 100, 100 chains, iterations of 50 sweeps from Zhat = 1, "
                            "each from fresh states; at most 100; 8 repeats.",
                   .paper = "At most 1,000 iterations; 50 repeats."},
      .seconds = {.smoke = 0.5, .quick = 5, .paper = 600},
      .claims = {"C21"},
      .deviations = {"Every iteration starts from fresh states, so that both updates see the same "
                     "draws as long as they agree."},
      .data = carlson_data({"mnist-10"}),
      .trials = trials,
      .run = run,
      .summarise = summarise,
  };
}

}  // namespace boltzmark::experiments::carlson2016_updates
