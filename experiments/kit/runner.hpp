#pragma once

#include <vector>

#include "experiments/kit/plan.hpp"

namespace boltzmark::experiments {

/// Runs every trial of the plans that is to run, several at once, and stores each as it ends.
///   First those that must run alone, then the others, longest estimate first.
/// Returns  what happened: ran, failures, interrupted, out_of_time
ReproduceResult run_trials(std::vector<PlannedExperiment>& plans, const ReproduceOptions& options);

}  // namespace boltzmark::experiments
