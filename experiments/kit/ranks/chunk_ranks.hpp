#pragma once

#include "boltzmark/exact/log_z.hpp"
#include "experiments/kit/ranks/rank_link.hpp"
#include "experiments/kit/run/runner.hpp"

namespace boltzmark::experiments {

/// How the chunks of an enumeration are shared by ranks.
struct ChunkSharing {
  Parallelism use = {};       ///< of this rank
  double seconds = 1;         ///< foretold of all chunks on this rank alone
  double lease_seconds = 60;  ///< a rank that is silent for longer is lost
};

/// Has the ranks sum an enumeration's chunks. Rank 0 gives runs of about a second out, again those of a rank
/// that is lost, and takes their sums in the order of chunks: the bits of one process. Other ranks
/// sum what they are given, and take nothing.
/// lost  set by rank 0 to the number of ranks that are silent at the end
ChunkDriver rank_driver(RankLink& link, const ChunkSharing& sharing, int& lost);

/// Returns how many chunks a run has, so that it lasts about a second and every rank has several; more
/// where that would be more runs than rank 0 can keep in mind.
std::uint64_t run_length(std::uint64_t chunks, int ranks, double seconds);

}  // namespace boltzmark::experiments
