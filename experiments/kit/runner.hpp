#pragma once

#include <functional>
#include <vector>

#include "experiments/kit/plan.hpp"

namespace boltzmark::experiments {

/// Runs every trial of the plans that is to run, several at once, and stores each as it ends.
///   First those that must run alone, then the others, longest estimate first.
///   on_ended is called when the last trial of an experiment has ended, by a thread of its own;
///   what it throws is a failure
/// Returns  what happened: ran, failures, interrupted, out_of_time
ReproduceResult run_trials(std::vector<PlannedExperiment>& plans, const ReproduceOptions& options,
                           const std::function<void(const PlannedExperiment&)>& on_ended = nullptr);

}  // namespace boltzmark::experiments
