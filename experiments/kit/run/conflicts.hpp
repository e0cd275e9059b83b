#pragma once

#include <string>
#include <vector>

#include "experiments/kit/run/plan.hpp"

namespace boltzmark::experiments {

/// Keeps both lines of every trial that was computed twice with unequal outputs in
/// `conflicts.jsonl` of the experiment's folder: faulty memory, or a trial that is no pure function.
/// No conflict are trials of an experiment that is `alone`, the `seconds` of one that is `timed`, and
/// trials that the plan does not have.
/// Returns  a line for each: which trial, and both hosts
/// Throws  DataError if the file cannot be written
std::vector<std::string> keep_conflicts(const PlannedExperiment& plan);

}  // namespace boltzmark::experiments
