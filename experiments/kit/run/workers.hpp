#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace boltzmark::experiments {

/// Threads that run jobs, in the order given; each job's parallel loops have an equal share of the
/// process's threads. A job that is alone starts when no other runs, and no other starts beside it.
class Workers {
 public:
  /// alone_threads  of a job that is alone
  Workers(int count, int threads, int alone_threads);
  /// Forgets the jobs that have not begun, and waits for the others.
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// Adds a job, which must not throw.
  void add(std::function<void()> job, bool alone);
  /// Adds one before those that have not begun.
  void add_first(std::function<void()> job);
  /// Tells whether a job is left.
  bool busy();
  /// Waits until no job is left.
  void wait();
  /// Waits so long.  Returns  whether none is left
  bool wait(double seconds);

 private:
  struct Job {
    std::function<void()> run;
    bool alone = false;
  };
  void work();
  void wait_for_job(std::unique_lock<std::mutex>& lock);
  bool may_start() const;
  bool is_idle() const { return jobs_.empty() && running_ == 0; }

  int share_, alone_threads_;
  std::mutex mutex_;
  std::condition_variable may_start_, idle_;
  std::deque<Job> jobs_;
  std::size_t running_ = 0;
  bool alone_runs_ = false, closing_ = false;
  std::vector<std::thread> all_;
};

}  // namespace boltzmark::experiments
