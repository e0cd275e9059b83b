#pragma once

#include <cstdint>
#include <string>

namespace boltzmark {

/// A regular file open for reading at any offset.
class InputFile {
 public:
  /// Throws  DataError if the file is missing, a folder, not a regular file, unreadable or empty
  explicit InputFile(const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }

  /// Reads exactly `count` bytes.  Throws  DataError if the file ends before
  void read_at(std::uint64_t offset, void* out, std::size_t count) const;

 private:
  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace boltzmark
