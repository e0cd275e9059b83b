#pragma once

#include <atomic>

/// System calls of this test program that can be made to fail: 0, or the error that they give.
extern std::atomic<int> flock_error, fdatasync_error;
