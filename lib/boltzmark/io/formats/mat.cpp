#include "boltzmark/io/formats/mat.hpp"

#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "boltzmark/io/formats/byte_source.hpp"
#include "boltzmark/io/place.hpp"

namespace boltzmark {
namespace {

// Codes of the format [MathWorks, MAT-File Format, chapter 1].
constexpr std::uint32_t kInt8 = 1, kInt32 = 5, kUint32 = 6, kMatrix = 14, kCompressed = 15;
constexpr std::uint32_t kClassDouble = 6, kClassUint64 = 15, kComplexFlag = 0x800;
constexpr std::uint32_t kClassOpaque = 17;  // a string, a table, a time: without dimensions
constexpr std::uint64_t kHeaderSize = 128;
constexpr std::uint32_t kLongestName = 4096;

struct Tag {
  std::uint32_t type = 0;
  std::uint32_t size = 0;
  bool small = false;  ///< tag and at most 4 bytes of data share 8 bytes
};

Tag parse_tag(std::uint32_t first, std::uint32_t second) {
  if (first >> 16 != 0) return {first & 0xffff, first >> 16, true};
  return {first, second, false};
}

Tag read_tag(ByteSource& source) {
  const std::string_view head = source.peek(8);
  std::uint32_t words[2];
  if (head.size() < 8) source.place().refuse("is truncated: its tag ends early", "must be whole");
  std::memcpy(words, head.data(), 8);
  const Tag tag = parse_tag(words[0], words[1]);
  if (tag.small && tag.size > 4) source.place().refuse("has a malformed tag", "must be MATLAB 5");
  char skipped[8];
  source.read_exactly(skipped, tag.small ? 4 : 8, "tag");
  return tag;
}

/// Reads a subelement's data and the padding behind it.
std::vector<unsigned char> read_data(ByteSource& source, const Tag& tag, std::string_view what) {
  auto bytes = source.take(tag.size, what);
  const std::uint32_t padding = tag.small ? 4 - tag.size : (8 - tag.size % 8) % 8;
  unsigned char skipped[8];
  source.read(skipped, padding);  // some writers leave out the last padding
  return bytes;
}

std::vector<unsigned char> read_element(ByteSource& source, std::uint32_t type,
                                        std::string_view what) {
  const Tag tag = read_tag(source);
  if (tag.type != type) {
    source.place().refuse(fmt::format("has {} of type {}", what, tag.type),
                          fmt::format("must be type {}", type));
  }
  return read_data(source, tag, what);
}

constexpr std::pair<std::uint32_t, ElementType> kStored[] = {
    {1, ElementType::int8},    {2, ElementType::uint8},   {3, ElementType::int16},
    {4, ElementType::uint16},  {5, ElementType::int32},   {6, ElementType::uint32},
    {7, ElementType::float32}, {9, ElementType::float64}, {12, ElementType::int64},
    {13, ElementType::uint64}};

std::optional<ElementType> stored_type(std::uint32_t stored) {
  for (const auto& [code, type] : kStored)
    if (code == stored) return type;
  return std::nullopt;
}

std::vector<std::uint64_t> read_dimensions(ByteSource& source) {
  const auto bytes = read_element(source, kInt32, "dimensions");
  std::vector<std::uint64_t> shape;
  for (std::size_t at = 0; at + 4 <= bytes.size(); at += 4) {
    std::int32_t size = 0;
    std::memcpy(&size, bytes.data() + at, 4);
    if (size < 0) source.place().refuse("has a negative size", "must be a count");
    shape.push_back(static_cast<std::uint64_t>(size));
  }
  return shape;
}

/// Reads the numbers of a matrix; MATLAB may store them in a smaller type than the class.
void read_numbers(ByteSource& source, Array& array) {
  const Tag tag = read_tag(source);
  const auto type = stored_type(tag.type);
  if (!type) {
    array.place.refuse(fmt::format("has numbers of type {}", tag.type), "must be plain numbers");
  }
  array.type = *type;
  const std::uint64_t promised = array_bytes(array.type, array.shape, array.place);
  if (tag.size != promised) {
    array.place.refuse(
        fmt::format("promises {} elements and holds {} bytes", shape_text(array.shape), tag.size),
        fmt::format("must hold {} bytes", promised));
  }
  array.bytes = read_data(source, tag, "data");
  source.expect_end("data");
  from_fortran_order(array);
}

/// Reads what stands inside a matrix element, if its name is wanted.
void read_variable(ByteSource& source, const std::set<std::string>& wanted,
                   std::map<std::string, Array>& found) {
  const auto flags = read_element(source, kUint32, "array flags");
  if (flags.size() != 8) source.place().refuse("has malformed array flags", "must be 8 bytes");
  std::uint32_t word = 0;
  std::memcpy(&word, flags.data(), 4);
  const std::uint32_t kind = word & 0xff;
  if (kind == kClassOpaque) return;
  Array array;
  array.shape = read_dimensions(source);
  const Tag name_tag = read_tag(source);
  if (name_tag.type != kInt8 || name_tag.size > kLongestName) {
    source.place().refuse("has a malformed name", "must be MATLAB 5");
  }
  const auto letters = read_data(source, name_tag, "name");
  const std::string name(letters.begin(), letters.end());
  if (!wanted.contains(name)) return;
  array.place = {source.place().file, name};
  if (kind < kClassDouble || kind > kClassUint64 || (word & kComplexFlag) != 0) {
    array.place.refuse("is no real matrix of numbers", "must be one");
  }
  read_numbers(source, array);
  if (found.contains(name)) array.place.refuse("stands twice", "must stand once");
  found.emplace(name, std::move(array));
}

void check_header(const InputFile& file) {
  const Place place{file.path()};
  if (file.size() < kHeaderSize)
    place.refuse("is truncated: its header ends early", "must be whole");
  unsigned char end[4];
  file.read_at(kHeaderSize - 4, end, 4);
  if (end[2] == 'M' && end[3] == 'I') place.refuse("is big endian", "must be little endian");
  if (end[2] != 'I' || end[3] != 'M' || end[0] != 0 || end[1] != 1) {
    place.refuse("has a wrong version", "must be MATLAB 5; save with -v6 or -v7");
  }
}

/// Opens the content of the element at `at` and moves `at` behind it; none if it is no matrix.
std::optional<ByteSource> next_variable(const std::shared_ptr<InputFile>& file, std::uint64_t& at) {
  const Place place{file->path()};
  if (file->size() - at < 8) place.refuse("is truncated: its tag ends early", "must be whole");
  std::uint32_t words[2];
  file->read_at(at, words, 8);
  const Tag tag = parse_tag(words[0], words[1]);
  const std::uint64_t start = tag.small ? at + 4 : at + 8;
  if (tag.size > file->size() - start) {
    place.refuse(fmt::format("promises {} bytes of a variable", tag.size),
                 fmt::format("must promise what it holds, here {}", file->size() - start));
  }
  at = tag.small ? at + 8 : start + tag.size;
  if (tag.type == kCompressed) {
    ByteSource source(file, {start, tag.size, Compression::zlib}, place);
    const Tag inner = read_tag(source);
    if (inner.type != kMatrix) return std::nullopt;
    return source;
  }
  if (tag.type != kMatrix) return std::nullopt;
  return ByteSource(file, {start, tag.size, Compression::none}, place);
}

void append32(std::string& out, std::uint32_t value) {
  char bytes[4];
  std::memcpy(bytes, &value, 4);
  out.append(bytes, 4);
}

void append_element(std::string& out, std::uint32_t type, const void* data, std::size_t size) {
  append32(out, type);
  append32(out, static_cast<std::uint32_t>(size));
  out.append(static_cast<const char*>(data), size);
  out.append((8 - size % 8) % 8, '\0');
}

}  // namespace

std::map<std::string, Array> read_mat(const std::string& path,
                                      const std::set<std::string>& wanted) {
  const auto file = std::make_shared<InputFile>(path);
  check_header(*file);
  std::map<std::string, Array> found;
  for (std::uint64_t at = kHeaderSize; at < file->size();) {
    auto variable = next_variable(file, at);
    if (variable) read_variable(*variable, wanted, found);
  }
  return found;
}

void write_mat_header(AtomicFile& file) {
  std::string header = "MATLAB 5.0 MAT-file, written by Boltzmark";
  header.resize(124, ' ');
  std::fill(header.begin() + 116, header.end(), '\0');  // no subsystem data
  header += {'\x00', '\x01', 'I', 'M'};
  file.write(header);
}

void write_mat_matrix(AtomicFile& file, const std::string& name, const Eigen::MatrixXd& matrix,
                      ElementType type) {
  const bool is_single = type == ElementType::float32;
  const auto bytes = static_cast<std::uint64_t>(matrix.size()) * (is_single ? 4 : 8);
  if (bytes > 0x7fffffff) {
    Place{file.path(), name}.refuse("needs more than 2 GiB", "must fit MATLAB 5; write .npz");
  }
  std::string body;
  const std::uint32_t flags[2] = {is_single ? 7U : 6U, 0};
  const std::int32_t shape[2] = {static_cast<std::int32_t>(matrix.rows()),
                                 static_cast<std::int32_t>(matrix.cols())};
  append_element(body, 6, flags, sizeof flags);
  append_element(body, 5, shape, sizeof shape);
  append_element(body, 1, name.data(), name.size());
  if (is_single) {
    const Eigen::MatrixXf values = matrix.cast<float>();
    append_element(body, 7, values.data(), bytes);
  } else {
    append_element(body, 9, matrix.data(), bytes);
  }
  std::string tag;
  append32(tag, 14);
  append32(tag, static_cast<std::uint32_t>(body.size()));
  file.write(tag);
  file.write(body);
}

}  // namespace boltzmark
