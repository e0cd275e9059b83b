#include "boltzmark/io/formats/file_kind.hpp"

#include "boltzmark/io/formats/byte_source.hpp"
#include "boltzmark/io/formats/idx.hpp"
#include "boltzmark/io/formats/npz.hpp"
#include "boltzmark/io/formats/text.hpp"

namespace boltzmark {

FileKind kind_of(std::string_view head) {
  if (head.starts_with("PK\x03\x04") || head.starts_with("PK\x05\x06")) return FileKind::zip;
  if (head.starts_with("MATLAB ")) return FileKind::matlab;
  if (head.starts_with(kNpyMagic)) return FileKind::npy;
  if (starts_as_idx(head)) return FileKind::idx;
  if (starts_as_binary_matrix(head)) return FileKind::binary_matrix;
  return starts_as_text(head) ? FileKind::text : FileKind::unknown;
}

FileKind file_kind(const std::string& path) { return kind_of(ByteSource::open(path).peek(512)); }

}  // namespace boltzmark
