#pragma once

#include <memory>

#include "boltzmark/core/ranks.hpp"

namespace boltzmark::experiments {

/// Makes the ranks that `start_mpi` connected exchange numbers, with MPI's collective functions:
/// for the thread that started it, while no rank ends the program.
/// Returns  the ranks; null without MPI
std::unique_ptr<Ranks> mpi_ranks();

}  // namespace boltzmark::experiments
