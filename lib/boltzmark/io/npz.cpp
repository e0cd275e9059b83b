#include "boltzmark/io/npz.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>

#include "boltzmark/core/error.hpp"
#include "boltzmark/io/npy.hpp"

namespace boltzmark {
namespace {

constexpr std::string_view kEnding = ".npy";

std::string_view array_name(std::string_view member) {
  if (member.ends_with(kEnding)) member.remove_suffix(kEnding.size());
  return member;
}

constexpr std::uint64_t kIn64 = 0xffffffff;
constexpr std::uint64_t kFirstDate =
    0x0021;  // 1980-01-01, so that bytes do not depend on the clock

void append(std::string& out, std::uint64_t value, int size) {
  for (int i = 0; i < size; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
}

/// Writes what local header and directory entry share: flags, packing, date, CRC, sizes, name size.
void append_common(std::string& out, const ZipMember& member, std::uint64_t extra_size) {
  append(out, 45, 2);  // zip64 needs version 4.5
  append(out, 0, 4);   // no flags, stored
  append(out, 0, 2);
  append(out, kFirstDate, 2);
  append(out, member.crc, 4);
  append(out, kIn64, 4);
  append(out, kIn64, 4);
  append(out, member.name.size(), 2);
  append(out, extra_size, 2);
}

/// Sizes always stand in the zip64 field, so that small and large files are written alike.
std::string local_header(const ZipMember& member) {
  std::string out;
  append(out, 0x04034b50, 4);
  append_common(out, member, 20);
  out += member.name;
  append(out, 1, 2), append(out, 16, 2);
  append(out, member.size, 8), append(out, member.packed_size, 8);
  return out;
}

std::string directory_entry(const ZipMember& member) {
  std::string out;
  append(out, 0x02014b50, 4);
  append(out, 45, 2);
  append_common(out, member, 28);
  append(out, 0, 2);  // no comment
  append(out, 0, 4);  // first part, no inner attributes
  append(out, 0, 4);  // no outer attributes
  append(out, kIn64, 4);
  out += member.name;
  append(out, 1, 2), append(out, 24, 2);
  append(out, member.size, 8), append(out, member.packed_size, 8);
  append(out, member.header_offset, 8);
  return out;
}

std::string end_records(std::uint64_t entries, std::uint64_t offset, std::uint64_t size) {
  std::string out;
  append(out, 0x06064b50, 4), append(out, 44, 8);
  append(out, 45, 2), append(out, 45, 2);
  append(out, 0, 8);  // one part only
  append(out, entries, 8), append(out, entries, 8);
  append(out, size, 8), append(out, offset, 8);
  append(out, 0x07064b50, 4), append(out, 0, 4), append(out, offset + size, 8), append(out, 1, 4);
  append(out, 0x06054b50, 4), append(out, 0, 4);
  const std::uint64_t few = std::min<std::uint64_t>(entries, 0xffff);
  append(out, few, 2), append(out, few, 2);
  append(out, std::min(size, kIn64), 4), append(out, std::min(offset, kIn64), 4);
  append(out, 0, 2);
  return out;
}

template <class Scalar>
using RowMajor = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

std::vector<std::uint64_t> shape_of(Eigen::Index rows, Eigen::Index columns) {
  return {static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(columns)};
}

}  // namespace

std::vector<std::string> Npz::names() const {
  std::vector<std::string> names;
  for (const auto& member : zip_.members()) names.emplace_back(array_name(member.name));
  return names;
}

const ZipMember* Npz::find(std::string_view name) const {
  for (const auto& member : zip_.members()) {
    if (array_name(member.name) == name) return &member;
  }
  return nullptr;
}

bool Npz::contains(std::string_view name) const { return find(name) != nullptr; }

Array Npz::read(std::string_view name) const {
  const ZipMember* member = find(name);
  if (member == nullptr) {
    Place{path()}.refuse(fmt::format("has no array {}", name), "must have it");
  }
  ByteSource source = zip_.open(*member, std::string(name));
  return read_npy(source);
}

void NpzWriter::add_bytes(std::string_view name, ElementType type,
                          const std::vector<std::uint64_t>& shape, const void* data,
                          std::size_t count) {
  std::uint64_t expected = 1;
  for (const std::uint64_t size : shape) expected *= size;
  if (expected != count) {
    throw InvalidArgument(
        fmt::format("shape of {} = {} (must hold {} values)", name, shape_text(shape), count));
  }
  ZipMember member;
  member.name = fmt::format("{}.npy", name);
  for (const auto& other : members_) {
    if (other.name == member.name) {
      throw InvalidArgument(fmt::format("name = {} (must be new in the file)", name));
    }
  }
  const std::string header = npy_header(type, shape);
  const std::size_t bytes = count * element_size(type);
  const auto* head = reinterpret_cast<const unsigned char*>(header.data());
  const auto head_crc = crc32_z(0, head, header.size());
  // A null pointer would make zlib start anew instead of adding nothing.
  member.crc = static_cast<std::uint32_t>(
      bytes == 0 ? head_crc : crc32_z(head_crc, static_cast<const unsigned char*>(data), bytes));
  member.size = member.packed_size = header.size() + bytes;
  member.header_offset = written_;
  const std::string local = local_header(member);
  file_.write(local);
  file_.write(header);
  file_.write(data, bytes);
  written_ += local.size() + member.size;
  members_.push_back(std::move(member));
}

void NpzWriter::add(std::string_view name, std::span<const double> values,
                    std::vector<std::uint64_t> shape) {
  add_bytes(name, ElementType::float64, shape, values.data(), values.size());
}
void NpzWriter::add(std::string_view name, std::span<const float> values,
                    std::vector<std::uint64_t> shape) {
  add_bytes(name, ElementType::float32, shape, values.data(), values.size());
}
void NpzWriter::add(std::string_view name, std::span<const std::int32_t> values,
                    std::vector<std::uint64_t> shape) {
  add_bytes(name, ElementType::int32, shape, values.data(), values.size());
}
void NpzWriter::add(std::string_view name, std::span<const std::int64_t> values,
                    std::vector<std::uint64_t> shape) {
  add_bytes(name, ElementType::int64, shape, values.data(), values.size());
}
void NpzWriter::add(std::string_view name, std::span<const std::uint8_t> values,
                    std::vector<std::uint64_t> shape) {
  add_bytes(name, ElementType::uint8, shape, values.data(), values.size());
}
void NpzWriter::add(std::string_view name, const Eigen::MatrixXd& matrix) {
  const RowMajor<double> rows = matrix;
  add_bytes(name, ElementType::float64, shape_of(rows.rows(), rows.cols()), rows.data(),
            rows.size());
}
void NpzWriter::add(std::string_view name, const Eigen::MatrixXf& matrix) {
  const RowMajor<float> rows = matrix;
  add_bytes(name, ElementType::float32, shape_of(rows.rows(), rows.cols()), rows.data(),
            rows.size());
}
void NpzWriter::add(std::string_view name, const Eigen::VectorXd& vector) {
  add_bytes(name, ElementType::float64, {static_cast<std::uint64_t>(vector.size())}, vector.data(),
            vector.size());
}

void NpzWriter::commit() {
  std::string directory;
  for (const auto& member : members_) directory += directory_entry(member);
  file_.write(directory);
  file_.write(end_records(members_.size(), written_, directory.size()));
  file_.commit();
}

}  // namespace boltzmark
