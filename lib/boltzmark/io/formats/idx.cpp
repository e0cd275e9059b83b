#include "boltzmark/io/formats/idx.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "boltzmark/core/error.hpp"

namespace boltzmark {
namespace {

constexpr unsigned char kUnsignedByte = 0x08;
constexpr std::uint32_t kMatrixMagic = 0x1e3d4c50;  // + 1..6, the type
constexpr std::int32_t kMostIdxDimensions = 8;

std::uint32_t little_endian(std::string_view head) {
  std::uint32_t word = 0;
  std::memcpy(&word, head.data(), 4);
  return word;
}

std::int32_t read_int32(ByteSource& source, bool big_endian) {
  std::uint32_t word = 0;
  source.read_exactly(&word, 4, "header");
  return static_cast<std::int32_t>(big_endian ? __builtin_bswap32(word) : word);
}

std::uint64_t read_size(ByteSource& source, bool big_endian) {
  const std::int32_t size = read_int32(source, big_endian);
  if (size < 0) {
    source.place().refuse(fmt::format("has a negative size, {}", size), "must be a count");
  }
  return static_cast<std::uint64_t>(size);
}

struct MatrixType {
  std::uint32_t code;
  ElementType type;
};
constexpr MatrixType kMatrixTypes[] = {{1, ElementType::float32},
                                       {3, ElementType::float64},
                                       {4, ElementType::int32},
                                       {5, ElementType::uint8},
                                       {6, ElementType::int16}};
constexpr std::size_t kLeastSizes = 3;  // that a binary matrix writes, however few it has

ElementType matrix_type(std::uint32_t magic, const Place& place) {
  for (const auto& [code, type] : kMatrixTypes)
    if (magic == kMatrixMagic + code) return type;
  place.refuse(fmt::format("has magic number {:08x}", magic),
               "must be 1e3d4c51, 53, 54, 55 or 56: float, double, int, byte, short");
}

}  // namespace

bool starts_as_idx(std::string_view head) {
  return head.size() >= 4 && head[0] == 0 && head[1] == 0 && head[2] >= 0x08 && head[2] <= 0x0e &&
         head[3] >= 1 && head[3] <= kMostIdxDimensions;
}

bool starts_as_binary_matrix(std::string_view head) {
  if (head.size() < 4) return false;
  const std::uint32_t word = little_endian(head);
  return word >> 8 == kMatrixMagic >> 8 || __builtin_bswap32(word) >> 8 == kMatrixMagic >> 8;
}

Array read_idx(ByteSource& source) {
  const Place& place = source.place();
  unsigned char magic[4];
  source.read_exactly(magic, 4, "header");
  if (!starts_as_idx({reinterpret_cast<const char*>(magic), 4})) {
    place.refuse("has a wrong magic number", "must be an IDX file");
  }
  if (magic[2] != kUnsignedByte) {
    place.refuse(fmt::format("has IDX type 0x{:02x}", magic[2]), "must be 0x08, unsigned bytes");
  }
  Array array;
  array.type = ElementType::uint8;
  for (int d = 0; d < magic[3]; ++d) array.shape.push_back(read_size(source, true));
  read_elements(source, array);
  return array;
}

std::string idx_header(const std::vector<std::uint64_t>& shape) {
  std::string header{'\0', '\0', static_cast<char>(kUnsignedByte), static_cast<char>(shape.size())};
  for (const std::uint64_t size : shape) {
    for (int shift = 24; shift >= 0; shift -= 8) header.push_back(static_cast<char>(size >> shift));
  }
  return header;
}

Array read_binary_matrix(ByteSource& source) {
  const Place& place = source.place();
  const auto magic = static_cast<std::uint32_t>(read_int32(source, false));
  if (magic >> 8 != kMatrixMagic >> 8) {
    place.refuse("is big endian or has a wrong magic number", "must be a little-endian matrix");
  }
  Array array;
  array.type = matrix_type(magic, place);
  const std::int32_t dimensions = read_int32(source, false);
  if (dimensions < 1 || dimensions > kMostIdxDimensions) {
    place.refuse(fmt::format("has {} dimensions", dimensions),
                 fmt::format("must have 1..{}", kMostIdxDimensions));
  }
  for (int d = 0; d < dimensions; ++d) array.shape.push_back(read_size(source, false));
  // Sizes beyond the dimensions mean nothing.
  for (int d = dimensions; d < static_cast<int>(kLeastSizes); ++d) read_int32(source, false);
  read_elements(source, array);
  return array;
}

std::string binary_matrix_header(ElementType type, const std::vector<std::uint64_t>& shape) {
  const auto* found = std::find_if(std::begin(kMatrixTypes), std::end(kMatrixTypes),
                                   [&](const MatrixType& entry) { return entry.type == type; });
  if (found == std::end(kMatrixTypes))
    throw InvalidArgument(
        fmt::format("type = {} (must be one of a binary matrix)", element_name(type)));
  std::vector<std::uint32_t> words{kMatrixMagic + found->code,
                                   static_cast<std::uint32_t>(shape.size())};
  words.insert(words.end(), shape.begin(), shape.end());
  words.resize(std::max(words.size(), 2 + kLeastSizes), 1);
  return {reinterpret_cast<const char*>(words.data()), words.size() * sizeof(std::uint32_t)};
}

}  // namespace boltzmark
