#include "experiments/kit/runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "boltzmark/core/parallel.hpp"
#include "experiments/kit/dispatcher.hpp"
#include "experiments/kit/interrupt.hpp"
#include "experiments/kit/progress.hpp"
#include "experiments/kit/sources.hpp"
#include "experiments/kit/trial_checkpoint.hpp"
#include "experiments/kit/trial_run.hpp"
#include "experiments/kit/workers.hpp"

namespace boltzmark::experiments {
namespace {

constexpr double kWaitSeconds = 0.05;  // until a word to stop is looked for again
constexpr double kSyncSeconds = 0.2;   // what a crash of the machine may lose

struct Task {
  PlannedExperiment* plan;
  PlannedTrial* trial;
};

std::vector<Task> tasks_to_run(std::vector<PlannedExperiment>& plans) {
  std::vector<Task> tasks;
  for (PlannedExperiment& plan : plans)
    for (PlannedTrial& trial : plan.trials)
      if (trial.to_run()) tasks.push_back({&plan, &trial});
  return tasks;
}

/// What the dispatcher is to know; each experiment that measures time is a group.
std::vector<DispatchTask> dispatch_tasks(const std::vector<Task>& tasks) {
  std::map<const PlannedExperiment*, int> groups;
  std::vector<DispatchTask> all;
  for (const Task& task : tasks) {
    DispatchTask it{.seconds = task.trial->seconds};
    if (task.plan->experiment->alone)
      it.alone = groups.try_emplace(task.plan, static_cast<int>(groups.size())).first->second;
    all.push_back(it);
  }
  return all;
}

int count_slots(const std::vector<Task>& tasks, int jobs) {
  const auto together = std::count_if(
      tasks.begin(), tasks.end(), [](const Task& task) { return !task.plan->experiment->alone; });
  return static_cast<int>(std::clamp<std::ptrdiff_t>(together, 1, jobs));
}

double sum_seconds(const std::vector<Task>& tasks) {
  double sum = 0;
  for (const Task& task : tasks) sum += task.trial->seconds;
  return sum;
}

/// One call's work: the dispatcher, told of what happens, and what it wants done.
class Run {
 public:
  Run(std::vector<Task> tasks, const ReproduceOptions& options, int jobs, int threads,
      const std::function<void(const PlannedExperiment&)>& on_ended)
      : tasks_(std::move(tasks)),
        on_ended_(on_ended),
        slots_(count_slots(tasks_, jobs)),
        options_(options),
        progress_(tasks_.size(), sum_seconds(tasks_), !options.quiet),
        trial_run_(options, revision(), progress_),
        dispatcher_(dispatch_tasks(tasks_)),
        workers_(slots_, threads) {
    for (const Task& task : tasks_) ++left_[task.plan];
  }
  /// Whatever ended the run, nobody waits for trials that still go on.
  ~Run() { trial_run_.give_up(); }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  ReproduceResult run() {
    take(dispatcher_.join(0, 0, slots_));
    while (look_for_stop(), !dispatcher_.finished()) {
      for (Outcome& outcome : outcomes_.take(kWaitSeconds)) note(0, outcome);
      store();
    }
    sync();
    workers_.wait();  // for the drawing
    return std::move(result_);
  }

 private:
  void look_for_stop() {
    result_.interrupted = result_.interrupted || interrupt_requested();
    result_.out_of_time = result_.out_of_time || trial_run_.out_of_time();
    if (result_.interrupted || result_.out_of_time) take(dispatcher_.stop());
  }

  void note(int rank, Outcome& outcome) {
    const std::size_t i = outcome.trial;
    if (outcome.kind == Outcome::Kind::abandoned) {
      progress_.finish(tasks_[i].trial, tasks_[i].trial->seconds);
      return take(dispatcher_.abandoned(rank, i));
    }
    const bool made = outcome.kind == Outcome::Kind::result;
    Dispatcher::Actions actions = made ? dispatcher_.result(rank, i) : dispatcher_.failure(rank, i);
    for (const DispatchAction& action : actions) {
      if (action.kind == DispatchAction::Kind::store) store_line(i, outcome.text);
      if (action.kind == DispatchAction::Kind::fail) fail(std::move(outcome.text));
      if (action.kind == DispatchAction::Kind::store || action.kind == DispatchAction::Kind::fail)
        end(i);
    }
    take(actions);
  }

