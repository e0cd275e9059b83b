#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/kit/run/store.hpp"

namespace boltzmark::experiments {

/// What a trial of hours keeps of itself while it runs: one file beside the store, of the trial's
/// inputs and seed, removed when the trial is stored. A trial that was given before may still be run where
/// nobody hears of it: it writes a file of its own, so that no two write one.
class TrialCheckpoint {
 public:
  /// Names the file; nothing is read or written yet.
  TrialCheckpoint(const std::string& folder, const TrialKey& key, int attempt = 0);

  /// Reads the state that any run of this very trial wrote last: of the same build and SIMD path too.
  /// Returns none if there is none, or it is damaged
  std::optional<std::string> read() const;
  /// Replaces the state, whole or not at all.  Throws  DataError if it cannot be written
  void write(std::string_view state) const;
  /// Removes the states of all attempts.
  void remove() const;
  /// Removes those of some trials, in one look at the folder of their store.
  static void remove(const std::string& folder, const std::vector<const TrialKey*>& keys);

 private:
  std::string heading(std::string_view state) const;

  std::optional<std::string> read_file(const std::string& path) const;
  std::vector<std::string> files() const;

  std::string folder_, name_;  ///< of the first attempt's file
  std::string path_;           ///< of this attempt's
  std::string key_;
};

}  // namespace boltzmark::experiments
