#pragma once

#include "boltzmark/sample/tempering/simulated_tempering.hpp"
#include "experiments/carlson2016/support/models.hpp"
#include "experiments/kit/experiment.hpp"

namespace boltzmark::experiments {

inline constexpr int kPaperIterations = 10;
/// Counts the initial iterations of 50 sweeps that so many sweeps have.
int iterations_in(int sweeps);

/// The options of a run of 100 chains that starts as Sec. 2.4 says: from Zhat_k = 1, in iterations of 50
/// sweeps, each from the last x and fresh uniform rungs; the rung is drawn with the hidden units summed out.
///   iterations  10 in the paper; as many as the sweeps have if the run is to leave them once they settle
SimulatedTemperingOptions paper_start(const LayeredTarget& target, const Ladder& ladder, int sweeps,
                                      int iterations, const TrialContext& context);
/// Estimates log Z from a tempered run by RTS, judged by how its chains mixed.
Estimate judged_rts(const TemperedRun& run);

/// How the initial iterations of Sec. 2.4 are made.
struct InitialSettings {
  int iterations = kPaperIterations;
  Assignment occupancies = Assignment::soft;
  Restart restart = {.keep_states = true, .uniform_rungs = true};
  bool stop_early = false;
};

/// Runs the paper's initial iterations alone: K = 100, from Zhat_k = 1, each of 50 sweeps of 100
/// chains.
TemperedRun run_initial_iterations(const LayeredTarget& target, const InitialSettings& settings,
                                   const TrialContext& context);

/// Returns log Zhat after iteration i, counted from 0.  Shapes  [rungs]
const Eigen::VectorXd& log_z_hat_after(const TemperedRun& run, std::size_t iteration);

/// Returns the number, from 1, of the first iteration with max_k |log(c_k / r_k)| < 1; one more
/// than there were if there is none.
int iterations_to_stop(const TemperedRun& run);

/// What is told where log Z is known, but not that of the rungs.
/// Returns  iterations, those to the stop; and after each one log_z, its error and the imbalance
Json describe_iterations(const TemperedRun& run, double log_z);

}  // namespace boltzmark::experiments
