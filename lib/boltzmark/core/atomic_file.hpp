#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace boltzmark {

/// When a file that was committed survives a loss of power: at once, or once the system wrote it.
enum class Durability { disk, system };

/// Throws what a failed write is, by errno: Error where the disk is full or a file may not grow,
/// which is nobody's wrong input; else DataError.  must: what the path must be
[[noreturn]] void throw_unwritable(const std::string& path, int error, std::string_view must);

/// Removes what processes of this machine that are gone left of a path's drafts. No other process may be at
/// the path: who calls holds its lock.
void remove_drafts(const std::string& path) noexcept;

/// A file that appears under its name whole, or not at all: written beside it, then renamed. A symbolic link stays, and
/// what it leads to is written.
class AtomicFile {
 public:
  /// Throws  DataError if the folder is missing or cannot be written, or the name is taken by
  /// something that is no regular file
  explicit AtomicFile(std::string path);
  /// Removes what was written unless it was committed.
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  const std::string& path() const { return path_; }
  /// Appends bytes.  Throws  Error if they do not fit
  void write(const void* data, std::size_t size);
  void write(std::string_view text) { write(text.data(), text.size()); }
  /// Makes the file appear under its name.  Throws  Error if it does not fit, DataError
  void commit(Durability durability = Durability::disk);

 private:
  [[noreturn]] void fail(std::string_view must) const;

  std::string path_;    // as given
  std::string target_;  // behind its links
  std::string draft_;
  std::FILE* file_ = nullptr;
};

}  // namespace boltzmark
