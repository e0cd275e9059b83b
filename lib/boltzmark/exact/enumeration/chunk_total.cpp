#include "boltzmark/exact/enumeration/chunk_total.hpp"

#include <algorithm>

namespace boltzmark {
namespace {

bool few_chunks(const Bipartite& sides) {
  return static_cast<int>(sides.enumerated.size()) <= kFewChunkUnits;
}

std::uint64_t quotient_up(std::uint64_t of, std::uint64_t by) { return of / by + (of % by != 0); }

}  // namespace

std::uint64_t least_chunk_blocks(const Bipartite& sides, std::uint64_t blocks) {
  if (few_chunks(sides)) return quotient_up(blocks, kMostChunks);
  constexpr std::uint64_t states = (std::uint64_t{1} << kFewChunkUnits) / kMostChunks;
  return quotient_up(states, sides.states / blocks);
}

std::uint64_t chunks_of_group(const Bipartite& sides) {
  return few_chunks(sides) ? 0 : kMostChunks;
}

std::uint64_t additions_of(std::uint64_t chunks, std::uint64_t group) {
  return group == 0 ? chunks : std::min(chunks, group) + quotient_up(chunks, group);
}

ChunkTotal::ChunkTotal(std::uint64_t group, const EnumerationProgress& start)
    : group_(group), next_(start.next), sum_(start.sum), open_(start.open) {}

void ChunkTotal::add(const Scaled& part) {
  ++next_;
  if (group_ == 0) return sum_.add(part);
  open_.add(part);
  if (next_ % group_ != 0) return;
  sum_.add(open_);
  open_ = {};
}

ScaledSum ChunkTotal::total() const {
  ScaledSum total = sum_;
  total.add(open_);
  return total;
}

}  // namespace boltzmark
