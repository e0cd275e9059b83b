#pragma once

#include <vector>

#include "experiments/carlson2016/support/truth.hpp"
#include "experiments/kit/experiment.hpp"
#include "experiments/kit/results.hpp"
#include "experiments/kit/summary.hpp"

namespace boltzmark::experiments {

/// Lists trials of RTS on "cd25" with a uniform p1 under everything that the paper leaves open: the states
/// that rungs are drawn with, the ladder, and how the run starts.
std::vector<Json> start_trials(int sweeps, int repeats);
/// Runs one: log_z, std_error, status, imbalance in the last initial round, round_trips.
Json run_start_trial(const Json& inputs, const TrialContext& context);
/// Adds a table of what each setting makes of log Z, beside the published error.
void add_starts(const Results& results, const Truth& truth, Summary& summary);

}  // namespace boltzmark::experiments
