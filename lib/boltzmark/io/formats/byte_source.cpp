#include "boltzmark/io/formats/byte_source.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace boltzmark {
namespace {

constexpr std::size_t kChunk = 65536;
// DEFLATE cannot do better: 258 bytes for two bits.
constexpr std::uint64_t kBestDeflateRatio = 1032;
constexpr std::uint64_t kFirstAllocationRatio = 64;

int window_bits(Compression compression) {
  if (compression == Compression::gzip) return 15 + 16;
  return compression == Compression::zlib ? 15 : -15;
}

std::string_view compression_name(Compression compression) {
  if (compression == Compression::gzip) return "gzip";
  return compression == Compression::zlib ? "zlib" : "deflate";
}

}  // namespace

InputFile::InputFile(const std::string& path) : path_(path) {
  const Place place{path};
  // O_NONBLOCK: opening a pipe nobody writes to must not hang; it changes nothing for files.
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) {
    if (errno == ENOENT || errno == ENOTDIR) place.refuse("is missing", "must exist");
    place.refuse(fmt::format("cannot be read: {}", std::strerror(errno)), "must be readable");
  }
  struct stat status {};
  const bool known = ::fstat(descriptor_, &status) == 0;
  size_ = known ? static_cast<std::uint64_t>(status.st_size) : 0;
  if (known && S_ISREG(status.st_mode) && size_ > 0) return;
  ::close(descriptor_);  // the destructor does not run after a throw
  if (known && S_ISDIR(status.st_mode)) place.refuse("is a folder", "must be a file");
  if (!known || !S_ISREG(status.st_mode)) place.refuse("is no regular file", "must be one");
  place.refuse("is empty", "must hold data");
}

InputFile::~InputFile() { ::close(descriptor_); }

void InputFile::read_at(std::uint64_t offset, void* out, std::size_t count) const {
  auto* next = static_cast<unsigned char*>(out);
  while (count > 0) {
    const ssize_t got = ::pread(descriptor_, next, count, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      Place{path_}.refuse(fmt::format("cannot be read: {}", std::strerror(errno)),
                          "must be readable");
    }
    if (got == 0) Place{path_}.refuse("is truncated", "must be whole");
    next += got;
    offset += static_cast<std::uint64_t>(got);
    count -= static_cast<std::size_t>(got);
  }
}

