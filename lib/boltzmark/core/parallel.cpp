#include "boltzmark/core/parallel.hpp"

#include <fmt/format.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>

#include "boltzmark/core/error.hpp"

#ifdef __SANITIZE_THREAD__
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>
#endif

namespace boltzmark {

struct ThreadLimit::Control {
  explicit Control(int threads)
      : limit(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads)) {}
  tbb::global_control limit;
};

ThreadLimit::ThreadLimit(int threads) {
  if (threads < 1) throw InvalidArgument(fmt::format("threads = {} (must be at least 1)", threads));
  control_ = std::make_unique<Control>(threads);
}
ThreadLimit::~ThreadLimit() = default;

int thread_count() {
  const auto allowed =
      tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism);
  return std::min(static_cast<int>(allowed), tbb::this_task_arena::max_concurrency());
}

int threads_worth(double multiply_adds) { return multiply_adds < 4e6 ? 1 : thread_count(); }

#ifdef __SANITIZE_THREAD__
// TBB is not built with the thread sanitizer, which so does not see what orders its tasks: plain
// threads take them here, those of an outer loop their inner ones alone.
void parallel_for(std::size_t count, const std::function<void(std::size_t)>& body) {
  static thread_local bool inside = false;
  if (inside || count == 1) {
    for (std::size_t i = 0; i < count; ++i) body(i);
    return;
  }
  std::atomic<std::size_t> next = 0;
  std::exception_ptr failure;
  std::mutex mutex;
  const auto work = [&] {
    inside = true;
    try {
      for (std::size_t i = next++; i < count; i = next++) body(i);
    } catch (...) {
      const std::lock_guard lock(mutex);
      failure = std::current_exception();
    }
    inside = false;
  };
  std::vector<std::thread> others;
  for (int t = 1; t < thread_count(); ++t) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
  if (failure) std::rethrow_exception(failure);
}
#else
void parallel_for(std::size_t count, const std::function<void(std::size_t)>& body) {
  if (count == 1) return body(0);
  // A thread that waits for the others takes no work of an outer loop meanwhile: bodies may keep
  // scratch of their thread across a loop of their own.
  tbb::this_task_arena::isolate(
      [&] { tbb::parallel_for(std::size_t{0}, count, [&](std::size_t i) { body(i); }); });
}
#endif

}  // namespace boltzmark
