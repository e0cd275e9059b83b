#include "boltzmark/io/formats/zip.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace boltzmark {
namespace {

// Sizes and signatures of the records [PKWARE APPNOTE 6.3].
constexpr std::uint64_t kEndSize = 22, kLongestComment = 65535, kLocatorSize = 20, kEnd64Size = 56,
                        kEntrySize = 46, kLocalSize = 30;
constexpr std::uint32_t kEndMark = 0x06054b50, kLocatorMark = 0x07064b50, kEnd64Mark = 0x06064b50,
                        kEntryMark = 0x02014b50, kLocalMark = 0x04034b50;

/// Reads little-endian numbers from bytes; the caller checks that they are there.
std::uint64_t number(const std::vector<unsigned char>& bytes, std::uint64_t at, int size) {
  std::uint64_t value = 0;
  for (int i = size - 1; i >= 0; --i) value = value << 8 | bytes[at + i];
  return value;
}

[[noreturn]] void malformed(const InputFile& file, std::string_view what) {
  Place{file.path()}.refuse(fmt::format("is no whole zip file: {}", what),
                            "must be a whole .npz file");
}

/// Reads a piece of the file that a record points to.
std::vector<unsigned char> piece(const InputFile& file, std::uint64_t offset, std::uint64_t size,
                                 std::string_view what) {
  if (offset > file.size() || size > file.size() - offset) {
    malformed(file, fmt::format("its {} lies outside the file", what));
  }
  std::vector<unsigned char> bytes(size);
  file.read_at(offset, bytes.data(), size);
  return bytes;
}

struct Directory {
  std::uint64_t offset = 0, size = 0, entries = 0;
};

/// Finds the zip64 directory if a locator stands before the end record at `end`.
bool find_directory64(const InputFile& file, std::uint64_t end, Directory& directory) {
  if (end < kLocatorSize) return false;
  const auto locator = piece(file, end - kLocatorSize, kLocatorSize, "zip64 locator");
  if (number(locator, 0, 4) != kLocatorMark) return false;
  const auto record = piece(file, number(locator, 8, 8), kEnd64Size, "zip64 end record");
  if (number(record, 0, 4) != kEnd64Mark) malformed(file, "its zip64 end record is missing");
  directory = {number(record, 48, 8), number(record, 40, 8), number(record, 32, 8)};
  return true;
}

/// Finds the central directory from the end of the file.
Directory find_directory(const InputFile& file) {
  if (file.size() < kEndSize) malformed(file, "its end record is missing");
  const std::uint64_t tail_size = std::min(file.size(), kEndSize + kLongestComment);
  const std::uint64_t tail_offset = file.size() - tail_size;
  const auto tail = piece(file, tail_offset, tail_size, "end");
  for (std::uint64_t at = tail_size - kEndSize + 1; at-- > 0;) {
    if (number(tail, at, 4) != kEndMark || at + kEndSize + number(tail, at + 20, 2) != tail_size) {
      continue;
    }
    Directory directory{number(tail, at + 16, 4), number(tail, at + 12, 4),
                        number(tail, at + 10, 2)};
    if (number(tail, at + 4, 4) != 0) malformed(file, "it is one part of several");
    find_directory64(file, tail_offset + at, directory);
    return directory;
  }
  malformed(file, "its end record is missing");
}

/// Replaces sizes and offset that stand in an entry's zip64 extra field, in their fixed order.
void read_extra64(const InputFile& file, const std::vector<unsigned char>& extra,
                  ZipMember& member) {
  for (std::uint64_t at = 0; at + 4 <= extra.size();) {
    const std::uint64_t id = number(extra, at, 2), end = at + 4 + number(extra, at + 2, 2);
    if (end > extra.size()) malformed(file, "an extra field is cut off");
    at += 4;
    if (id == 1) {
      for (std::uint64_t* value : {&member.size, &member.packed_size, &member.header_offset}) {
        if (*value != kIn64) continue;
        if (at + 8 > end) malformed(file, "a zip64 field is cut off");
        *value = number(extra, at, 8);
        at += 8;
      }
    }
    at = end;
  }
}

/// Reads the entry at `at` of the central directory and moves `at` behind it.
ZipMember read_entry(const InputFile& file, const std::vector<unsigned char>& bytes,
                     std::uint64_t& at) {
  if (bytes.size() - at < kEntrySize || number(bytes, at, 4) != kEntryMark) {
    malformed(file, "its directory is cut off");
  }
  const std::uint64_t name = at + kEntrySize, extra = name + number(bytes, at + 28, 2),
                      comment = extra + number(bytes, at + 30, 2),
                      end = comment + number(bytes, at + 32, 2);
  if (end > bytes.size()) malformed(file, "its directory is cut off");
  ZipMember member;
  member.name.assign(bytes.begin() + name, bytes.begin() + extra);
  const std::uint64_t flags = number(bytes, at + 8, 2), method = number(bytes, at + 10, 2);
  if ((flags & 1) != 0) malformed(file, "it is encrypted");
  if (method != 0 && method != 8) malformed(file, fmt::format("it uses packing {}", method));
  member.deflated = method == 8;
  member.crc = static_cast<std::uint32_t>(number(bytes, at + 16, 4));
  member.packed_size = number(bytes, at + 20, 4);
  member.size = number(bytes, at + 24, 4);
  member.header_offset = number(bytes, at + 42, 4);
  read_extra64(file, {bytes.begin() + extra, bytes.begin() + comment}, member);
  if (!member.deflated && member.size != member.packed_size) {
    malformed(file, "a stored member has two sizes");
  }
  at = end;
  return member;
}

/// Holds a member's name to that of its own header: no checksum has the names, and that of an optional array, a
/// letter off, would be another's, which is left alone.
void check_name(const InputFile& file, const ZipMember& member) {
  const auto local = piece(file, member.header_offset, kLocalSize, "member");
  if (number(local, 0, 4) != kLocalMark) malformed(file, "a member's header is missing");
  const auto name =
      piece(file, member.header_offset + kLocalSize, number(local, 26, 2), "member's name");
  if (std::string(name.begin(), name.end()) != member.name)
    malformed(file, "a member has another name in its own header");
}

}  // namespace

ZipFile::ZipFile(const std::string& path) : file_(std::make_shared<InputFile>(path)) {
  const Directory directory = find_directory(*file_);
  const auto bytes = piece(*file_, directory.offset, directory.size, "directory");
  std::set<std::string> names;
  for (std::uint64_t at = 0; at < bytes.size();) {
    members_.push_back(read_entry(*file_, bytes, at));
    if (!names.insert(members_.back().name).second) malformed(*file_, "two members share a name");
    check_name(*file_, members_.back());
  }
  if (members_.size() != directory.entries) malformed(*file_, "its directory has another count");
}

ByteSource ZipFile::open(const ZipMember& member, std::string part) const {
  const auto local = piece(*file_, member.header_offset, kLocalSize, "member");
  const std::uint64_t start =
      member.header_offset + kLocalSize + number(local, 26, 2) + number(local, 28, 2);
  if (start > file_->size() || member.packed_size > file_->size() - start) {
    malformed(*file_, fmt::format("{} lies outside the file", part));
  }
  const auto compression = member.deflated ? Compression::deflate : Compression::none;
  ByteSource source(file_, {start, member.packed_size, compression},
                    Place{path(), std::move(part)});
  source.expect_crc(member.crc);
  return source;
}

}  // namespace boltzmark
