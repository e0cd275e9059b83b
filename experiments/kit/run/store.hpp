#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/kit/experiment.hpp"

namespace boltzmark::experiments {

/// What makes a stored trial the one that a run would compute.
struct TrialKey {
  Json inputs;
  std::uint64_t seed = 1;
  std::string simd;
  std::string sources;  ///< sources_hash
  /// Writes the key as text; equal keys have equal text.
  std::string text() const;
};

/// Writes one line of a store, newline included.
std::string trial_line(const TrialKey& key, const Trial& trial);

/// Writes a line with a hash of what it says, `check`, and reads it back without. A line that has
/// none was written before there was one.
/// Invariant  a line to seal has keys, none of them `check`
/// Throws  DataError if the line is no JSON object or says something else than it did
std::string seal_line(const Json& line);
Json open_line(const std::string& text);

/// Lists the files of an experiment's store that there are, in name order: `trials.jsonl` of whole
/// runs and `trials.K-of-N.jsonl` of shards.
std::vector<std::string> store_files(const std::string& folder);

/// A trial that was computed twice, with outputs that differ.
struct Conflict {
  TrialKey key;
  Trial first, second;
};

/// The finished trials of one experiment, a line each: reads every file of the store, appends to one.
/// Invariant  the file appended to holds whole lines: one torn by a crash is cut off when the file
///   is opened to append. Safe to use from several threads.
class TrialStore {
 public:
  /// Whoever reads a file leaves a last line without its end alone, which a run may be writing.
  enum class Access { append, read };
  /// Opens a file and reads those beside it; to append, makes it and its folder if need be.
  /// Throws  DataError if it cannot be opened, or to read if there is none
  explicit TrialStore(std::string path, Access access = Access::append);
  ~TrialStore();
  TrialStore(const TrialStore&) = delete;
  TrialStore& operator=(const TrialStore&) = delete;

  /// Finds the trial of a key; of several the one written last. None: there is no such trial
  std::shared_ptr<const Trial> find(const TrialKey& key) const;
  /// Appends a trial, whole or not at all.  Throws  Error if it cannot be written (full disk)
  void append(const TrialKey& key, const Trial& trial);
  /// Adds lines to those that `write` appends; they are not found before `read_appended`.
  void add_line(std::string_view line);
  /// Appends the lines that were added, in one piece, whole or not at all.
  /// Throws  Error if they cannot be written
  void write();
  /// Brings what was written to the disk, if anything was since.  Throws  Error if it does not fit
  void sync();
  /// Reads what this run has appended, so that it is found as a later run would find it.
  void read_appended();
  /// Counts stored trials, of whatever inputs, seed and build.
  std::size_t size() const;
  /// Counts stored trials with these inputs and seed, of whatever sources and SIMD path.
  std::size_t count_other_builds(const TrialKey& key) const;
  /// Holds a line that is not to be stored to what is stored under its key: they may be a conflict.
  void compare(std::string_view line);
  /// Lists trials of one key and unequal outputs.
  const std::vector<Conflict>& conflicts() const { return conflicts_; }
  /// Tells whether another program has made the file shorter since this store wrote to it.
  bool was_cut() const;
  /// Counts lines that were not trials and are ignored.
  std::size_t unreadable() const { return unreadable_; }

 private:
  void read_lines(const std::string& path);
  std::size_t remember_all(std::string_view text);
  /// Goes on in a file that another program has cut, on a line of its own.
  void begin_after_cut(off_t size);
  void remember(const std::string& line);
  void note(const TrialKey& key, const Trial& first, const Trial& second);

  std::string path_;
  Access access_;
  int file_ = -1;
  std::string added_ = {};   ///< lines that are to be written
  std::size_t read_to_ = 0;  ///< bytes of the file appended to that were read
  off_t end_ = 0;            ///< of that file, after what this store wrote last
  bool unsynced_ = false, cut_ = false;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const Trial>> trials_;  ///< by TrialKey::text
  std::vector<Conflict> conflicts_;
  std::size_t unreadable_ = 0;
};

}  // namespace boltzmark::experiments
