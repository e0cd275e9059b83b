#include "experiments/kit/run/conflicts.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "experiments/kit/files.hpp"

namespace boltzmark::experiments {
namespace {

std::string host_text(const Trial& trial) {
  return trial.host.empty() ? "a host that it does not name" : trial.host;
}

std::string conflict_text(const Experiment& experiment, const Conflict& conflict,
                          const std::string& path) {
  return fmt::format("{} {}: outputs of {} and of {} differ (must be equal; both are kept in {})",
                     experiment.id, conflict.key.inputs.dump(), host_text(conflict.first),
                     host_text(conflict.second), path);
}

void drop_times(Json& outputs) {
  if (outputs.is_object()) outputs.erase("seconds");
  for (Json& part : outputs)
    if (part.is_structured()) drop_times(part);
}

/// Tells whether two runs of a trial differ in more than they may.
bool is_conflict(const Experiment& experiment, const Conflict& found) {
  if (!experiment.timed) return true;
  Json first = found.first.outputs, second = found.second.outputs;
  drop_times(first);
  drop_times(second);
  return first != second;
}

}  // namespace

std::vector<std::string> keep_conflicts(const PlannedExperiment& plan) {
  std::vector<std::string> said;
  if (plan.experiment->alone || plan.store->conflicts().empty()) return said;
  std::set<std::string> planned;
  for (const PlannedTrial& trial : plan.trials) planned.insert(trial.key.text());
  const std::string path = plan.folder + "/conflicts.jsonl";
  const std::string kept = std::filesystem::exists(path) ? read_text(path) : "";
  std::string more;
  for (const Conflict& conflict : plan.store->conflicts()) {
    if (!planned.contains(conflict.key.text()) || !is_conflict(*plan.experiment, conflict))
      continue;
    for (const Trial* trial : {&conflict.first, &conflict.second}) {
      const std::string line = trial_line(conflict.key, *trial);
      if (kept.find(line) == std::string::npos && more.find(line) == std::string::npos)
        more += line;
    }
    said.push_back(conflict_text(*plan.experiment, conflict, path));
  }
  append_text(path, more);  // shards of one folder may end at once
  return said;
}

}  // namespace boltzmark::experiments
