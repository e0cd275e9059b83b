#pragma once

#include <string>
#include <vector>

#include "experiments/kit/run/plan.hpp"

namespace boltzmark::experiments {

/// Returns DIR/<profile>/manifest.json: what made the results of a folder.
std::string manifest_path(const std::string& out, Profile profile);

/// Says what is known of a run before it: no data and no seconds yet.
Json make_manifest(const ReproduceOptions& options);
/// Adds the hashes of an experiment's data files.
void note_data(Json& manifest, const Experiment& experiment);

/// What trials count by in a folder.
struct StoredRun {
  std::uint64_t seed = 1;
  std::string simd;
};
/// Reads it of the run whose results a folder holds.
/// Throws  DataError if there is no manifest, or the file is none
StoredRun stored_run(const std::string& path);

/// Writes the manifest of a shard, unless another shard has.
/// Throws  DataError if the one that is there is of another seed or SIMD path, or it cannot be written
void share_manifest(const ReproduceOptions& options, const std::vector<PlannedExperiment>& plans);

}  // namespace boltzmark::experiments
