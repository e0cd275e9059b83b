#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "experiments/kit/claims.hpp"
#include "experiments/kit/experiment.hpp"

namespace boltzmark::experiments {

/// The seed of every committed trial: they are matched by their inputs.
inline constexpr std::uint64_t kReferenceSeed = 1;

/// Returns reports/reference/<id>/trials.jsonl.gz of the source tree.
std::string reference_path(const Experiment& experiment);

/// Reads the committed trials at reference_path.
/// Returns  text of the inputs -> trial; empty if there is no such file
/// Throws   DataError if the file is there and not what it must be
std::map<std::string, Trial> read_reference(const std::string& path);

/// Takes what a report's claims.json says of claims into them; no file, nothing.
/// Throws  DataError naming the file if it is not what it must be
void read_committed(const std::string& path, std::vector<ClaimFile>& files);

/// Merges trials of that seed into the committed ones at reference_path; of equal inputs the given one
/// stays.
void keep_in_reference(const std::string& path, const std::vector<Trial>& trials);

}  // namespace boltzmark::experiments
