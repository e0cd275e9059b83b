// A library that is loaded before the C library's into the ranks of a study (LD_PRELOAD), and breaks what they stand on:
//   BOLTZMARK_FAULT=fdatasync:ERRNO[:once]   fails as a network file system does that tells of a full disk only here
//   BOLTZMARK_FAULT=fsync:ERRNO              the same where a whole file is brought to the disk
//   BOLTZMARK_FAULT=write:BYTES              cuts the first write of more than so many bytes short, and then is full
//   BOLTZMARK_FAULT=exp                      is off by its last bit, as another libm may be
#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <string>

namespace {

const std::string& fault() {
  static const std::string text = [] {
    const char* set = std::getenv("BOLTZMARK_FAULT");
    return std::string(set == nullptr ? "" : set);
  }();
  return text;
}

/// Reads the number after a fault's name; 0 if it is another fault.
int number_of(const std::string& name) {
  return fault().starts_with(name) ? std::atoi(fault().c_str() + name.size()) : 0;
}

std::atomic<bool> happened{false};

bool is_file(int file) { return lseek(file, 0, SEEK_CUR) >= 0; }

}  // namespace

extern "C" int fsync(int file) {
  const int error = number_of("fsync:");
  if (error == 0) return static_cast<int>(syscall(SYS_fsync, file));
  errno = error;
  return -1;
}

extern "C" int fdatasync(int file) {
  const int error = number_of("fdatasync:");
  if (error == 0 || (happened.exchange(true) && fault().ends_with(":once")))
    return static_cast<int>(syscall(SYS_fdatasync, file));
  errno = error;
  return -1;
}

extern "C" ssize_t write(int file, const void* bytes, std::size_t count) {
  const auto most = static_cast<std::size_t>(number_of("write:"));
  if (most == 0 || count <= most || !is_file(file)) return syscall(SYS_write, file, bytes, count);
  if (!happened.exchange(true)) return syscall(SYS_write, file, bytes, most);
  errno = ENOSPC;
  return -1;
}

extern "C" double exp(double x) noexcept {
  static const auto real = reinterpret_cast<double (*)(double)>(dlsym(RTLD_NEXT, "exp"));
  return fault() == "exp" ? std::nextafter(real(x), 2 * real(x)) : real(x);
}
