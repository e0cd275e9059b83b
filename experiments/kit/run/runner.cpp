#include "experiments/kit/run/runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "boltzmark/core/parallel.hpp"
#include "experiments/kit/progress.hpp"
#include "experiments/kit/ranks/remote_ranks.hpp"
#include "experiments/kit/run/dispatcher.hpp"
#include "experiments/kit/run/interrupt.hpp"
#include "experiments/kit/run/lease_clock.hpp"
#include "experiments/kit/run/trial_checkpoint.hpp"
#include "experiments/kit/run/trial_run.hpp"
#include "experiments/kit/run/workers.hpp"
#include "experiments/kit/sources.hpp"

namespace boltzmark::experiments {
namespace {

constexpr double kWaitSeconds = 0.05;  // until a word to stop is looked for again
constexpr double kInterruptSeconds = 1;
constexpr double kSyncSeconds = 0.2;    // what a crash of the machine may lose
constexpr double kWriteSeconds = 2e-3;  // what a kill may lose, while one result follows the other

struct Task {
  PlannedExperiment* plan;
  PlannedTrial* trial;
  std::size_t number;  ///< as number_trials counts
};

std::vector<Task> tasks_to_run(std::vector<PlannedExperiment>& plans) {
  std::vector<Task> tasks;
  std::size_t number = 0;
  for (PlannedExperiment& plan : plans)
    for (PlannedTrial& trial : plan.trials) {
      if (trial.to_run()) tasks.push_back({&plan, &trial, number});
      number += trial.selected;
    }
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
  Run(std::vector<Task> tasks, const ReproduceOptions& options, Parallelism use,
      const RunHooks& hooks, RankLink* link)
      : tasks_(std::move(tasks)),
        hooks_(hooks),
        slots_(count_slots(tasks_, use.jobs)),
        options_(options),
        progress_(tasks_.size(), sum_seconds(tasks_), !options.quiet),
        trial_run_(options, revision(), progress_),
        clock_(options.lease_seconds, now_seconds()),
        remote_(link, options.lease_seconds),
        dispatcher_(dispatch_tasks(tasks_), options.lease_seconds),
        workers_(slots_, use.threads, use.alone_threads) {
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      ++left_[tasks_[i].plan];
      by_number_[tasks_[i].number] = i;
    }
  }
  /// Whatever ended the run, nobody waits for trials that still go on.
  ~Run() { trial_run_.give_up(); }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  ReproduceResult run() {
    take(dispatcher_.join(0, 0, slots_));
    while (look_for_stop(), check(), !dispatcher_.finished() && !waits_in_vain()) {
      auto outcomes = outcomes_.take(wait_seconds());
      for (TrialOutcome& outcome : outcomes) note(0, outcome);
      const bool said = hear() || !outcomes.empty();
      naps_.note(said);
      if (!said || now_seconds() - written_ >= kWriteSeconds) store();
    }
    store();
    if (!result_.interrupted && !result_.out_of_time)
      trial_run_.give_up();  // stored from elsewhere
    sync();
    remote_.tell(RankNote::Kind::rest);
    result_.lost_ranks = dispatcher_.lost();
    result_.reissued = dispatcher_.reissued();
    workers_.wait();  // for the drawing
    return std::move(result_);
  }

 private:
  void check() const {
    if (hooks_.check) hooks_.check();
  }

  double wait_seconds() const {
    if (remote_.any()) return naps_.seconds();
    return unwritten_.empty() ? kWaitSeconds : kWriteSeconds;
  }

  void look_for_stop() {
    result_.interrupted = result_.interrupted || interrupt_requested();
    result_.out_of_time = result_.out_of_time || trial_run_.out_of_time();
    if (result_.interrupted || result_.out_of_time) take(dispatcher_.stop());
    if (result_.interrupted) remote_.tell(RankNote::Kind::give_up);
    if (result_.out_of_time) remote_.tell(RankNote::Kind::stop);
  }

