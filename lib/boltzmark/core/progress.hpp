#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <mutex>

namespace boltzmark {

/// Told the share of a run that is done, now and then, from one thread at a time; it may throw to
/// end the run.
using Progress = std::function<void(double fraction)>;

/// Gathers the progress of several threads.
class ProgressMeter {
 public:
  ProgressMeter(Progress progress, double total) : progress_(std::move(progress)), total_(total) {}

  /// Counts work done and reports it, at most some twenty times a second. Once the callback has
  /// thrown, every thread that calls gets the same exception, so that all of them end.
  void add(double work) {
    if (!progress_) return;
    const std::scoped_lock lock(mutex_);
    if (thrown_) std::rethrow_exception(thrown_);
    done_ += work;
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return;
    next_ = now + std::chrono::milliseconds(50);
    try {
      progress_(done_ / total_);
    } catch (...) {
      thrown_ = std::current_exception();
      throw;
    }
  }

 private:
  Progress progress_;
  double total_;
  double done_ = 0;
  std::chrono::steady_clock::time_point next_ = {};
  std::exception_ptr thrown_;
  std::mutex mutex_;
};

}  // namespace boltzmark
