#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

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

  /// Takes a lock over that another process has: a file of its own takes the place of the other's,
  /// who will find it there.
  /// Throws  DataError if it cannot be made
  void take_over();
  /// Gives a sign of life, which is the time of the file.
  void renew();
  /// Finds who else has the file now: what its name says, or that shards share it; none: nobody.
  std::optional<std::string> taken_by() const;

 private:
  void write_name();

  std::string path_;
  Mode mode_;
  int file_ = -1;
  bool held_ = false;
  bool named_ = false;  ///< the file has this process's name, unless another changed it
};

/// How a run holds its folder.
struct LockOptions {
  double renew_seconds = 10;  ///< between two signs of life
  bool take_over = false;     ///< from a holder that gave none for kStaleSeconds
};

/// A lock of which there was no sign for so long may be taken over.
inline constexpr double kStaleSeconds = 600;

/// Holds a folder while it lives, so that two runs cannot share it: a whole run by `.lock`; a shard by its own
/// `.lock.K-of-N`, and by a part in `.lock`, which shards share.
/// Where locks of two hosts do not see each other, and after one was taken over, the name in a lock
/// tells whose the folder is: who finds another's must store nothing more.
class FolderLock {
 public:
  using IfHeld = LockFile::IfHeld;
  /// Holds it for work that is soon done, without signs of life.
  /// Throws  DataError naming the holder if another process holds it and is not to be waited for;
  ///   DataError if the folder cannot be written
  explicit FolderLock(const std::string& folder, IfHeld if_held = IfHeld::refuse);
  /// Holds it for a run, and gives signs of life from a thread of its own.
  FolderLock(const std::string& folder, const Shard& shard, const LockOptions& options = {});
  ~FolderLock();

  /// Looks who has the folder if the thread that does has not done so lately: it was stopped too.
  /// Throws  Error naming who has the folder, once another was found to have it
  void check() const;

 private:
  void watch();

  std::optional<std::string> find_other() const;

  std::string path_;
  LockFile folder_;
  std::optional<LockFile> own_ = {};
  double renew_seconds_ = 0;
  mutable std::mutex mutex_;  ///< of the next four
  std::condition_variable ending_;
  mutable std::string taken_by_ = {};
  mutable double looked_at_ = 0;  ///< steady clock
  bool ended_ = false;
  std::thread watcher_;
};

}  // namespace boltzmark::experiments
