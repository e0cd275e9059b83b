#pragma once

#include <cstdint>
#include <string>

#include "boltzmark/exact/enumeration/chunk_total.hpp"
#include "boltzmark/exact/enumeration/enumeration.hpp"

namespace boltzmark {

/// The file of a resumable enumeration: one line, written whole or not at all.
class EnumerationCheckpoint {
 public:
  /// The identity covers the view's numbers, the arithmetic and the SIMD width, so that a resumed
  /// sum is the sum of one uninterrupted run. An empty path makes a checkpoint that does nothing.
  EnumerationCheckpoint(std::string path, const Bipartite& sides, const ChunkedSum& sum);

  /// Reads the progress; none if there is no file.
  /// Throws  DataError if the file cannot be read, is damaged, or belongs to another enumeration
  EnumerationProgress load() const;

  /// Writes the progress.  Throws  DataError if it cannot be written; the old file then stands
  void save(const EnumerationProgress& progress) const;

  bool enabled() const { return !path_.empty(); }

 private:
  std::string path_;
  std::uint64_t identity_;
  std::uint64_t chunks_;
  bool groups_;  ///< chunks are added in groups: the open one's sum is stored too
};

}  // namespace boltzmark