struct ByteSource::Inflater {
  explicit Inflater(Compression kind) : compression(kind) {
    if (inflateInit2(&stream, window_bits(compression)) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  Compression compression;
  z_stream stream{};
  std::array<unsigned char, kChunk> input{};
  bool ended = false;
};

ByteSource::ByteSource(std::shared_ptr<const InputFile> file, const ByteRange& range, Place place)
    : file_(std::move(file)),
      next_(range.offset),
      end_(range.offset + range.length),
      place_(std::move(place)) {
  if (range.compression != Compression::none)
    inflater_ = std::make_unique<Inflater>(range.compression);
}

ByteSource ByteSource::open(const std::string& path) {
  auto file = std::make_shared<InputFile>(path);
  unsigned char magic[2] = {};
  file->read_at(0, magic, std::min<std::uint64_t>(2, file->size()));
  const bool gzip = magic[0] == 0x1f && magic[1] == 0x8b;
  const ByteRange whole{0, file->size(), gzip ? Compression::gzip : Compression::none};
  return ByteSource(std::move(file), whole, Place{path});
}

ByteSource::ByteSource(ByteSource&&) noexcept = default;
ByteSource::~ByteSource() = default;

std::size_t ByteSource::pull_plain(unsigned char* out, std::size_t count) {
  const std::size_t part = std::min<std::uint64_t>(count, end_ - next_);
  file_->read_at(next_, out, part);
  next_ += part;
  return part;
}

/// Goes on to the next member of a gzip file of several, as gzip itself does.
bool ByteSource::next_member() {
  z_stream& stream = inflater_->stream;
  if (inflater_->compression != Compression::gzip || (stream.avail_in == 0 && next_ == end_))
    return false;
  inflater_->ended = false;
  return inflateReset(&stream) == Z_OK;
}

std::size_t ByteSource::pull_packed(unsigned char* out, std::size_t count) {
  z_stream& stream = inflater_->stream;
  std::size_t done = 0;
  while (done < count && !(inflater_->ended && !next_member())) {
    if (stream.avail_in == 0) {
      stream.next_in = inflater_->input.data();
      stream.avail_in = static_cast<uInt>(pull_plain(inflater_->input.data(), kChunk));
      if (stream.avail_in == 0) {
        place_.refuse(fmt::format("is truncated inside its {} stream",
                                  compression_name(inflater_->compression)),
                      "must be whole");
      }
    }
    const auto room = static_cast<uInt>(std::min<std::size_t>(count - done, 1U << 30));
    stream.next_out = out + done;
    stream.avail_out = room;
    const int code = inflate(&stream, Z_NO_FLUSH);
    done += room - stream.avail_out;
    inflater_->ended = code == Z_STREAM_END;
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) {
      place_.refuse(
          fmt::format("is damaged: {} stream: {}", compression_name(inflater_->compression),
                      stream.msg != nullptr ? stream.msg : "invalid"),
          "must unpack");
    }
  }
  return done;
}

std::size_t ByteSource::pull(unsigned char* out, std::size_t count) {
  const std::size_t got = inflater_ ? pull_packed(out, count) : pull_plain(out, count);
  if (digest_ != nullptr) digest_->update(out, got);
  if (check_crc_) crc_ = static_cast<std::uint32_t>(crc32_z(crc_, out, got));
  return got;
}

std::size_t ByteSource::read(void* out, std::size_t count) {
  auto* bytes = static_cast<unsigned char*>(out);
  const std::size_t part = std::min(count, ahead_.size() - ahead_next_);
  if (part > 0) std::memcpy(bytes, ahead_.data() + ahead_next_, part);
  ahead_next_ += part;
  return part + (part < count ? pull(bytes + part, count - part) : 0);
}

void ByteSource::read_exactly(void* out, std::size_t count, std::string_view what) {
  if (read(out, count) < count) {
    place_.refuse(fmt::format("is truncated: its {} ends early", what), "must be whole");
  }
}

std::uint64_t ByteSource::most_left() const {
  const std::uint64_t packed = end_ - next_;
  const std::uint64_t ahead = ahead_.size() - ahead_next_;
  if (!inflater_) return packed + ahead;
  // One chunk more for what zlib's window still holds.
  return (packed + inflater_->stream.avail_in) * kBestDeflateRatio + ahead + kChunk;
}

std::vector<unsigned char> ByteSource::take(std::uint64_t count, std::string_view what) {
  if (count > most_left()) {
    place_.refuse(fmt::format("promises {} bytes of {}", count, what),
                  fmt::format("must promise what it holds, here {} {}",
                              inflater_ ? "at most" : "only", most_left()));
  }
  std::vector<unsigned char> bytes;
  std::uint64_t target = std::max<std::uint64_t>(1 << 20, kFirstAllocationRatio * (end_ - next_));
  place_.require_memory(count > target ? count + count / 2 : count);  // while a piece grows
  while (bytes.size() < count) {
    const std::size_t before = bytes.size();
    bytes.resize(std::min(count, target));
    read_exactly(bytes.data() + before, bytes.size() - before, what);
    target = 2 * bytes.size();
  }
  return bytes;
}

std::string_view ByteSource::peek(std::size_t count) {
  if (ahead_.size() - ahead_next_ < count) {
    ahead_.erase(ahead_.begin(), ahead_.begin() + static_cast<std::ptrdiff_t>(ahead_next_));
    ahead_next_ = 0;
    const std::size_t before = ahead_.size();
    ahead_.resize(count);
    ahead_.resize(before + pull(ahead_.data() + before, count - before));
  }
  const auto* first = reinterpret_cast<const char*>(ahead_.data()) + ahead_next_;
  return {first, std::min(count, ahead_.size() - ahead_next_)};
}

void ByteSource::expect_crc(std::uint32_t crc) {
  check_crc_ = true;
  expected_crc_ = crc;
}

void ByteSource::expect_end(std::string_view what) {
  if (!peek(1).empty()) {
    place_.refuse(fmt::format("goes on after its {}", what), "must end there");
  }
  if (inflater_ && inflater_->stream.avail_in + (end_ - next_) > 0) {
    place_.refuse(
        fmt::format("goes on after its {} stream", compression_name(inflater_->compression)),
        "must end there");
  }
  if (check_crc_ && crc_ != expected_crc_) {
    place_.refuse(fmt::format("is damaged: CRC-32 {:08x}", crc_),
                  fmt::format("must be {:08x}", expected_crc_));
  }
}

}  // namespace boltzmark
