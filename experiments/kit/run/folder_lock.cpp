#include "experiments/kit/run/folder_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "boltzmark/core/atomic_file.hpp"
#include "boltzmark/core/error.hpp"
#include "experiments/kit/files.hpp"
#include "experiments/kit/progress.hpp"
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

[[noreturn]] void throw_unlocked(const std::string& path, int error) {
  throw DataError(fmt::format("{}: cannot be locked: {} (must be on a file system with locks)",
                              path, std::strerror(error)));
}

/// Returns the time of a file, by the clock of its file system; none if there is no file.
std::optional<double> time_of(const std::string& path) {
  struct stat file {};
  if (stat(path.c_str(), &file) != 0) return std::nullopt;
  return static_cast<double>(file.st_mtim.tv_sec) + 1e-9 * file.st_mtim.tv_nsec;
}

std::string draft_in(const std::string& folder, const char* what) {
  return fmt::format("{}/.{}.{}.{}", folder, what, host_name(), getpid());
}

/// Returns what the clock of a folder's file system says: the time of a file that is written now.
/// This machine's may be minutes off.
double time_in(const std::string& folder) {
  const std::string path = draft_in(folder, "clock");
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) throw_unwritable(path, errno, "must be writable");
  futimens(file, nullptr);
  struct stat now {};
  fstat(file, &now);
  close(file);
  unlink(path.c_str());
  return static_cast<double>(now.st_mtim.tv_sec) + 1e-9 * now.st_mtim.tv_nsec;
}

/// Who holds a lock: its names, and the time of the last sign of any.
struct Holders {
  std::vector<std::string> names;
  double sign = 0;
};

/// Tells whether one run has a lock for itself, be it without a name, as on a full disk.
bool is_held_alone(const std::string& path) {
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return false;
  const bool alone = lock_file(file, LockFile::Mode::shared, LockFile::IfHeld::refuse) != 0;
  close(file);
  return alone;
}

/// Finds what holders wrote into the locks of a folder; a lock that shards share names none, and
/// its time is that of whoever tried to have it.
Holders find_holders(const std::string& folder, const std::string& lock) {
  const double sign = time_of(folder + "/" + lock).value_or(0);
  const std::string own = read_text(folder + "/" + lock);
  if (!own.empty()) return {.names = {own}, .sign = sign};
  if (is_held_alone(folder + "/" + lock)) return {.names = {}, .sign = sign};
  Holders found;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string file = entry.path().filename().string();
    if (!file.starts_with(".lock.")) continue;
    const std::string name = read_text(entry.path().string());
    if (name.empty()) continue;
    found.names.push_back(name + ", shard " + file.substr(6));
    found.sign = std::max(found.sign, time_of(entry.path().string()).value_or(0));
  }
  if (found.names.empty()) found.sign = sign;
  std::sort(found.names.begin(), found.names.end());
  return found;
}

/// Refuses a lock that another holds, unless it may be taken over.  Throws  DataError
void judge_holders(const std::string& folder, const std::string& lock, bool take_over) {
  const Holders found = find_holders(folder, lock);
  const double silent = std::max(0.0, time_in(folder) - found.sign);
  const bool stale = silent >= kStaleSeconds;
  if (stale && take_over) return;
  const std::string by =
      found.names.empty()
          ? ""
          : fmt::format(": {}{}", found.names[0], found.names.size() > 1 ? " and others" : "");
  const std::string must =
      take_over ? fmt::format("must be silent for {} for --take-over", duration_text(kStaleSeconds))
      : stale   ? "must be free: if that run has ended, go on with --take-over"
                : "must be free: wait, or choose another --out";
  throw DataError(fmt::format("{}: in use by another run{}, whose last sign was {} ago ({})",
                              folder, by, duration_text(silent), must));
}

/// Has a run hold a lock.
void hold(LockFile& file, const std::string& folder, const std::string& lock, bool take_over) {
  if (file.held()) return;
  judge_holders(folder, lock, take_over);
  file.take_over();
  // Of two that take it over at once, the last has it.
  if (file.taken_by()) judge_holders(folder, lock, false);
}

std::string made(const std::string& folder) {
  make_folder(folder);
  return folder;
}

}  // namespace

LockFile::LockFile(std::string path, Mode mode, IfHeld if_held)
    : path_(std::move(path)), mode_(mode) {
  int error = 0;
  // The file may be taken over by another between open and flock: then there is another file.
  do {
    if (file_ >= 0) close(file_);
    file_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file_ < 0) throw_unwritable(path_, errno, "must be writable");
    error = lock_file(file_, mode, if_held);
  } while (error == 0 && !is_open_file(path_, file_));
  held_ = error == 0;
  if (held_) write_name();
  if (held_ || error == EWOULDBLOCK) return;
  close(file_);
  throw_unlocked(path_, error);
}

