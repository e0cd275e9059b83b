#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "experiments/kit/claims.hpp"
#include "experiments/kit/experiment.hpp"
#include "experiments/kit/run/reproduce.hpp"
#include "experiments/kit/temporary_folder.hpp"

namespace boltzmark::experiments {

/// Tells whether a trial is of a model that is not in the source tree, nor on this machine.
bool lacks_model(const Trial& trial);

/// How often trials of the toy experiment have run in this process.
extern std::atomic<int> toy_runs;

/// A small true experiment: each of 12 trials averages draws of its own stream. Its table, figure
/// and measures of T01 and T02 follow from them.
std::vector<Experiment> toy_experiments();

/// Runs the toys into a folder, or a shard of them.
ReproduceResult run_part(const std::string& out, Shard shard, const std::string& only = {},
                         std::uint64_t seed = 1);
/// Where `run_part` keeps their trials.
std::string toy_folder(const TemporaryFolder& out);

/// What stands between one text and the next that follows it; empty without the first.
std::string text_between(const std::string& text, const std::string& from, const std::string& to);

/// Its claims: T01 exact, T02 of kind D with the parts small and large.
ClaimFile toy_claims();

}  // namespace boltzmark::experiments