  /// After Ctrl-C a launcher kills in two seconds: no other rank is waited for much longer.
  bool waits_in_vain() {
    if (!result_.interrupted || !remote_.any()) return false;
    if (interrupted_at_ == 0) interrupted_at_ = now_seconds();
    return now_seconds() - interrupted_at_ > kInterruptSeconds && !workers_.busy();
  }

  /// Takes what the other ranks have said, and finds those that say nothing.
  /// Returns  whether one has said something
  bool hear() {
    if (!remote_.any()) return false;
    const bool said = remote_.hear([this](int rank, RankNote& note) { take(rank, note); });
    take(dispatcher_.beat(0));
    if (remote_.all_heard()) take(dispatcher_.time(clock_.seconds_at(now_seconds())));
    return said;
  }

  void take(int rank, RankNote& note) {
    using Kind = RankNote::Kind;
    if (note.kind == Kind::join)
      return take(dispatcher_.join(rank, remote_.host(rank), static_cast<int>(note.number)));
    if (note.kind == Kind::beat) return take(dispatcher_.beat(rank));
    TrialOutcome outcome{.trial = by_number_.at(note.number), .text = std::move(note.text)};
    if (note.kind == Kind::result) outcome.kind = TrialOutcome::Kind::result;
    if (note.kind == Kind::failure) outcome.kind = TrialOutcome::Kind::failure;
    this->note(rank, outcome);
  }

  void note(int rank, TrialOutcome& outcome) {
    const std::size_t i = outcome.trial;
    if (outcome.kind == TrialOutcome::Kind::abandoned) {
      progress_.finish(tasks_[i].trial, tasks_[i].trial->seconds);
      return take(dispatcher_.abandoned(rank, i));
    }
    const bool made = outcome.kind == TrialOutcome::Kind::result;
    if (!made && remote_.any())
      outcome.text += fmt::format(" (on host {})", remote_.host_name_of(rank));
    Dispatcher::Actions actions = made ? dispatcher_.result(rank, i) : dispatcher_.failure(rank, i);
    for (const DispatchAction& action : actions) {
      if (action.kind == DispatchAction::Kind::store) store_line(i, outcome.text);
      if (action.kind == DispatchAction::Kind::fail) fail(std::move(outcome.text));
      if (action.kind == DispatchAction::Kind::store || action.kind == DispatchAction::Kind::fail)
        end(i);
      if (action.kind == DispatchAction::Kind::drop && made) compare(i, outcome.text);
      if (action.kind == DispatchAction::Kind::drop) unsynced_.push_back(i);  // its state goes too
    }
    take(actions);
  }

  void take(const Dispatcher::Actions& actions) {
    for (const DispatchAction& action : actions) {
      if (action.kind == DispatchAction::Kind::lost) tell_lost(action.rank);
      if (action.kind != DispatchAction::Kind::give) continue;
      if (action.rank == 0)
        give(action.trial, action.attempt);
      else
        remote_.give(action.rank, tasks_[action.trial].number, action.attempt);
    }
  }

  void tell_lost(int rank) const {
    if (options_.quiet) return;
    fmt::print(stderr, "rank {} on host {} has been silent for {}: its trials are given again\n",
               rank, remote_.host_name_of(rank), duration_text(options_.lease_seconds));
  }

