// Stepping stones, over parallel tempering unless asked otherwise.
#include "boltzmark/estimate/estimators/stepping_stones.hpp"
#include "boltzmark/estimate/held/both_ways.hpp"
#include "boltzmark/estimate/method.hpp"
#include "boltzmark/sample/tempering/mixing.hpp"

namespace boltzmark {
namespace {

bool by_simulated(const MethodSettings& settings) {
  return settings.tempering == Tempering::simulated;
}

Estimate step_over_rungs(const Target& target, const MethodSettings& settings) {
  const SampleStore store = by_simulated(settings) ? run_tempering(target, settings).store
                                                   : run_replicas(target, settings);
  Estimate estimate = stepping_stones(store).joined;
  judge_exchanges(estimate, store);
  return estimate;
}

MethodWork stepping_work(const MethodSettings& settings) {
  return by_simulated(settings) ? tempering_work(settings) : replica_work(settings);
}

double bytes_of_steps(const MethodSettings& settings) { return settings.chains * kSampleBytes; }

}  // namespace

Method ss_method() {
  return {.name = "ss",
          .summary = "stepping stones both ways over parallel tempering",
          .source = Source::parallel,
          .run = step_over_rungs,
          .work = stepping_work,
          .sweep_bytes = bytes_of_steps,
          .other_way = run_from_modes,
          .any_tempering = true};
}

}  // namespace boltzmark
