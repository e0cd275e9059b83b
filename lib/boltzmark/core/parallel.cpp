#include "boltzmark/core/parallel.hpp"

#include <fmt/format.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>

#include "boltzmark/core/error.hpp"

// TBB is not built with the thread sanitizer, which has to be told what a loop orders.
#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#else
#define __tsan_acquire(place) static_cast<void>(place)
#define __tsan_release(place) static_cast<void>(place)
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

void parallel_for(std::size_t count, const std::function<void(std::size_t)>& body) {
  if (count == 1) return body(0);
  // A thread that waits for the others takes no work of an outer loop meanwhile: bodies may keep
  // scratch of their thread across a loop of their own.
  char begun = 0, ended = 0;
  __tsan_release(&begun);
  tbb::this_task_arena::isolate([&] {
    tbb::parallel_for(std::size_t{0}, count, [&](std::size_t i) {
      __tsan_acquire(&begun);
      body(i);
      __tsan_release(&ended);
    });
  });
  __tsan_acquire(&ended);
}

}  // namespace boltzmark