  void take(const Dispatcher::Actions& actions) {
    for (const DispatchAction& action : actions)
      if (action.kind == DispatchAction::Kind::give) give(action.trial, action.attempt);
  }

  void give(std::size_t i, int attempt) {
    const auto job = [this, i, attempt] {
      Outcome outcome = trial_run_.run(*tasks_[i].plan, *tasks_[i].trial, attempt);
      outcome.trial = i;
      outcomes_.add(std::move(outcome));
    };
    workers_.add(job, tasks_[i].plan->experiment->alone);
  }

  void store_line(std::size_t i, const std::string& line) {
    tasks_[i].plan->store->add_line(line);
    unwritten_.push_back(i);
    ++result_.ran;
  }

  /// Writes the lines that have come, of each experiment in one piece.
  void store() {
    for (const std::size_t i : unwritten_) {
      tasks_[i].plan->store->write();
      unsynced_.push_back(i);
    }
    // A trial's state is worth something until its line is written.
    for (const std::size_t i : std::exchange(unwritten_, {})) remove_state(i);
    if (now_seconds() - synced_ >= kSyncSeconds) sync();
  }

  void sync() {
    for (const std::size_t i : std::exchange(unsynced_, {})) tasks_[i].plan->store->sync();
    synced_ = now_seconds();
  }

  void remove_state(std::size_t i) {
    const Experiment& experiment = *tasks_[i].plan->experiment;
    TrialCheckpoint(experiment_folder(options_.out, options_.profile, experiment),
                    tasks_[i].trial->key)
        .remove();
  }

  /// A trial has ended: was it its experiment's last, that is drawn.
  void end(std::size_t i) {
    progress_.finish(tasks_[i].trial, tasks_[i].trial->seconds);
    PlannedExperiment& plan = *tasks_[i].plan;
    if (--left_[&plan] > 0) return;
    store();
    workers_.add_first([this, &plan] { draw(plan); });
  }

  void draw(PlannedExperiment& plan) {
    try {
      plan.read_finished();
      if (on_ended_) on_ended_(plan);
    } catch (const std::exception& error) {
      fail(error.what());
    }
  }

  void fail(std::string message) {
    const std::lock_guard lock(mutex_);
    result_.failures.push_back(std::move(message));
  }

  std::vector<Task> tasks_;
  const std::function<void(const PlannedExperiment&)>& on_ended_;
  std::map<const PlannedExperiment*, std::size_t> left_;  ///< trials that have not ended
  int slots_;
  const ReproduceOptions& options_;
  std::mutex mutex_;  ///< of failures
  ReproduceResult result_;
  std::vector<std::size_t> unwritten_, unsynced_;
  double synced_ = now_seconds();
  Progress progress_;
  TrialRun trial_run_;
  Dispatcher dispatcher_;
  OutcomeQueue outcomes_;
  Workers workers_;  // last: what its jobs use outlives it
};

}  // namespace

ReproduceResult run_trials(std::vector<PlannedExperiment>& plans, const ReproduceOptions& options,
                           const std::function<void(const PlannedExperiment&)>& on_ended) {
  const int threads = options.threads > 0 ? options.threads : thread_count();
  const int jobs = options.jobs > 0 ? options.jobs : threads;
  const ThreadLimit limit(threads);
  const InterruptGuard guard;
  std::vector<Task> tasks = tasks_to_run(plans);
  if (tasks.empty()) return {};
  ReproduceResult result = Run(std::move(tasks), options, jobs, threads, on_ended).run();
  for (PlannedExperiment& plan : plans) plan.read_finished();
  return result;
}

}  // namespace boltzmark::experiments
