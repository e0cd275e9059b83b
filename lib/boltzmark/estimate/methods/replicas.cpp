// Stepping stones over parallel tempering.

#include <fmt/format.h>

#include <algorithm>

#include "boltzmark/core/error.hpp"
#include "boltzmark/estimate/method.hpp"
#include "boltzmark/estimate/stepping_stones.hpp"
#include "boltzmark/sample/tempering/mixing.hpp"
#include "boltzmark/sample/tempering/parallel_tempering.hpp"

namespace boltzmark {
namespace {

// Whole ladders, and the sweeps that make the same moves as the settings' chains; a fifth of them
// is burn-in.
ReplicaOptions replica_options(const MethodSettings& settings) {
  const Ladder ladder = tempering_ladder(settings);
  const int bundles = std::max(1, settings.chains / ladder.rungs());
  const std::int64_t sweeps =
      std::int64_t{settings.sweeps} * settings.chains / (std::int64_t{bundles} * ladder.rungs());
  if (sweeps < 2)
    throw InvalidArgument(fmt::format(
        "sweeps = {} of {} chains (must be worth 2 sweeps of a chain on each of {} rungs)",
        settings.sweeps, settings.chains, ladder.rungs()));
  return {.ladder = ladder,
          .bundles = bundles,
          .burn_in = sweeps / 5,
          .sweeps = sweeps - sweeps / 5,
          .key = settings.key,
          .progress = settings.progress};
}

Estimate step_over_replicas(const Target& target, const MethodSettings& settings) {
  const ReplicaResult run = parallel_tempering_samples(target, replica_options(settings));
  Estimate estimate = stepping_stones(run.samples).joined;
  judge_round_trips(estimate, round_trips(run.samples), run.samples.chains());
  return estimate;
}

MethodWork replica_work(const MethodSettings& settings) {
  const ReplicaOptions options = replica_options(settings);
  const int rungs = options.ladder.rungs(), chains = options.bundles * rungs;
  const auto sweeps = static_cast<int>(options.burn_in + options.sweeps);
  return {chains, sweeps, rungs, double{1} * chains * sweeps};
}

double bytes_of_replicas(const MethodSettings& settings) { return settings.chains * kSampleBytes; }

}  // namespace

Method ss_method() {
  return {.name = "ss",
          .summary = "stepping stones both ways over parallel tempering",
          .source = Source::parallel,
          .run = step_over_replicas,
          .work = replica_work,
          .sweep_bytes = bytes_of_replicas};
}

}  // namespace boltzmark
