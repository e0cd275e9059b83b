#pragma once

#include "boltzmark/core/parallel.hpp"

namespace boltzmark {

/// Counts the threads that so many multiply-adds are worth: one, where a task costs less than
/// handing it to another thread.
inline int threads_worth(double multiply_adds) { return multiply_adds < 4e6 ? 1 : thread_count(); }

}  // namespace boltzmark
