#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace boltzmark::experiments {

/// Returns the path of a file of the source tree, e.g. "reports/claims".
std::string source_path(std::string_view inside);

/// Reads a whole file.  Throws  DataError if it cannot be read
std::string read_text(const std::string& path);
/// Reads it in blocks of at most a MiB, so that it need not fit into memory.
/// Throws  DataError if it cannot be read
void read_blocks(const std::string& path, const std::function<void(std::string_view)>& take);

/// Writes a file whole or not at all, making its folder: a temporary beside it is renamed onto it.
/// Throws  DataError if it cannot be written
void write_text(const std::string& path, std::string_view text);

/// Adds to the end of a file, in one piece that those of other processes do not part; no text, nothing.
/// Throws  DataError if it cannot be written
void append_text(const std::string& path, std::string_view text);

/// Tells whether a path leads to the file that is open.
bool is_open_file(const std::string& path, int file);

/// Removes the files of a folder, if there is one, whose names something holds of.
void remove_files(const std::string& folder, const std::function<bool(const std::string&)>& holds);

/// Makes a folder and its parents.  Throws  DataError if that fails
void make_folder(const std::string& path);

/// Holds a file that is to be written while it lives, by a file `.NAME.lock` beside it, so that two
/// runs cannot write one; what killed ones left of its drafts is removed. Nothing is held where no such file can
/// be made or locked.
class FileLock {
 public:
  /// Throws  DataError if another process holds it
  explicit FileLock(const std::string& path);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  /// Removes the files of all locks that are held: for a handler of a signal that ends the process.
  static void remove_all() noexcept;

 private:
  std::string lock_;
  int file_ = -1;
};

}  // namespace boltzmark::experiments
