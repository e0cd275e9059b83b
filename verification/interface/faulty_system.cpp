// Stands before the C library's own, which the system call then does the work of.
#include "verification/interface/faulty_system.hpp"

#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

std::atomic<int> flock_error{0};

extern "C" int flock(int file, int operation) noexcept {
  if (flock_error != 0) {
    errno = flock_error;
    return -1;
  }
  return static_cast<int>(syscall(SYS_flock, file, operation));
}
