#include "experiments/kit/run/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/simd.hpp"
#include "experiments/kit/run/reference.hpp"
#include "experiments/kit/run/trial_checkpoint.hpp"
#include "experiments/kit/sources.hpp"

namespace boltzmark::experiments {
namespace {

/// Shares the experiment's seconds out by cost.
void estimate_seconds(PlannedExperiment& plan, Profile profile) {
  const auto cost = [&](const PlannedTrial& trial) {
    return plan.experiment->cost ? plan.experiment->cost(trial.key.inputs) : 1.0;
  };
  double whole = 0;
  for (const PlannedTrial& trial : plan.trials) whole += cost(trial);
  for (PlannedTrial& trial : plan.trials)
    trial.seconds = plan.experiment->seconds.at(profile) * cost(trial) / whole;
}

/// What a rank still wrote of a trial that another had finished is left until now.
void drop_states(const PlannedExperiment& plan) {
  std::vector<const TrialKey*> finished;
  for (const PlannedTrial& trial : plan.trials)
    if (trial.finished) finished.push_back(&trial.key);
  TrialCheckpoint::remove(plan.folder, finished);
}

}  // namespace

std::size_t PlannedExperiment::count_to_run() const {
  return static_cast<std::size_t>(std::count_if(
      trials.begin(), trials.end(), [](const PlannedTrial& trial) { return trial.to_run(); }));
}

double PlannedExperiment::seconds_to_run() const {
  double sum = 0;
  for (const PlannedTrial& trial : trials) sum += trial.to_run() ? trial.seconds : 0;
  return sum;
}

Results PlannedExperiment::results(Profile profile) const {
  std::vector<Json> planned;
  std::vector<Trial> finished;
  for (const PlannedTrial& trial : trials) {
    planned.push_back(trial.key.inputs);
    if (trial.finished) finished.push_back(*trial.finished);
  }
  return {profile, std::move(planned), std::move(finished)};
}

void PlannedExperiment::read_finished() {
  store->read_appended();
  for (PlannedTrial& trial : trials)
    if (trial.to_run()) trial.finished = store->find(trial.key);
}

bool is_left(const PlannedExperiment& plan) {
  return plan.store->size() > 0 &&
         std::none_of(plan.trials.begin(), plan.trials.end(),
                      [](const PlannedTrial& trial) { return trial.finished != nullptr; });
}

std::string experiment_folder(const std::string& out, Profile profile,
                              const Experiment& experiment) {
  return fmt::format("{}/{}/{}", out, profile_name(profile), experiment.id);
}

PlannedExperiment list_trials(const Experiment& experiment, const ReproduceOptions& options,
                              const CellFilter& only, std::string sources) {
  PlannedExperiment plan{.experiment = &experiment,
                         .folder = experiment_folder(options.out, options.profile, experiment)};
  if (sources.empty()) sources = sources_hash(experiment);
  const std::string simd = options.simd.empty() ? simd_path() : options.simd;
  std::set<std::string> seen;
  for (const Json& inputs : experiment.trials(options.profile)) {
    PlannedTrial trial{.key = {inputs, options.seed, simd, sources}};
    const std::string text = inputs.dump();
    if (!seen.insert(text).second)
      throw InvalidArgument(
          fmt::format("{}: trial = {} (must be listed once)", experiment.id, text));
    trial.selected = only.matches(inputs);
    plan.trials.push_back(std::move(trial));
  }
  estimate_seconds(plan, options.profile);
  return plan;
}

void look_up(PlannedExperiment& plan, const ReproduceOptions& options, TrialStore::Access access) {
  const Experiment& experiment = *plan.experiment;
  plan.store = std::make_unique<TrialStore>(
      fmt::format("{}/{}", plan.folder, options.shard.file_name()), access);
  const auto reference = options.profile == Profile::paper && options.seed == kReferenceSeed
                             ? read_reference(reference_path(experiment))
                             : std::map<std::string, Trial>{};
  for (PlannedTrial& trial : plan.trials) {
    const auto kept = reference.find(trial.key.inputs.dump());
    const bool forget = options.fresh && trial.selected;
    if (!forget) trial.finished = plan.store->find(trial.key);
    if (!forget && !trial.finished && kept != reference.end())
      trial.finished = std::make_shared<const Trial>(kept->second);
    if (!trial.finished && plan.store->count_other_builds(trial.key) > 0) ++plan.stale;
  }
  if (access == TrialStore::Access::append) drop_states(plan);
}

PlannedExperiment plan_experiment(const Experiment& experiment, const ReproduceOptions& options,
                                  const CellFilter& only, TrialStore::Access access) {
  PlannedExperiment plan = list_trials(experiment, options, only);
  look_up(plan, options, access);
  return plan;
}

}  // namespace boltzmark::experiments
