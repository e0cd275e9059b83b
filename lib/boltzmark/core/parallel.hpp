#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace boltzmark {

/// Limits the threads of every parallel loop of the process, whichever thread makes it, while it lives; results
/// never depend on the number.
class ThreadLimit {
 public:
  /// Throws  InvalidArgument if threads < 1
  explicit ThreadLimit(int threads);
  ~ThreadLimit();
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;

 private:
  struct Control;
  std::unique_ptr<Control> control_;
};

/// Returns the number of threads that parallel loops may use now.
int thread_count();
/// Counts the threads that so many multiply-adds are worth: one, where a task costs less than
/// handing it to another thread.
int threads_worth(double multiply_adds);

/// Calls body(i) for i = 0..count-1, in any order, on several threads. Exceptions reach the caller.
/// Invariant  a body must write only to places of its own index, so that results do not depend on
///   threads
void parallel_for(std::size_t count, const std::function<void(std::size_t)>& body);

}  // namespace boltzmark
