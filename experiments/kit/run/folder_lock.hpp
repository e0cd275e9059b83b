#pragma once

#include <optional>
#include <string>

#include "experiments/kit/run/shard.hpp"

namespace boltzmark::experiments {

/// Holds a lock file while it lives. Who holds it alone writes its name into it.
class LockFile {
 public:
  enum class Mode { alone, shared };
  enum class IfHeld { refuse, wait };
  /// Throws  DataError if the file cannot be made, or locked for another reason than a holder
  LockFile(std::string path, Mode mode, IfHeld if_held);
  ~LockFile();
  LockFile(const LockFile&) = delete;
  LockFile& operator=(const LockFile&) = delete;

  bool held() const { return held_; }  ///< false: another process has it

 private:
  std::string path_;
  Mode mode_;
  int file_ = -1;
  bool held_ = false;
};

/// Holds a folder while it lives, so that two runs cannot share it: a whole run by `.lock`; a shard by its own
/// `.lock.K-of-N`, and by a part in `.lock`, which shards share.
class FolderLock {
 public:
  using IfHeld = LockFile::IfHeld;
  /// Throws  DataError naming the holder if another process holds it and is not to be waited for;
  ///   DataError if the folder cannot be written
  explicit FolderLock(const std::string& folder, IfHeld if_held = IfHeld::refuse);
  FolderLock(const std::string& folder, const Shard& shard);

 private:
  LockFile folder_;
  std::optional<LockFile> own_ = {};
};

}  // namespace boltzmark::experiments
