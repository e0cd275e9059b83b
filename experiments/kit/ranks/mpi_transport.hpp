#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "experiments/kit/ranks/rank_link.hpp"

namespace boltzmark::experiments {

/// Names the MPI library that this program was built with; empty: with none.
std::string mpi_name();

/// Starts MPI, once a process, where a launcher says that there is more than one rank.
///   most_bytes  of one message of `gather` and `broadcast`, which send what is longer in pieces: MPI
///               counts bytes in an int
///   start_seconds  until `agree_on_build` must be done, see limit_start
/// Returns  the ranks; null without MPI
/// Throws  Error if MPI cannot start
std::unique_ptr<RankLink> start_mpi(std::int64_t most_bytes = 1 << 30, int start_seconds = 60);

}  // namespace boltzmark::experiments
