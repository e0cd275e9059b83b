#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "boltzmark/exact/enumeration/enumeration.hpp"
#include "boltzmark/exact/enumeration/scaled.hpp"

namespace boltzmark {

/// So many units or fewer are enumerated in at most kMostChunks chunks, whatever their values. Of more
/// units a chunk has as many states as of 40 binary ones.
inline constexpr int kFewChunkUnits = 40;
inline constexpr std::uint64_t kMostChunks = 16384;

/// Returns the least number of blocks, of equally many states, that a view's chunks have.
std::uint64_t least_chunk_blocks(const Bipartite& sides, std::uint64_t blocks);

/// Returns how many chunks' sums are added to one before these are added to the total; 0: all are
/// added to it at once.
std::uint64_t chunks_of_group(const Bipartite& sides);

/// Counts the additions of any one term's sum on its way through the total: each may round once.
std::uint64_t additions_of(std::uint64_t chunks, std::uint64_t group);

/// The chunks of an enumeration that are left: they may be summed anywhere, and are taken in order.
struct EnumerationChunks {
  std::uint64_t first = 0;  ///< the next one
  std::uint64_t end = 0;    ///< beyond the last
  /// Sums each of some chunks, on the threads of this process.
  std::function<std::vector<Scaled>(std::uint64_t first, std::uint64_t count)> sum = {};
  /// Takes the sums of the next chunks, and saves them where there is a checkpoint.
  std::function<void(const std::vector<Scaled>& sums)> take = {};
};

/// How far an enumeration has come.
struct EnumerationProgress {
  std::uint64_t next = 0;  ///< chunks that are added
  Scaled sum = {};         ///< of the first of them: of whole groups, if there are groups
  Scaled open = {};        ///< of the chunks of the last group, which is not whole
};

/// Adds the sums of chunks in their order, in one level or in groups of a fixed size: the same bits
/// wherever they were summed and however often the progress was stored.
///   Accuracy  relative error at most additions_of(chunks, group) u, u = 2^-53
class ChunkTotal {
 public:
  explicit ChunkTotal(std::uint64_t group, const EnumerationProgress& start = {});
  void add(const Scaled& part);
  EnumerationProgress progress() const { return {next_, sum_.value(), open_.value()}; }
  ScaledSum total() const;

 private:
  std::uint64_t group_, next_;
  ScaledSum sum_, open_;
};

}  // namespace boltzmark