LockFile::~LockFile() {
  // Where another has written its name, that stays.
  if (held_ && mode_ == Mode::alone && !taken_by() && ftruncate(file_, 0) != 0) errno = 0;
  close(file_);
}

void LockFile::take_over() {
  const std::string draft =
      draft_in(std::filesystem::path(path_).parent_path().string(), "take-over");
  unlink(draft.c_str());
  const int file = open(draft.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) throw_unwritable(draft, errno, "must be writable");
  close(std::exchange(file_, file));
  if (const int error = lock_file(file_, mode_, IfHeld::refuse); error != 0) {
    unlink(draft.c_str());
    throw_unlocked(path_, error);
  }
  write_name();
  if (rename(draft.c_str(), path_.c_str()) != 0) {
    const int error = errno;
    unlink(draft.c_str());
    throw_unwritable(path_, error, "must be writable");
  }
  held_ = true;
}

// The name helps whoever is refused; without it, on a full disk, the lock holds all the same.
void LockFile::write_name() {
  const std::string name = mode_ == Mode::alone ? process_name() : "";  // who shares it, names none
  // Written before it is cut: a lock that is empty for a moment would seem to be of shards.
  named_ = pwrite(file_, name.data(), name.size(), 0) == static_cast<ssize_t>(name.size()) &&
           ftruncate(file_, static_cast<off_t>(name.size())) == 0;
  if (!named_ && ftruncate(file_, 0) != 0) errno = 0;
}

void LockFile::renew() { futimens(file_, nullptr); }

// Read by its path, for what another host did; a file that is gone names nobody.
std::optional<std::string> LockFile::taken_by() const {
  const std::string own = mode_ == Mode::alone ? process_name() : "";
  try {
    const std::string name = read_text(path_);
    const bool changed = named_ && name != own;
    if (changed || !is_open_file(path_, file_)) return name.empty() ? "shards of a run" : name;
  } catch (const DataError&) {
  }
  return std::nullopt;
}

FolderLock::FolderLock(const std::string& folder, IfHeld if_held)
    : path_(folder), folder_(made(folder) + "/.lock", LockFile::Mode::alone, if_held) {
  if (!folder_.held()) judge_holders(folder, ".lock", false);
}

FolderLock::FolderLock(const std::string& folder, const Shard& shard, const LockOptions& options)
    : path_(folder),
      folder_(made(folder) + "/.lock",
              shard.whole() ? LockFile::Mode::alone : LockFile::Mode::shared, IfHeld::refuse) {
  hold(folder_, folder, ".lock", options.take_over);
  if (!shard.whole()) {
    own_.emplace(folder + "/" + shard.lock_name(), LockFile::Mode::alone, IfHeld::refuse);
    hold(*own_, folder, shard.lock_name(), options.take_over);
  }
  renew_seconds_ = options.renew_seconds;
  looked_at_ = now_seconds();
  watcher_ = std::thread([this] { watch(); });
}

FolderLock::~FolderLock() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  ending_.notify_all();
  if (watcher_.joinable()) watcher_.join();
}

std::optional<std::string> FolderLock::find_other() const {
  std::optional<std::string> other = folder_.taken_by();
  return !other && own_ ? own_->taken_by() : other;
}

void FolderLock::check() const {
  const std::lock_guard lock(mutex_);
  if (taken_by_.empty() && now_seconds() - looked_at_ > 2 * renew_seconds_ && watcher_.joinable()) {
    taken_by_ = find_other().value_or("");
    looked_at_ = now_seconds();
  }
  if (!taken_by_.empty())
    throw Error(
        fmt::format("{}: its lock now names {} (must be this run's: nothing more is stored)", path_,
                    taken_by_));
}

// The name is looked for before the sign is given, so that no other's is renewed.
void FolderLock::watch() {
  std::unique_lock lock(mutex_);
  const auto wait = std::chrono::duration<double>(renew_seconds_);
  while (!ending_.wait_for(lock, wait, [this] { return ended_; })) {
    lock.unlock();
    const std::optional<std::string> other = find_other();
    if (!other) (own_ ? *own_ : folder_).renew();
    lock.lock();
    looked_at_ = now_seconds();
    if (!other) continue;
    taken_by_ = *other;
    return;
  }
}

}  // namespace boltzmark::experiments
