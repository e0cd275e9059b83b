#include "boltzmark/io/npy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <charconv>
#include <optional>
#include <utility>

namespace boltzmark {
namespace {

constexpr std::size_t kLongestHeader = 65536;
constexpr std::size_t kMostDimensions = 32;  // NumPy's own limit

struct TypeCode {
  std::string_view code;
  ElementType type;
};
constexpr std::array<TypeCode, 11> kTypeCodes = {{{"|b1", ElementType::boolean},
                                                  {"|i1", ElementType::int8},
                                                  {"|u1", ElementType::uint8},
                                                  {"<i2", ElementType::int16},
                                                  {"<u2", ElementType::uint16},
                                                  {"<i4", ElementType::int32},
                                                  {"<u4", ElementType::uint32},
                                                  {"<i8", ElementType::int64},
                                                  {"<u8", ElementType::uint64},
                                                  {"<f4", ElementType::float32},
                                                  {"<f8", ElementType::float64}}};

struct Header {
  std::string descr;
  std::optional<bool> fortran_order;
  std::optional<std::vector<std::uint64_t>> shape;
};

/// Parses the header's Python literal: {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const Place& place) : text_(text), place_(place) {}

  Header parse() {
    Header header;
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr" && header.descr.empty()) {
        if (next() == '[') place_.refuse("holds records", "must hold plain numbers");
        header.descr = quoted();
      } else if (key == "fortran_order" && !header.fortran_order) {
        header.fortran_order = boolean();
      } else if (key == "shape" && !header.shape) {
        header.shape = tuple();
      } else {
        fail();
      }
      if (!accept(',') && next() != '}') fail();
    }
    if (next() != '\0' || header.descr.empty() || !header.fortran_order || !header.shape) fail();
    return header;
  }

 private:
  [[noreturn]] void fail() const {
    place_.refuse("has a malformed header", "must be a dictionary of descr, fortran_order, shape");
  }
  /// Shows the next character that is no space; '\0' at the end.
  char next() {
    at_ = std::min(text_.find_first_not_of(" \n\t", at_), text_.size());
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (next() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail();
  }
  std::string quoted() {
    const char quote = next();
    if (quote != '\'' && quote != '"') fail();
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) fail();
    std::string word(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return word;
  }
  bool boolean() {
    next();
    for (const auto& [word, value] : {std::pair{"True", true}, std::pair{"False", false}}) {
      if (text_.substr(at_).starts_with(word)) {
        at_ += std::string_view(word).size();
        return value;
      }
    }
    fail();
  }
  std::vector<std::uint64_t> tuple() {
    std::vector<std::uint64_t> values;
    expect('(');
    while (!accept(')')) {
      if (next() == '-') place_.refuse("has a negative size", "must be a count");
      std::uint64_t value = 0;
      const char* first = text_.data() + at_;
      const auto [end, error] = std::from_chars(first, text_.data() + text_.size(), value);
      if (error == std::errc::result_out_of_range) {
        place_.refuse("promises more than 2^64 elements", "must hold what it promises");
      }
      if (error != std::errc{} || values.size() == kMostDimensions) fail();
      at_ += static_cast<std::size_t>(end - first);
      values.push_back(value);
      if (!accept(',') && next() != ')') fail();
    }
    return values;
  }

  std::string_view text_;
  const Place& place_;
  std::size_t at_ = 0;
};

/// Reads magic, version and header text.
std::string header_text(ByteSource& source) {
  unsigned char fixed[8];
  source.read_exactly(fixed, 8, "header");
  const std::string_view magic(reinterpret_cast<const char*>(fixed), 6);
  if (magic != kNpyMagic) source.place().refuse("has a wrong magic number", "must be .npy data");
  if (fixed[6] < 1 || fixed[6] > 3) {
    source.place().refuse(fmt::format("has .npy version {}", fixed[6]), "must be 1, 2 or 3");
  }
  unsigned char length[4] = {};
  source.read_exactly(length, fixed[6] == 1 ? 2 : 4, "header");
  const std::size_t size = length[0] | std::size_t{length[1]} << 8 | std::size_t{length[2]} << 16 |
                           std::size_t{length[3]} << 24;
  if (size > kLongestHeader) {
    source.place().refuse(fmt::format("promises a header of {} bytes", size),
                          fmt::format("must be at most {}", kLongestHeader));
  }
  const auto bytes = source.take(size, "header");
  return {bytes.begin(), bytes.end()};
}

ElementType parse_type(std::string descr, const Place& place) {
  if (descr.size() == 3 && descr[2] == '1') descr[0] = '|';  // byte order means nothing here
  for (const auto& [code, type] : kTypeCodes) {
    if (code == descr) return type;
  }
  place.refuse(fmt::format("holds type '{}'", descr.substr(0, 16)),
               "must be bool, an integer, float32 or float64, little endian");
}

}  // namespace

Array read_npy(ByteSource& source) {
  const std::string text = header_text(source);
  const Header header = HeaderParser(text, source.place()).parse();
  Array array;
  array.place = source.place();
  array.type = parse_type(header.descr, source.place());
  array.shape = *header.shape;
  array.bytes = source.take(array_bytes(array.type, array.shape, source.place()), "data");
  source.expect_end("data");
  if (*header.fortran_order) from_fortran_order(array);
  return array;
}

std::string npy_header(ElementType type, const std::vector<std::uint64_t>& shape) {
  std::string_view code;
  for (const auto& known : kTypeCodes) {
    if (known.type == type) code = known.code;
  }
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}",
                                 code, fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  // Data start at a multiple of 64 bytes after magic, version and length, as NumPy lays them out.
  text.append((64 - (10 + text.size() + 1) % 64) % 64, ' ').push_back('\n');
  std::string header(kNpyMagic);
  header +=
      {'\x01', '\x00', static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  return header + text;
}

}  // namespace boltzmark
