#include "boltzmark/core/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/number.hpp"

namespace boltzmark {

void throw_unwritable(const std::string& path, int error, std::string_view must) {
  const std::string what =
      fmt::format("{}: cannot be written: {} ({})", path, std::strerror(error), must);
  if (error == ENOSPC || error == EDQUOT || error == EFBIG) throw Error(what);
  throw DataError(what);
}

namespace {

// Where a path's file is: behind its symbolic links, whether or not it exists.
std::string behind_links(const std::string& path) {
  constexpr int kMostLinks = 40;  // as of the kernel
  namespace fs = std::filesystem;
  fs::path file(path);
  std::error_code error;
  for (int links = 0; links < kMostLinks && fs::is_symlink(file, error); ++links)
    file = file.parent_path() / fs::read_symlink(file);
  return file.string();
}

// What the drafts of a path begin with; a name that is as long as a file system allows is cut.
std::string draft_of(const std::string& path) {
  constexpr std::size_t kMost = 200;
  const std::filesystem::path file(path);
  return (file.parent_path() / file.filename().string().substr(0, kMost)).string() + ".";
}

// Makes a file beside the path that no other process or thread makes, with the rights of any new file: the
// umask can be asked for only by changing it, for all threads.
int make_draft(const std::string& path, std::string& draft) {
  static std::atomic<unsigned> made = 0;
  for (;;) {
    draft = fmt::format("{}{}-{}", draft_of(path), ::getpid(), made++);
    const int file = ::open(draft.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    if (file >= 0 || errno != EEXIST) return file;
  }
}

// What a folder's entry names is on the disk once the folder is.
void sync_folder_of(const std::string& file) {
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  const int descriptor =
      ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;  // a folder that may not be read
  ::fsync(descriptor);
  ::close(descriptor);
}

}  // namespace

void remove_drafts(const std::string& path) noexcept {
  namespace fs = std::filesystem;
  try {
    const fs::path first(draft_of(behind_links(path)));
    const std::string begin = first.filename().string();
    const fs::path folder = first.has_parent_path() ? first.parent_path() : fs::path(".");
    for (const auto& entry : fs::directory_iterator(folder)) {
      const std::string name = entry.path().filename().string();
      if (!name.starts_with(begin)) continue;
      const std::string_view rest = std::string_view(name).substr(begin.size());
      const std::size_t dash = std::min(rest.find('-'), rest.size());
      const auto process = parse_number<int>(rest.substr(0, dash));
      if (!process || *process <= 0 ||
          !parse_number<unsigned>(rest.substr(std::min(dash + 1, rest.size()))))
        continue;
      if (::kill(*process, 0) != 0 && errno == ESRCH) ::unlink(entry.path().c_str());
    }
  } catch (const fs::filesystem_error&) {  // what cannot be listed keeps its drafts
  }
}

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)), target_(behind_links(path_)) {
  struct stat status {};
  if (::stat(path_.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    throw DataError(path_ + ": is no regular file (must be a new file or one to replace)");
  }
  const int descriptor = make_draft(target_, draft_);
  if (descriptor < 0) {
    draft_.clear();
    fail("must be in a folder that can be written");
  }
  file_ = ::fdopen(descriptor, "wb");
  if (file_ != nullptr) return;
  const int error = errno;
  ::close(descriptor);
  ::unlink(draft_.c_str());
  throw_unwritable(path_, error, "must be in a folder that can be written");
}

AtomicFile::~AtomicFile() {
  if (file_ != nullptr) std::fclose(file_);
  if (!draft_.empty()) ::unlink(draft_.c_str());
}

void AtomicFile::fail(std::string_view must) const { throw_unwritable(path_, errno, must); }

void AtomicFile::write(const void* data, std::size_t size) {
  if (size > 0 && std::fwrite(data, 1, size, file_) != size) fail("must fit on the disk");
}

void AtomicFile::commit(Durability durability) {
  const bool on_disk = durability == Durability::disk;
  if (std::fflush(file_) != 0 || (on_disk && ::fsync(::fileno(file_)) != 0))
    fail("must fit on the disk");
  if (std::fclose(std::exchange(file_, nullptr)) != 0) fail("must fit on the disk");
  if (::rename(draft_.c_str(), target_.c_str()) != 0) fail("must be replaceable");
  draft_.clear();
  if (on_disk) sync_folder_of(target_);
}

}  // namespace boltzmark
