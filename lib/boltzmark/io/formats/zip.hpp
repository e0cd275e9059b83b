#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "boltzmark/io/formats/byte_source.hpp"

namespace boltzmark {

/// In place of a size or an offset: the value stands in the zip64 record [PKWARE APPNOTE 6.3].
inline constexpr std::uint64_t kIn64 = 0xffffffff;

/// One member of a zip file, as its central directory describes it.
struct ZipMember {
  std::string name;
  std::uint64_t header_offset = 0;
  std::uint64_t packed_size = 0;
  std::uint64_t size = 0;
  std::uint32_t crc = 0;
  bool deflated = false;
};

/// Reads zip files of stored or deflated members, zip64 included, unencrypted, in one part.
class ZipFile {
 public:
  /// Throws  DataError if the directory is truncated, contradicts itself or uses anything else
  explicit ZipFile(const std::string& path);

  const std::string& path() const { return file_->path(); }
  const std::vector<ZipMember>& members() const { return members_; }
  /// Opens a member for reading; its checksum is checked at the end.
  ByteSource open(const ZipMember& member, std::string part) const;

 private:
  std::shared_ptr<const InputFile> file_;
  std::vector<ZipMember> members_;
};

}  // namespace boltzmark
