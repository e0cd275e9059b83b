#pragma once

#include <string>
#include <vector>

#include "experiments/kit/plan.hpp"
#include "experiments/kit/rank_link.hpp"

namespace boltzmark::experiments {

/// Runs the trials that rank 0 gives this rank, of plans whose stores are not opened, until rank 0
/// ends the ranks. Trials run on threads of their own, `jobs` at once; the calling thread talks.
///   revision  of the source tree, as rank 0 found it
/// Throws  Error if rank 0 was not heard for five leases
void work_for_rank_0(const std::vector<PlannedExperiment>& plans, const ReproduceOptions& options,
                     const std::string& revision, RankLink& link);

}  // namespace boltzmark::experiments
