#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "experiments/kit/progress.hpp"
#include "experiments/kit/run/plan.hpp"

namespace boltzmark::experiments {

/// How a trial ended: with its line of the store, with what it threw, or given up, as after Ctrl-C.
struct TrialOutcome {
  enum class Kind { result, failure, abandoned };
  Kind kind = Kind::abandoned;
  std::size_t trial = 0;  ///< as it was given
  std::string text = {};  ///< the line, or what was thrown
};

/// How long a thread naps before it looks for messages again: after one the next may be near, and
/// waiting must not burn a core.
class Naps {
 public:
  static constexpr double kShortest = 2e-5, kLongest = 5e-4;
  double seconds() const { return seconds_; }
  /// Takes note of whether something has come since the last nap.
  void note(bool came) { seconds_ = came ? kShortest : std::min(kLongest, 2 * seconds_); }

 private:
  double seconds_ = kShortest;
};

/// The outcomes that workers left, for one thread to take.
class OutcomeQueue {
 public:
  void add(TrialOutcome outcome);
  /// Takes what there is, and waits for some so long.
  std::vector<TrialOutcome> take(double seconds);

 private:
  std::mutex mutex_;
  std::condition_variable added_;
  std::vector<TrialOutcome> outcomes_;
};

/// What the trials of one run share on this machine. Safe to use from several threads.
class TrialRun {
 public:
  TrialRun(const ReproduceOptions& options, std::string revision, Progress& progress);

  /// Runs a trial, a trial that was given before from a copy of its state; what it throws is an outcome.
  TrialOutcome run(const PlannedExperiment& plan, const PlannedTrial& trial, int attempt);
  /// Has every trial give up at the next word of its progress: nobody waits for it.
  void give_up() { given_up_ = true; }
  /// Has trials that keep their state stop, and others not begin.
  void stop() { stopped_ = true; }
  /// Tells whether Ctrl-C was pressed, the time is over, or it was told to stop.
  bool stopping() const;
  bool out_of_time() const;

 private:
  TrialContext make_context(const PlannedExperiment& plan, const PlannedTrial& trial, int attempt);

  const ReproduceOptions& options_;
  std::string revision_, host_;
  Progress& progress_;
  double start_ = now_seconds();
  std::atomic<bool> given_up_{false}, stopped_{false};
};

}  // namespace boltzmark::experiments
