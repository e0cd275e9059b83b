#include "experiments/kit/run/study.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

#include "boltzmark/io/sha256.hpp"
#include "experiments/kit/ranks/equal_ranks.hpp"
#include "experiments/kit/ranks/rank_worker.hpp"
#include "experiments/kit/run/conflicts.hpp"
#include "experiments/kit/run/folder_lock.hpp"
#include "experiments/kit/run/runner.hpp"
#include "experiments/kit/run/selection.hpp"
#include "experiments/kit/sources.hpp"

namespace boltzmark::experiments {
namespace {

/// A folder that a study makes; taken away again if the study is refused before it stored anything.
class MadeFolder {
 public:
  explicit MadeFolder(std::string path) : path_(std::move(path)) {
    std::error_code error;
    made_ = !std::filesystem::exists(path_, error);
  }
  ~MadeFolder() {
    std::error_code error;
    if (!made_ || kept_) return;
    for (const char* file : {"/.lock", "/trials.jsonl"})
      std::filesystem::remove(path_ + file, error);
    std::filesystem::remove(path_, error);  // unless there is more in it
  }
  MadeFolder(const MadeFolder&) = delete;
  MadeFolder& operator=(const MadeFolder&) = delete;
  void keep() { kept_ = true; }

 private:
  std::string path_;
  bool made_ = false, kept_ = false;
};

std::string hash_of_inputs(const PlannedExperiment& plan) {
  std::string all;
  for (const PlannedTrial& trial : plan.trials) all += trial.key.text() + "\n";
  return sha256(all.data(), all.size());
}

std::vector<PlannedExperiment> list_alone(const Experiment& experiment, const std::string& sources,
                                          const ReproduceOptions& options) {
  std::vector<PlannedExperiment> plans;
  plans.push_back(list_trials(experiment, options, CellFilter(""), sources));
  plans.front().folder = options.out;
  return plans;
}

}  // namespace

StudyOutcome run_study(const Experiment& experiment, const std::string& sources,
                       const ReproduceOptions& options,
                       const std::function<void(const PlannedExperiment&)>& on_found,
                       RankLink* link) {
  std::vector<PlannedExperiment> plans = list_alone(experiment, sources, options);
  PlannedExperiment& plan = plans.front();
  if (link != nullptr) {
    agree_on(*link, experiment.id, [&] { return hash_of_inputs(plan); });
    if (work_for_rank_0(plans, options, *link))
      return {.run = {}, .results = plan.results(options.profile)};
  }
  MadeFolder made(options.out);
  const FolderLock lock(options.out, options.shard,
                        {.renew_seconds = options.sign_seconds, .take_over = options.take_over});
  look_up(plan, options);
  on_found(plan);
  made.keep();
  const std::size_t missing = plan.count_to_run();
  ReproduceResult result = run_trials(plans, options, {.check = [&] { lock.check(); }}, link);
  lock.check();
  result.planned = plan.trials.size();
  result.reused = result.planned - missing;
  return {.run = std::move(result),
          .results = plan.results(options.profile),
          .conflicts = keep_conflicts(plan)};
}

}  // namespace boltzmark::experiments
