#include "boltzmark/random/key.hpp"

#include "boltzmark/core/numeric.hpp"

namespace boltzmark {
namespace {

// FNV-1a over bytes, then a bijective finaliser so that neighbouring seeds share no bits of the
// key.
constexpr std::uint64_t kOffset = 0xcbf29ce484222325ULL;
constexpr std::uint64_t kPrime = 0x100000001b3ULL;

std::uint64_t absorb(std::uint64_t hash, unsigned char byte) { return (hash ^ byte) * kPrime; }

std::uint64_t absorb(std::uint64_t hash, std::string_view text) {
  for (const char c : text) hash = absorb(hash, static_cast<unsigned char>(c));
  // The length keeps ("ab", "c") and ("a", "bc") apart.
  for (int shift = 0; shift < 64; shift += 8)
    hash = absorb(hash, static_cast<unsigned char>(text.size() >> shift));
  return hash;
}

}  // namespace

StreamKey make_key(std::uint64_t seed, std::string_view experiment, std::string_view trial) {
  std::uint64_t hash = kOffset;
  for (int shift = 0; shift < 64; shift += 8)
    hash = absorb(hash, static_cast<unsigned char>(seed >> shift));
  hash = mix_bits(absorb(absorb(hash, experiment), trial));
  return {static_cast<std::uint32_t>(hash), static_cast<std::uint32_t>(hash >> 32)};
}

StreamKey derive_key(StreamKey parent, std::string_view part, std::string_view trial) {
  return make_key((std::uint64_t{parent.high} << 32U) | parent.low, part, trial);
}

}  // namespace boltzmark
