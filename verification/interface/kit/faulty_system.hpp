#pragma once

#include <atomic>
#include <functional>

/// System calls of this test program that can be made to fail: 0, or the error that they give.
extern std::atomic<int> flock_error, fdatasync_error;
/// So many calls of flock are interrupted by a signal.
extern std::atomic<int> flock_interrupts;
/// What the clock of the file system is ahead of this machine's by, as futimens tells it.
extern std::atomic<int> file_clock_ahead;
/// What happens just before the next flock or unlink, and just after the next rename.
extern std::function<void()> before_flock, before_unlink, after_rename;
