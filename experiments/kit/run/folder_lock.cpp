#include "experiments/kit/run/folder_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "boltzmark/core/atomic_file.hpp"
#include "boltzmark/core/error.hpp"
#include "experiments/kit/files.hpp"
#include "experiments/kit/ranks/host.hpp"

namespace boltzmark::experiments {
namespace {

/// Locks a file.  Returns  0, or the error that it was
int lock_file(int file, LockFile::Mode mode, LockFile::IfHeld if_held) {
  const int kind = mode == LockFile::Mode::alone ? LOCK_EX : LOCK_SH;
  const int wait = if_held == LockFile::IfHeld::refuse ? LOCK_NB : 0;
  while (flock(file, kind | wait) != 0)
    if (errno != EINTR) return errno;
  return 0;
}

void write_name(int file) {
  const std::string name = process_name();
  // The name helps whoever is refused; without it the lock holds all the same.
  if (ftruncate(file, 0) == 0) [[maybe_unused]]
    const auto written = pwrite(file, name.data(), name.size(), 0);
}

/// Lists what holders wrote into the locks of a folder; a lock that shards share names none.
std::vector<std::string> holders(const std::string& folder, const std::string& lock) {
  std::vector<std::string> names;
  const std::string own = read_text(folder + "/" + lock);
  if (!own.empty()) return {own};
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string file = entry.path().filename().string();
    if (!file.starts_with(".lock.")) continue;
    const std::string name = read_text(entry.path().string());
    if (!name.empty()) names.push_back(name + ", shard " + file.substr(6));
  }
  std::sort(names.begin(), names.end());
  return names;
}

[[noreturn]] void throw_held(const std::string& folder, const std::string& lock) {
  const std::vector<std::string> names = holders(folder, lock);
  const std::string by =
      names.empty() ? "" : fmt::format(": {}{}", names[0], names.size() > 1 ? " and others" : "");
  throw DataError(fmt::format(
      "{}: in use by another run{} (must be free: wait, or choose another --out)", folder, by));
}

std::string made(const std::string& folder) {
  make_folder(folder);
  return folder;
}

}  // namespace

LockFile::LockFile(std::string path, Mode mode, IfHeld if_held)
    : path_(std::move(path)), mode_(mode) {
  file_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file_ < 0) throw_unwritable(path_, errno, "must be writable");
  const int error = lock_file(file_, mode, if_held);
  held_ = error == 0;
  if (held_ && mode_ == Mode::alone) write_name(file_);
  if (held_ && mode_ == Mode::shared && ftruncate(file_, 0) != 0) errno = 0;  // names nobody
  if (held_ || error == EWOULDBLOCK) return;
  close(file_);
  throw DataError(fmt::format("{}: cannot be locked: {} (must be on a file system with locks)",
                              path_, std::strerror(error)));
}

LockFile::~LockFile() {
  if (held_ && mode_ == Mode::alone && ftruncate(file_, 0) != 0) errno = 0;
  close(file_);
}

FolderLock::FolderLock(const std::string& folder, IfHeld if_held)
    : folder_(made(folder) + "/.lock", LockFile::Mode::alone, if_held) {
  if (!folder_.held()) throw_held(folder, ".lock");
}

FolderLock::FolderLock(const std::string& folder, const Shard& shard)
    : folder_(made(folder) + "/.lock",
              shard.whole() ? LockFile::Mode::alone : LockFile::Mode::shared, IfHeld::refuse) {
  if (!folder_.held()) throw_held(folder, ".lock");
  if (shard.whole()) return;
  own_.emplace(folder + "/" + shard.lock_name(), LockFile::Mode::alone, IfHeld::refuse);
  if (!own_->held()) throw_held(folder, shard.lock_name());
}

}  // namespace boltzmark::experiments
