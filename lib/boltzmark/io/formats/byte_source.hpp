#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "boltzmark/io/place.hpp"
#include "boltzmark/io/sha256.hpp"

namespace boltzmark {

/// A regular file open for reading at any offset.
class InputFile {
 public:
  /// Throws  DataError if the file is missing, a folder, not a regular file, unreadable or empty
  explicit InputFile(const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }

  /// Reads exactly `count` bytes.  Throws  DataError if the file ends before
  void read_at(std::uint64_t offset, void* out, std::size_t count) const;

 private:
  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

/// How the bytes of a range of a file are packed.
enum class Compression { none, gzip, zlib, deflate };

/// Which bytes of a file to read, and how they are packed.
struct ByteRange {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  Compression compression = Compression::none;
};

/// Reads the bytes of a range of a file in order, unpacking them on the way.
/// Memory is never allocated on a header's word: at most 64 times the packed range or twice what
/// the range really held so far.
class ByteSource {
 public:
  ByteSource(std::shared_ptr<const InputFile> file, const ByteRange& range, Place place);
  /// Opens a whole file; one that starts with gzip's magic number is unpacked.
  static ByteSource open(const std::string& path);
  ByteSource(ByteSource&&) noexcept;
  ~ByteSource();

  const Place& place() const { return place_; }

  /// Reads up to `count` bytes; fewer only at the end.  Throws  DataError if the packed stream is
  /// truncated or damaged
  std::size_t read(void* out, std::size_t count);
  /// Reads exactly `count` bytes.  Throws  DataError naming `what` as truncated
  void read_exactly(void* out, std::size_t count, std::string_view what);
  /// Reads `count` bytes into memory of their own.  Throws  DataError, before allocating, if the
  /// range cannot hold that many
  std::vector<unsigned char> take(std::uint64_t count, std::string_view what);
  /// Shows the next bytes, at most `count` <= 65536 and fewer only near the end, without consuming.
  std::string_view peek(std::size_t count);
  /// Throws  DataError if bytes are left, or the packed stream's checksum is wrong
  void expect_end(std::string_view what);

  /// Adds all bytes from here on to a digest, which must outlive the source; call before reading.
  void hash_into(Sha256* digest) { digest_ = digest; }
  /// Checks the CRC-32 of all bytes at the end, as zip files promise it.
  void expect_crc(std::uint32_t crc);

 private:
  struct Inflater;
  std::size_t pull(unsigned char* out, std::size_t count);
  std::size_t pull_plain(unsigned char* out, std::size_t count);
  std::size_t pull_packed(unsigned char* out, std::size_t count);
  bool next_member();
  std::uint64_t most_left() const;

  std::shared_ptr<const InputFile> file_;
  std::uint64_t next_ = 0;  ///< offset of the next byte of the file
  std::uint64_t end_ = 0;
  Place place_;
  std::unique_ptr<Inflater> inflater_;  ///< none for plain bytes
  std::vector<unsigned char> ahead_;    ///< unpacked and not yet consumed: from ahead_next_
  std::size_t ahead_next_ = 0;
  Sha256* digest_ = nullptr;
  bool check_crc_ = false;
  std::uint32_t expected_crc_ = 0;
  std::uint32_t crc_ = 0;
};

}  // namespace boltzmark
