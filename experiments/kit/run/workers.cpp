#include "experiments/kit/run/workers.hpp"

#include <tbb/task_arena.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "experiments/kit/progress.hpp"

namespace boltzmark::experiments {

constexpr double kLookSeconds = 5e-5;

Workers::Workers(int count, int threads, int alone_threads)
    : share_(std::max(1, threads / count)), alone_threads_(std::max(1, alone_threads)) {
  for (int i = 0; i < count; ++i) all_.emplace_back([this] { work(); });
}

Workers::~Workers() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  may_start_.notify_all();
  for (std::thread& thread : all_) thread.join();
}

void Workers::add(std::function<void()> job, bool alone) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back({std::move(job), alone});
  }
  may_start_.notify_one();
}

void Workers::add_first(std::function<void()> job) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_front({std::move(job)});
  }
  may_start_.notify_one();
}

bool Workers::busy() {
  const std::lock_guard lock(mutex_);
  return !is_idle();
}

void Workers::wait() {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [this] { return is_idle(); });
}

bool Workers::wait(double seconds) {
  std::unique_lock lock(mutex_);
  return idle_.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return is_idle(); });
}

bool Workers::may_start() const {
  return !jobs_.empty() && !alone_runs_ && (!jobs_.front().alone || running_ == 0);
}

/// Looks for a moment before it sleeps: to be woken takes longer than a short trial.
void Workers::wait_for_job(std::unique_lock<std::mutex>& lock) {
  const auto ready = [this] { return closing_ || may_start(); };
  const double start = now_seconds();
  while (!ready() && now_seconds() - start < kLookSeconds) {
    lock.unlock();
    std::this_thread::yield();
    lock.lock();
  }
  may_start_.wait(lock, ready);
}

void Workers::work() {
  tbb::task_arena part(share_), whole(alone_threads_);
  std::unique_lock lock(mutex_);
  while (true) {
    wait_for_job(lock);
    if (closing_) return;
    const Job job = std::move(jobs_.front());
    jobs_.pop_front();
    ++running_;
    alone_runs_ = job.alone;
    lock.unlock();
    (job.alone ? whole : part).execute(job.run);
    lock.lock();
    --running_;
    if (job.alone) {
      alone_runs_ = false;
      may_start_.notify_all();  // those that it held back
    }
    if (is_idle()) idle_.notify_all();
  }
}

}  // namespace boltzmark::experiments
