#pragma once

#include <functional>
#include <vector>

#include "experiments/kit/ranks/rank_link.hpp"
#include "experiments/kit/run/plan.hpp"

namespace boltzmark::experiments {

/// A trial of a plan as all ranks number it, whatever is finished: its place in a vector of these.
struct NumberedTrial {
  const PlannedExperiment* plan;
  const PlannedTrial* trial;
};
/// Numbers the trials that are selected.
std::vector<NumberedTrial> number_trials(const std::vector<PlannedExperiment>& plans);

/// How much this process does at once.
struct Parallelism {
  int threads = 1;
  int jobs = 1;           ///< trials at once, which share the threads
  int alone_threads = 1;  ///< of a trial that has the host for itself
};
/// Takes what options say; otherwise the CPUs that this process may use, shared by the ranks on its host.
/// link  null: one process
Parallelism parallelism(const ReproduceOptions& options, const RankLink* link);

/// What a run calls as it goes on.
struct RunHooks {
  /// Called when the last trial of an experiment has ended, by a thread of its own; what it throws is a
  /// failure.
  std::function<void(const PlannedExperiment&)> on_ended = nullptr;
  /// Called again and again, and before anything is stored; what it throws ends the run.
  std::function<void()> check = nullptr;
  /// Whether the trials are read when all have ended, or only where a file has become shorter. Those of a shard
  /// need not be, unless some are made again: the report reads them.
  bool reads = true;
};

/// Runs every trial of the plans that is to run, several at once here and on the other ranks, and
/// stores each as it ends.
///   First those that must run alone, then the others, longest estimate first.
///   link  null: there are no other ranks; the others are in work_for_rank_0
/// Returns  what happened: ran, failures, interrupted, out_of_time, lost_ranks, reissued
/// Throws  Error if a trial cannot be stored; what hooks.check throws
ReproduceResult run_trials(std::vector<PlannedExperiment>& plans, const ReproduceOptions& options,
                           const RunHooks& hooks = {}, RankLink* link = nullptr);

}  // namespace boltzmark::experiments
