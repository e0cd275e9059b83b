#pragma once

#include <vector>

#include "experiments/kit/ranks/rank_link.hpp"
#include "experiments/kit/run/plan.hpp"

namespace boltzmark::experiments {

/// Where a run's trials run.
struct Placement {
  int ranks = 1, hosts = 1;
  int threads = 1, jobs = 1;  ///< of all ranks
};

/// Counts what all ranks have, at rank 0; all must call it.
/// link  null: one process
Placement gather_placement(const ReproduceOptions& options, RankLink* link);

/// States on stderr what will run and how long that takes, before it starts: of several ranks also
/// what the longest trial allows.
void announce(const std::vector<PlannedExperiment>& plans, const ReproduceOptions& options,
              const Placement& placement);

/// Writes how long some work takes on several ranks: no less than its longest trial, which one thread runs.
///   seconds, longest  estimates of 2 cores
std::string placement_text(const Placement& placement, double seconds, double longest);

}  // namespace boltzmark::experiments
