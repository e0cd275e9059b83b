#include "experiments/carlson2016/support/initial_rounds.hpp"

#include <algorithm>

namespace boltzmark::experiments {
namespace {

constexpr int kSweeps = 50;  // an iteration

}  // namespace

TemperedRun run_initial_iterations(const LayeredTarget& target, const InitialSettings& settings,
                                   const TrialContext& context) {
  const Ladder ladder = Ladder::linear(100);
  return simulated_tempering(target, {.chains = 100,
                                      .sweeps = kSweeps * settings.iterations,
                                      .ladder = ladder,
                                      .states = States::collapsed,
                                      .start = Start::base,
                                      .restart = settings.restart,
                                      .occupancies = settings.occupancies,
                                      .log_z_hat = unit_log_z_hat(target, ladder),
                                      .round_sweeps = kSweeps,
                                      .max_rounds = settings.iterations,
                                      .stop_early = settings.stop_early,
                                      .initial_only = true,
                                      .key = context.key,
                                      .progress = [&](double share) { context.progress(share); }});
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

}  // namespace boltzmark::experiments
