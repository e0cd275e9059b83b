#pragma once

#include <memory>
#include <string>

#include "experiments/kit/ranks/rank_link.hpp"

namespace boltzmark::experiments {

/// Names the MPI library that this program was built with; empty: with none.
std::string mpi_name();

/// Starts MPI, once a process, where a launcher says that there is more than one rank.
/// Returns  the ranks; null without MPI
/// Throws  Error if MPI cannot start
std::unique_ptr<RankLink> start_mpi();

}  // namespace boltzmark::experiments
