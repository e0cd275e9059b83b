#include "boltzmark/io/sha256.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace boltzmark {
namespace {

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes [FIPS 180-4].
constexpr std::array<std::uint32_t, 64> kRound = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t big_endian(const unsigned char* bytes) {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 |
         std::uint32_t{bytes[2]} << 8 | bytes[3];
}

/// Expands a block into the 64 words of the message schedule.
std::array<std::uint32_t, 64> schedule(const unsigned char* block) {
  std::array<std::uint32_t, 64> w;
  for (int t = 0; t < 16; ++t) w[t] = big_endian(block + 4 * t);
  for (int t = 16; t < 64; ++t) {
    const std::uint32_t a = w[t - 15], b = w[t - 2];
    w[t] = w[t - 16] + w[t - 7] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3)) +
           (std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10));
  }
  return w;
}

void compress_portable(std::uint32_t* state, const unsigned char* blocks, std::size_t count) {
  for (; count > 0; --count, blocks += 64) {
    const auto w = schedule(blocks);
    std::uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    std::uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    for (int t = 0; t < 64; ++t) {
      const std::uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
      const std::uint32_t t1 = h + s1 + (g ^ (e & (f ^ g))) + kRound[t] + w[t];
      const std::uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
      const std::uint32_t t2 = s0 + ((a & b) | (c & (a | b)));
      h = g, g = f, f = e, e = d + t1;
      d = c, c = b, b = a, a = t1 + t2;
    }
    const std::uint32_t next[8] = {a, b, c, d, e, f, g, h};
    for (int i = 0; i < 8; ++i) state[i] += next[i];
  }
}

#ifdef __x86_64__
/// Tells whether the CPU has the SHA instructions, and SSSE3 and SSE4.1 that go with them here.
bool has_sha_instructions() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_SSSE3) == 0 || (c & bit_SSE4_1) == 0) {
    return false;
  }
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & bit_SHA) != 0;
}

/// Does what compress_portable does; the instructions hold the state as ABEF and CDGH.
__attribute__((target("sha,ssse3,sse4.1"))) void compress_x86(std::uint32_t* state,
                                                              const unsigned char* blocks,
                                                              std::size_t count) {
  const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  auto* halves = reinterpret_cast<__m128i*>(state);
  const __m128i cdab = _mm_shuffle_epi32(_mm_loadu_si128(halves), 0xb1);
  const __m128i hgfe = _mm_shuffle_epi32(_mm_loadu_si128(halves + 1), 0x1b);
  __m128i abef = _mm_alignr_epi8(cdab, hgfe, 8), cdgh = _mm_blend_epi16(hgfe, cdab, 0xf0);
  for (; count > 0; --count, blocks += 64) {
    const __m128i abef_before = abef, cdgh_before = cdgh;
    __m128i w[4];
    for (int i = 0; i < 4; ++i) {
      const auto* words = reinterpret_cast<const __m128i*>(blocks + 16 * i);
      w[i] = _mm_shuffle_epi8(_mm_loadu_si128(words), swap);
    }
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) {  // four rounds, and four words of the schedule 16 rounds ahead
      const auto* constants = reinterpret_cast<const __m128i*>(kRound.data() + 4 * i);
      const __m128i sum = _mm_add_epi32(w[i % 4], _mm_loadu_si128(constants));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
      const __m128i minus7 = _mm_alignr_epi8(w[(i + 3) % 4], w[(i + 2) % 4], 4);
      const __m128i partial = _mm_sha256msg1_epu32(w[i % 4], w[(i + 1) % 4]);
      w[i % 4] = _mm_sha256msg2_epu32(_mm_add_epi32(partial, minus7), w[(i + 3) % 4]);
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  const __m128i feba = _mm_shuffle_epi32(abef, 0x1b), dchg = _mm_shuffle_epi32(cdgh, 0xb1);
  _mm_storeu_si128(halves, _mm_blend_epi16(feba, dchg, 0xf0));
  _mm_storeu_si128(halves + 1, _mm_alignr_epi8(dchg, feba, 8));
}
#endif

}  // namespace

Sha256::Sha256(Path path) : compress_(compress_portable) {
#ifdef __x86_64__
  static const bool fast = has_sha_instructions();
  if (path == Path::fastest && fast) compress_ = compress_x86;
#else
  static_cast<void>(path);
#endif
}

void Sha256::update(const void* data, std::size_t size) {
  const auto* bytes = static_cast<const unsigned char*>(data);
  const std::size_t filled = length_ % 64;
  length_ += size;
  if (filled > 0) {
    const std::size_t part = std::min(size, 64 - filled);
    std::memcpy(pending_.data() + filled, bytes, part);
    if (filled + part < 64) return;
    compress_(state_.data(), pending_.data(), 1);
    bytes += part, size -= part;
  }
  compress_(state_.data(), bytes, size / 64);
  if (size % 64 > 0) std::memcpy(pending_.data(), bytes + size - size % 64, size % 64);
}

std::string Sha256::finish() {
  const std::uint64_t bits = 8 * length_;
  unsigned char tail[72] = {0x80};
  const std::size_t zeros = (119 - length_ % 64) % 64;  // so that the 8 bytes of length end a block
  for (int i = 0; i < 8; ++i) {
    tail[1 + zeros + i] = static_cast<unsigned char>(bits >> (56 - 8 * i));
  }
  update(tail, 9 + zeros);
  std::string digest;
  for (const std::uint32_t word : state_) digest += fmt::format("{:08x}", word);
  return digest;
}

std::string sha256(const void* data, std::size_t size) {
  Sha256 hash;
  hash.update(data, size);
  return hash.finish();
}

}  // namespace boltzmark
