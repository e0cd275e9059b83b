#pragma once

#include <functional>
#include <vector>

#include "experiments/kit/ranks/rank_link.hpp"
#include "experiments/kit/run/plan.hpp"
#include "experiments/kit/run/runner.hpp"
#include "experiments/kit/run/trial_run.hpp"

namespace boltzmark::experiments {

/// What a rank does for rank 0.
struct RankService {
  /// Does a piece of work, on a thread of its own.
  std::function<TrialOutcome(std::size_t number, int attempt)> run;
  /// Tells whether a piece of work wants the process for itself; none: it does not.
  std::function<bool(std::size_t number)> alone = nullptr;
  std::function<void()> stop =
      nullptr;  ///< work that keeps its state is to stop, and none to begin
  std::function<void()> give_up =
      nullptr;  ///< all work is to stop, and keeps its state only if `stop` came before
};
/// Does what rank 0 gives this rank until rank 0 ends the ranks; `jobs` pieces of work at once. The
/// calling thread talks. It does not return if work that nobody waits for goes on.
/// Throws  Error if rank 0 was not heard for five leases
void serve_rank_0(RankLink& link, double lease_seconds, const Parallelism& use,
                  const RankService& service);

/// Runs the trials that rank 0 gives this rank, of plans whose stores are not opened. All ranks must call it.
/// Returns  whether this is another rank than 0, whose work is done then
/// Throws  as serve_rank_0
bool work_for_rank_0(const std::vector<PlannedExperiment>& plans, const ReproduceOptions& options,
                     RankLink& link);

}  // namespace boltzmark::experiments