  void give(std::size_t i, int attempt) {
    const auto job = [this, i, attempt] {
      TrialOutcome outcome = trial_run_.run(*tasks_[i].plan, *tasks_[i].trial, attempt);
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

  /// Holds what a second rank made of a trial to what is stored.
  void compare(std::size_t i, const std::string& line) {
    if (tasks_[i].plan->experiment->alone) return;
    store();
    tasks_[i].plan->store->compare(line);
  }

  /// Writes the lines that have come, of each experiment in one piece.
  void store() {
    if (!unwritten_.empty()) {
      check();
      written_ = now_seconds();
    }
    for (const std::size_t i : unwritten_) {
      tasks_[i].plan->store->write();
      unsynced_.push_back(i);
    }
    unwritten_.clear();
    if (now_seconds() - synced_ >= kSyncSeconds) sync();
  }

  void sync() {
    std::map<const PlannedExperiment*, std::vector<const TrialKey*>> stored;
    for (const std::size_t i : std::exchange(unsynced_, {}))
      stored[tasks_[i].plan].push_back(&tasks_[i].trial->key);
    for (const auto& [plan, keys] : stored) {
      plan->store->sync();
      // A trial's state is worth something until its line is on the disk.
      TrialCheckpoint::remove(plan->folder, keys);
    }
    synced_ = now_seconds();
  }

  /// A trial has ended: was it its experiment's last, that is drawn.
  void end(std::size_t i) {
    progress_.finish(tasks_[i].trial, tasks_[i].trial->seconds);
    PlannedExperiment& plan = *tasks_[i].plan;
    if (--left_[&plan] > 0 || !hooks_.on_ended) return;
    store();
    workers_.add_first([this, &plan] { draw(plan); });
  }

  void draw(PlannedExperiment& plan) {
    try {
      plan.read_finished();
      hooks_.on_ended(plan);
    } catch (const std::exception& error) {
      fail(error.what());
    }
  }

  void fail(std::string message) {
    const std::lock_guard lock(mutex_);
    result_.failures.push_back(std::move(message));
  }

  std::vector<Task> tasks_;
  const RunHooks& hooks_;
  std::map<const PlannedExperiment*, std::size_t> left_;  ///< trials that have not ended
  std::map<std::size_t, std::size_t> by_number_;          ///< places in tasks_
  int slots_;
  const ReproduceOptions& options_;
  std::mutex mutex_;  ///< of failures
  ReproduceResult result_;
  std::vector<std::size_t> unwritten_, unsynced_;
  double written_ = 0, synced_ = now_seconds(), interrupted_at_ = 0;
  Progress progress_;
  TrialRun trial_run_;
  LeaseClock clock_;
  RemoteRanks remote_;
  Dispatcher dispatcher_;
  OutcomeQueue outcomes_;
  Naps naps_;
  Workers workers_;  // last: what its jobs use outlives it
};

}  // namespace

std::vector<NumberedTrial> number_trials(const std::vector<PlannedExperiment>& plans) {
  std::vector<NumberedTrial> all;
  for (const PlannedExperiment& plan : plans)
    for (const PlannedTrial& trial : plan.trials)
      if (trial.selected) all.push_back({&plan, &trial});
  return all;
}

Parallelism parallelism(const ReproduceOptions& options, const RankLink* link) {
  Parallelism use;
  const int on_host = link == nullptr ? 1 : link->ranks_on_host();
  use.alone_threads = options.threads > 0 ? options.threads : thread_count();
  use.threads = options.threads > 0 ? options.threads : std::max(1, thread_count() / on_host);
  use.jobs = options.jobs > 0 ? options.jobs : use.threads;
  return use;
}

ReproduceResult run_trials(std::vector<PlannedExperiment>& plans, const ReproduceOptions& options,
                           const RunHooks& hooks, RankLink* link) {
  const Parallelism use = parallelism(options, link);
  const ThreadLimit limit(use.alone_threads);
  const InterruptGuard guard;
  std::vector<Task> tasks = tasks_to_run(plans);
  if (tasks.empty()) return {};
  const std::size_t to_run = tasks.size();
  ReproduceResult result = Run(std::move(tasks), options, use, hooks, link).run();
  if (!hooks.reads && std::none_of(plans.begin(), plans.end(), [](const PlannedExperiment& plan) {
        return plan.store->was_cut();
      }))
    return result;
  std::size_t left = 0;
  for (PlannedExperiment& plan : plans) {
    plan.read_finished();
    left += plan.count_to_run();
  }
  if (left + result.ran > to_run)
    result.failures.push_back(fmt::format(
        "{} trials that were stored are gone (no file of the store may be changed while a run has "
        "it): the same command computes them again",
        left + result.ran - to_run));
  return result;
}

}  // namespace boltzmark::experiments
