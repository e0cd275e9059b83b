#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "experiments/kit/store.hpp"

namespace boltzmark::experiments {

/// What a trial of hours keeps of itself while it runs: one file beside the store, of the trial's
/// inputs and seed, removed when the trial is stored.
class TrialCheckpoint {
 public:
  /// Names the file; nothing is read or written yet.
  TrialCheckpoint(const std::string& folder, const TrialKey& key);

  /// Reads the state that a run of this very trial wrote last: of the same build and SIMD path too.
  /// Returns none if there is none, or it is damaged
  std::optional<std::string> read() const;
  /// Replaces the state, whole or not at all.  Throws  DataError if it cannot be written
  void write(std::string_view state) const;
  void remove() const;

 private:
  std::string heading(std::string_view state) const;

  std::string path_;
  std::string key_;
};

}  // namespace boltzmark::experiments
