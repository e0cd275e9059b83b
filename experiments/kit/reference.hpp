#pragma once

#include <map>
#include <string>
#include <vector>

#include "experiments/kit/experiment.hpp"

namespace boltzmark::experiments {

/// Returns reports/reference/<id>/trials.jsonl.gz of the source tree.
std::string reference_path(const Experiment& experiment);

/// Reads an experiment's committed trials.  Returns  text of the inputs -> trial; empty without any
/// Throws  DataError if the file is there and not what it must be
std::map<std::string, Trial> read_reference(const Experiment& experiment);

/// Merges trials into an experiment's committed ones; of equal inputs the given one stays.
void keep_in_reference(const Experiment& experiment, const std::vector<Trial>& trials,
                       std::uint64_t seed);

}  // namespace boltzmark::experiments
