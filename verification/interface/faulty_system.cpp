// Stands before the C library's own, which the system call then does the work of.
#include "verification/interface/faulty_system.hpp"

#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

std::atomic<int> flock_error{0}, fdatasync_error{0};

namespace {

/// Fails with an error, if there is one.
bool fails(int error) {
  if (error != 0) errno = error;
  return error != 0;
}

}  // namespace

extern "C" int flock(int file, int operation) noexcept {
  if (fails(flock_error)) return -1;
  return static_cast<int>(syscall(SYS_flock, file, operation));
}

extern "C" int fdatasync(int file) {
  if (fails(fdatasync_error)) return -1;
  return static_cast<int>(syscall(SYS_fdatasync, file));
}
