#pragma once

#include <string>
#include <vector>

#include "boltzmark/model/layered.hpp"

namespace boltzmark::experiments {

/// How many RBMs 16-16 of Artificial Modes, p = 0.01, trained by parallel tempering, are committed
/// (datasets/models/bruegge2013/modes-0.01-pt).
inline constexpr int kCommittedRbms = 25;

/// Lists their files, relative to datasets/.
std::vector<std::string> committed_rbm_files();
/// Reads one.  Throws  DataError if it is in no data folder
Layered committed_rbm(int index);

}  // namespace boltzmark::experiments
