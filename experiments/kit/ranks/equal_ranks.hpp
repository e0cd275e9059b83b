#pragma once

#include <functional>
#include <string>
#include <vector>

#include "experiments/kit/experiment.hpp"
#include "experiments/kit/ranks/rank_link.hpp"

namespace boltzmark::experiments {

/// Agrees on the SIMD path that all ranks can take, the weakest's best unless rank 0's
/// BOLTZMARK_SIMD names one, before anything settles it; then holds every rank to rank 0's build
/// and arithmetic, as trials of another would be stored under a key that is not theirs.
/// All ranks must call it.
/// Throws  InvalidArgument at every rank, naming the host that differs and in what
void agree_on_build(RankLink& link);

/// Hashes what the trials of each experiment depend on, data files once a host, and holds every host
/// to rank 0's. All ranks must call it, for the same experiments.
/// Returns  sources_hash of each
/// Throws  InvalidArgument at every rank, naming the host whose data differ
std::vector<std::string> agree_on_sources(const std::vector<const Experiment*>& experiments,
                                          RankLink& link);

/// Holds what every rank makes of something to what rank 0 makes of it, as a file that all read.
/// All ranks must call it.
/// Throws  InvalidArgument at every rank, naming the host that differs, or what went wrong there
void agree_on(RankLink& link, const std::string& name, const std::function<std::string()>& value);

/// What a rank says of itself.
struct RankIdentity {
  std::string host;
  std::vector<std::pair<std::string, std::string>> facts;  ///< name and value
};
/// Compares ranks with the first.  Returns  what differs, in one line; empty: nothing
std::string difference(const std::vector<RankIdentity>& ranks);

/// Returns the weakest of the SIMD paths that ranks would take, as BOLTZMARK_SIMD takes them.
std::string weakest_path(const std::vector<std::string>& paths);

}  // namespace boltzmark::experiments
