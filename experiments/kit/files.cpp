#include "experiments/kit/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "boltzmark/core/atomic_file.hpp"
#include "boltzmark/core/error.hpp"

namespace boltzmark::experiments {
namespace {

constexpr std::streamsize kBlock = 1 << 20;

}  // namespace

std::string source_path(std::string_view inside) {
  return fmt::format("{}/{}", BOLTZMARK_SOURCE_DIR, inside);
}

std::string read_text(const std::string& path) {
  std::string text;
  read_blocks(path, [&](std::string_view block) { text += block; });
  return text;
}

void read_blocks(const std::string& path, const std::function<void(std::string_view)>& take) {
  std::error_code error;
  std::ifstream file(path, std::ios::binary);
  const auto refuse = [&path] {
    throw DataError(fmt::format("{}: cannot be read: {} (must be a readable file)", path,
                                std::strerror(errno)));
  };
  if (!file) refuse();
  if (std::filesystem::is_directory(path, error))
    throw DataError(path + ": is a folder (must be a file)");
  try {
    file.exceptions(std::ios_base::badbit);
    std::string block(kBlock, '\0');
    while (file.read(block.data(), kBlock) || file.gcount() > 0)
      take(std::string_view(block).substr(0, static_cast<std::size_t>(file.gcount())));
  } catch (const std::ios_base::failure&) {  // a stale handle of NFS, a disk that fails
    refuse();
  }
}

void make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error || !std::filesystem::is_directory(path, error))
    throw DataError(path + ": cannot be made (must be a folder that can be written)");
}

void write_text(const std::string& path, std::string_view text) {
  const auto folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) make_folder(folder.string());
  AtomicFile file(path);
  file.write(text);
  file.commit(Durability::system);
}

void append_text(const std::string& path, std::string_view text) {
  if (text.empty()) return;
  const int file = ::open(path.c_str(), O_CLOEXEC | O_WRONLY | O_CREAT | O_APPEND, 0666);
  if (file < 0) throw_unwritable(path, errno, "must be writable");
  const ssize_t written = ::write(file, text.data(), text.size());
  const int error = written < 0 ? errno : ENOSPC;
  ::close(file);
  if (written != static_cast<ssize_t>(text.size()))
    throw_unwritable(path, error, "must fit on the disk");
}

void remove_files(const std::string& folder, const std::function<bool(const std::string&)>& holds) {
  if (!std::filesystem::exists(folder)) return;
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (holds(entry.path().filename().string())) found.push_back(entry.path());
  for (const auto& path : found) std::filesystem::remove(path);
}

bool is_open_file(const std::string& path, int file) {
  struct stat named {
  }, opened{};
  return stat(path.c_str(), &named) == 0 && fstat(file, &opened) == 0 &&
         named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
}

namespace {

// The files of locks that are held; a command holds three at most, and a lock beyond these goes unlisted.
std::array<std::atomic<const char*>, 16> held_locks;

void replace_held(const char* from, const char* to) {
  for (auto& lock : held_locks) {
    const char* expected = from;
    if (lock.compare_exchange_strong(expected, to)) return;
  }
}

/// Keeps the signals that end a command from this thread while it lives, so that a lock's file and its place
/// in the list come and go together, unless another thread takes the signal.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t ending;
    sigemptyset(&ending);
    for (const int number : {SIGINT, SIGTERM}) sigaddset(&ending, number);
    pthread_sigmask(SIG_BLOCK, &ending, &before_);
  }
  ~SignalsHeld() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

// The file may be removed by its former holder between open and flock: then there is another.
FileLock::FileLock(const std::string& path) {
  const SignalsHeld held_signals;
  const std::filesystem::path file(path);
  lock_ = (file.parent_path() / ("." + file.filename().string() + ".lock")).string();
  while ((file_ = open(lock_.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666)) >= 0) {
    if (flock(file_, LOCK_EX | LOCK_NB) != 0) {
      const bool held = errno == EWOULDBLOCK;
      close(std::exchange(file_, -1));
      if (!held) return;  // the file system has no locks
      throw DataError(path +
                      ": is being written by another run (must be free: wait, or choose "
                      "another name)");
    }
    if (is_open_file(lock_, file_)) {
      replace_held(nullptr, lock_.c_str());
      remove_drafts(path);
      return;
    }
    close(file_);
  }
}

void FileLock::remove_all() noexcept {
  for (const auto& lock : held_locks)
    if (const char* path = lock.load(); path != nullptr) unlink(path);
}

FileLock::~FileLock() {
  if (file_ < 0) return;
  const SignalsHeld held_signals;
  replace_held(lock_.c_str(), nullptr);
  unlink(lock_.c_str());
  close(file_);
}

}  // namespace boltzmark::experiments
