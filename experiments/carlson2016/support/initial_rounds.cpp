#include "experiments/carlson2016/support/initial_rounds.hpp"

#include <algorithm>
#include <cmath>

#include "boltzmark/estimate/estimators/rts.hpp"
#include "boltzmark/sample/tempering/mixing.hpp"

namespace boltzmark::experiments {
namespace {

constexpr int kSweeps = 50;  // an iteration

}  // namespace

int iterations_in(int sweeps) { return sweeps / kSweeps; }

SimulatedTemperingOptions paper_start(const LayeredTarget& target, const Ladder& ladder, int sweeps,
                                      int iterations, const TrialContext& context) {
  return {.chains = 100,
          .sweeps = sweeps,
          .ladder = ladder,
          .states = States::collapsed,
          .start = Start::base,
          .restart = {.keep_states = true, .uniform_rungs = true},
          .log_z_hat = unit_log_z_hat(target, ladder),
          .round_sweeps = kSweeps,
          .max_rounds = iterations,
          .key = context.key,
          .progress = [&](double share) { context.progress(share); }};
}

Estimate judged_rts(const TemperedRun& run) {
  Estimate estimate = rts(run.sums, run.store.log_prior, run.store.log_z_hat);
  judge_mixing(estimate, run.store);
  return estimate;
}

TemperedRun run_initial_iterations(const LayeredTarget& target, const InitialSettings& settings,
                                   const TrialContext& context) {
  SimulatedTemperingOptions options = paper_start(
      target, Ladder::linear(100), kSweeps * settings.iterations, settings.iterations, context);
  options.restart = settings.restart;
  options.occupancies = settings.occupancies;
  options.stop_early = settings.stop_early;
  options.initial_only = true;
  return simulated_tempering(target, options);
}

const Eigen::VectorXd& log_z_hat_after(const TemperedRun& run, std::size_t iteration) {
  return iteration + 1 < run.rounds.size() ? run.rounds[iteration + 1].log_z_hat
                                           : run.store.log_z_hat;
}

int iterations_to_stop(const TemperedRun& run) {
  const auto balanced = std::find_if(run.rounds.begin(), run.rounds.end(),
                                     [](const InitialRound& round) { return round.imbalance < 1; });
  return 1 + static_cast<int>(balanced - run.rounds.begin());
}

Json describe_iterations(const TemperedRun& run, double log_z) {
  Json outputs = {{"iterations", iterations_to_stop(run)}, {"error", Json::array()}};
  for (std::size_t i = 0; i < run.rounds.size(); ++i) {
    const Eigen::VectorXd& hat = log_z_hat_after(run, i);
    const double found = hat[hat.size() - 1] - hat[0];
    outputs["log_z"].push_back(found);
    outputs["error"].push_back(std::abs(found - log_z));
    outputs["imbalance"].push_back(run.rounds[i].imbalance);
  }
  return outputs;
}

}  // namespace boltzmark::experiments
