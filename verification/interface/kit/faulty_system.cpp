// Stands before the C library's own, which the system call then does the work of.
#include "verification/interface/kit/faulty_system.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <utility>

std::atomic<int> flock_error{0}, fdatasync_error{0}, flock_interrupts{0}, file_clock_ahead{0};
std::function<void()> before_flock, before_unlink, after_rename;

namespace {

/// Fails with an error, if there is one.
bool fails(int error) {
  if (error != 0) errno = error;
  return error != 0;
}

bool interrupted() {
  if (flock_interrupts == 0) return false;
  --flock_interrupts;
  return true;
}

void happen(std::function<void()>& what) {
  if (const auto once = std::exchange(what, {})) once();
}

}  // namespace

extern "C" int flock(int file, int operation) noexcept {
  happen(before_flock);
  if (fails(interrupted() ? EINTR : flock_error.load())) return -1;
  return static_cast<int>(syscall(SYS_flock, file, operation));
}

extern "C" int unlink(const char* path) noexcept {
  happen(before_unlink);
  return static_cast<int>(syscall(SYS_unlinkat, AT_FDCWD, path, 0));
}

extern "C" int fdatasync(int file) {
  if (fails(fdatasync_error)) return -1;
  return static_cast<int>(syscall(SYS_fdatasync, file));
}

extern "C" int futimens(int file, const timespec* times) noexcept {
  const timespec now{.tv_sec = std::time(nullptr) + file_clock_ahead, .tv_nsec = 0};
  const timespec ahead[2] = {now, now};
  if (times == nullptr && file_clock_ahead != 0) times = ahead;
  return static_cast<int>(syscall(SYS_utimensat, file, nullptr, times, 0));
}

extern "C" int rename(const char* from, const char* to) noexcept {
  const auto renamed = static_cast<int>(syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to));
  if (renamed == 0) happen(after_rename);
  return renamed;
}
