#pragma once

#include <functional>
#include <string>

#include "experiments/kit/ranks/rank_link.hpp"
#include "experiments/kit/results.hpp"
#include "experiments/kit/run/plan.hpp"
#include "experiments/kit/run/reproduce.hpp"

namespace boltzmark::experiments {

/// What came of a study.
struct StudyOutcome {
  ReproduceResult run;
  Results results;
  std::vector<std::string> conflicts = {};  ///< trials that were computed twice, and differ
};

/// Runs the trials of an experiment that is in no report, such as a comparison of methods on models of
/// one's own, into a store in options.out, and goes on with what is there.
///   sources   a hash of what its trials depend on beside their inputs
///   on_found  rank 0 calls it once it is known which trials are stored, before any is run
///   link      null: one process. All ranks call it; those but 0 run trials until rank 0 ends them, and
///             return nothing
/// Throws  InvalidArgument at every rank if trials of another rank have other inputs; what on_found
///   throws; otherwise as reproduce
StudyOutcome run_study(const Experiment& experiment, const std::string& sources,
                       const ReproduceOptions& options,
                       const std::function<void(const PlannedExperiment&)>& on_found,
                       RankLink* link = nullptr);

}  // namespace boltzmark::experiments
