#include "experiments/kit/runner.hpp"

#include <fmt/format.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <thread>

#include "boltzmark/core/parallel.hpp"
#include "experiments/kit/host.hpp"
#include "experiments/kit/interrupt.hpp"
#include "experiments/kit/progress.hpp"
#include "experiments/kit/sources.hpp"
#include "experiments/kit/trial_checkpoint.hpp"

namespace boltzmark::experiments {
namespace {

struct Task {
  PlannedExperiment* plan;
  PlannedTrial* trial;
};

/// One call's work, shared by its workers.
class Work {
 public:
  Work(const ReproduceOptions& options, int threads, Progress& progress,
       const std::function<void(const PlannedExperiment&)>& on_ended)
      : options_(options),
        threads_(threads),
        progress_(progress),
        on_ended_(on_ended),
        revision_(revision()),
        host_(host_name()) {}

  /// Runs tasks, `jobs` at once; each job's parallel loops have an equal share of the threads.
  void run(std::vector<Task>& tasks, int jobs) {
    if (tasks.empty()) return;
    jobs = static_cast<int>(std::min<std::size_t>(jobs, tasks.size()));
    for (const Task& task : tasks) ++left_[task.plan];
    std::atomic<std::size_t> next{0};
    const auto worker = [&] {
      tbb::task_arena arena(std::max(1, threads_ / jobs));
      while (!stopped()) {
        const std::size_t i = next++;
        if (i >= tasks.size()) return;
        arena.execute([&] { run_one(tasks[i]); });
      }
    };
    std::vector<std::thread> others;
    for (int j = 1; j < jobs; ++j) others.emplace_back(worker);
    worker();
    for (std::thread& thread : others) thread.join();
  }

  ReproduceResult take_result() { return std::move(result_); }

 private:
  bool stopped() {
    const std::lock_guard lock(mutex_);
    if (interrupt_requested()) result_.interrupted = true;
    if (options_.max_seconds > 0 && now_seconds() - start_ > options_.max_seconds)
      result_.out_of_time = true;
    return result_.interrupted || result_.out_of_time;
  }

  void run_one(const Task& task) {
    const Experiment& experiment = *task.plan->experiment;
    const TrialKey& key = task.trial->key;
    try {
      Trial trial{.inputs = key.inputs, .revision = revision_, .simd = key.simd, .host = host_};
      const double start = now_seconds();
      const TrialContext context = make_context(task);
      trial.outputs = experiment.run(key.inputs, context);
      trial.seconds = now_seconds() - start;
      task.plan->store->append(key, trial);
      context.checkpoint->remove();
      task.trial->finished = task.plan->store->find(key);  // as a resumed run would read it
      const std::lock_guard lock(mutex_);
      ++result_.ran;
    } catch (const Interrupted&) {
      return progress_.finish(task.trial, task.trial->seconds);  // stopped() reports it
    } catch (const std::exception& error) {
      fail(fmt::format("{} {}: {}", experiment.id, key.inputs.dump(), error.what()));
    }
    progress_.finish(task.trial, task.trial->seconds);
    note_end(*task.plan);
  }

  void fail(std::string message) {
    const std::lock_guard lock(mutex_);
    result_.failures.push_back(std::move(message));
  }

  /// Whoever ends an experiment's last trial sees what the others wrote, by the lock.
  bool is_last(const PlannedExperiment& plan) {
    const std::lock_guard lock(mutex_);
    return --left_[&plan] == 0;
  }

  void note_end(const PlannedExperiment& plan) {
    if (!is_last(plan) || !on_ended_) return;
    try {
      on_ended_(plan);
    } catch (const std::exception& error) {
      fail(error.what());
    }
  }

  TrialContext make_context(const Task& task) {
    const Experiment& experiment = *task.plan->experiment;
    TrialContext context;
    context.seed = options_.seed;
    context.experiment = experiment.id;
    context.key = make_key(options_.seed, experiment.id, task.trial->key.inputs.dump());
    context.on_progress = [this, task, id = experiment.id](double fraction) {
      progress_.advance(task.trial, task.trial->seconds, fraction, id);
    };
    context.stopping = [this] { return stopped(); };
    context.checkpoint_seconds = options_.checkpoint_seconds;
    context.checkpoint = std::make_shared<TrialCheckpoint>(
        experiment_folder(options_.out, options_.profile, experiment), task.trial->key);
    if (options_.fresh) context.checkpoint->remove();
    context.on_progress(0);
    return context;
  }

  const ReproduceOptions& options_;
  int threads_;
  Progress& progress_;
  const std::function<void(const PlannedExperiment&)>& on_ended_;
  std::map<const PlannedExperiment*, std::size_t> left_;  ///< trials that have not ended
  std::string revision_, host_;
  double start_ = now_seconds();
  std::mutex mutex_;
  ReproduceResult result_;
};

std::vector<Task> tasks_to_run(std::vector<PlannedExperiment>& plans, bool alone) {
  std::vector<Task> tasks;
  for (PlannedExperiment& plan : plans)
    for (PlannedTrial& trial : plan.trials)
      if (plan.experiment->alone == alone && trial.to_run()) tasks.push_back({&plan, &trial});
  std::stable_sort(tasks.begin(), tasks.end(), [](const Task& a, const Task& b) {
    return a.trial->seconds > b.trial->seconds;
  });
  return tasks;
}

}  // namespace

ReproduceResult run_trials(std::vector<PlannedExperiment>& plans, const ReproduceOptions& options,
                           const std::function<void(const PlannedExperiment&)>& on_ended) {
  std::vector<Task> alone = tasks_to_run(plans, true);
  std::vector<Task> together = tasks_to_run(plans, false);
  double seconds = 0;
  for (const auto* tasks : {&alone, &together})
    for (const Task& task : *tasks) seconds += task.trial->seconds;
  const int threads = options.threads > 0 ? options.threads : thread_count();
  const int jobs = options.jobs > 0 ? options.jobs : threads;
  const ThreadLimit limit(threads);
  const InterruptGuard guard;
  Progress progress(alone.size() + together.size(), seconds, !options.quiet);
  Work work(options, threads, progress, on_ended);
  work.run(alone, 1);
  work.run(together, jobs);
  return work.take_result();
}

}  // namespace boltzmark::experiments
