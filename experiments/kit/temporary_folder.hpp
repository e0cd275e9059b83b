#pragma once

#include <string>
#include <string_view>

namespace boltzmark::experiments {

/// A folder of its own, which goes with the object.
class TemporaryFolder {
 public:
  /// Makes it in a folder, by default that of the system's temporary files.  Throws  Error if it cannot be made
  explicit TemporaryFolder(const std::string& parent = {});
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  /// Names something in it.
  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  std::string path_;
};

}  // namespace boltzmark::experiments
