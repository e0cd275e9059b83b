#include "experiments/kit/run/conflicts.hpp"

#include <fmt/format.h>

#include <filesystem>

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

}  // namespace

std::vector<std::string> keep_conflicts(const PlannedExperiment& plan) {
  std::vector<std::string> said;
  if (plan.experiment->measures_time() || plan.store->conflicts().empty()) return said;
  const std::string path = plan.folder + "/conflicts.jsonl";
  std::string text = std::filesystem::exists(path) ? read_text(path) : "";
  for (const Conflict& conflict : plan.store->conflicts()) {
    for (const Trial* trial : {&conflict.first, &conflict.second}) {
      const std::string line = trial_line(conflict.key, *trial);
      if (text.find(line) == std::string::npos) text += line;
    }
    said.push_back(conflict_text(*plan.experiment, conflict, path));
  }
  write_text(path, text);
  return said;
}

}  // namespace boltzmark::experiments
