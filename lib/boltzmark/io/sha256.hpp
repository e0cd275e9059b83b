#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace boltzmark {

/// The SHA-256 digest of a stream of bytes [FIPS 180-4], to check data files against their record.
class Sha256 {
 public:
  /// How blocks are compressed: with the CPU's SHA instructions where it has them, or never.
  enum class Path { fastest, portable };
  explicit Sha256(Path path = Path::fastest);
  /// Adds bytes to the stream.
  void update(const void* data, std::size_t size);
  /// Ends the stream and writes its digest as 64 lower-case hexadecimal digits.
  std::string finish();

 private:
  using Compress = void (*)(std::uint32_t* state, const unsigned char* blocks, std::size_t count);
  Compress compress_;
  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> pending_{};
  std::uint64_t length_ = 0;
};

/// Computes the SHA-256 of one piece of memory, as 64 hexadecimal digits.
std::string sha256(const void* data, std::size_t size);

}  // namespace boltzmark
