#pragma once

#include <string>

namespace boltzmark::speed {

/// The word before a work that `bench` does on the ranks of mpirun, which `add_ranks` has it start with.
inline constexpr const char* kOnRanks = "--on-ranks";

/// Does a work on the ranks of mpirun, all of which must call it; rank 0 prints the seconds it took.
///   work  "message" (one way), "trials" (a trial that does nothing), "trials-cpu" (of rank 0's main thread,
///         planning included), or "asleep" (a study of sleepers)
/// Returns  the exit code.  Throws  InvalidArgument if there is no such work, or no ranks
int run_on_ranks(const std::string& work);

}  // namespace boltzmark::speed
