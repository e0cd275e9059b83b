#include "boltzmark/io/formats/npz.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include "boltzmark/core/error.hpp"

namespace boltzmark {
namespace {

constexpr std::size_t kLongestHeader = 65536;
constexpr std::size_t kMostNpyDimensions = 32;  // NumPy's own limit

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
      if (error != std::errc{} || values.size() == kMostNpyDimensions) fail();
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

ElementType parse_type(std::string descr, Elements elements, const Place& place) {
  if (descr.size() == 3 && descr[2] == '1') descr[0] = '|';  // byte order means nothing here
  if (const auto type = element_of_code(descr)) {
    if (takes(elements, *type)) return *type;
    place.refuse(fmt::format("holds {}", element_name(*type)), taken_text(elements));
  }
  const std::string found = "holds " + type_text(descr);
  if (descr.starts_with('>')) {
    descr[0] = '<';
    if (const auto type = element_of_code(descr); type && takes(elements, *type))
      place.refuse(found,
                   fmt::format("must be little endian, as .astype('{}') of NumPy makes it", descr));
  }
  place.refuse(found, taken_text(elements));
}

constexpr std::string_view kEnding = ".npy";

std::string_view array_name(std::string_view member) {
  if (member.ends_with(kEnding)) member.remove_suffix(kEnding.size());
  return member;
}

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

/// An array as its header describes it, without elements.
struct Described {
  Array array;
  bool fortran_order = false;
};

Header parse_header(ByteSource& source) {
  const std::string text = header_text(source);
  return HeaderParser(text, source.place()).parse();
}

Described read_header(ByteSource& source, Elements elements) {
  const Header header = parse_header(source);
  Described found;
  found.array.place = source.place();
  found.array.type = parse_type(header.descr, elements, source.place());
  found.array.shape = *header.shape;
  found.fortran_order = *header.fortran_order;
  return found;
}

/// How a text is stored.
struct TextForm {
  std::uint64_t characters = 0;
  std::size_t width = 1;  // bytes of a character
};

// '|S12' and '<U12' are one string of NumPy's; '|u1' is a character an element.
TextForm text_form(const Header& header, const Place& place) {
  constexpr std::uint64_t kMost = 4096;
  const std::string_view descr = header.descr;
  const auto& shape = *header.shape;
  const bool characters = descr.starts_with("<U");
  TextForm form{.width = characters ? 4U : 1U};
  if (characters || descr.starts_with("|S")) {
    const auto [end, error] =
        std::from_chars(descr.data() + 2, descr.data() + descr.size(), form.characters);
    const bool one = shape.empty() || (shape.size() == 1 && shape[0] == 1);
    if (error == std::errc{} && end == descr.data() + descr.size() && one &&
        form.characters <= kMost)
      return form;
  } else if (descr.size() == 3 && descr.substr(1) == "u1" && shape.size() == 1 &&
             shape[0] <= 4 * kMost) {  // bytes of UTF-8
    form.characters = shape[0];
    return form;
  }
  place.refuse(
      fmt::format("holds '{}' {}", descr.substr(0, 16), shape_text(shape)),
      fmt::format("must be a text of at most {} characters: uint8, or one NumPy string", kMost));
}

}  // namespace

Array read_npy(ByteSource& source, Elements elements) {
  auto [array, fortran_order] = read_header(source, elements);
  read_elements(source, array);
  if (fortran_order) from_fortran_order(array);
  return array;
}

std::string npy_header(ElementType type, const std::vector<std::uint64_t>& shape) {
  std::string text =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}",
                  element_code(type), fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  // Data start at a multiple of 64 bytes after magic, version and length, as NumPy lays them out.
  text.append((64 - (10 + text.size() + 1) % 64) % 64, ' ').push_back('\n');
  std::string header(kNpyMagic);
  header +=
      {'\x01', '\x00', static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  return header + text;
}

Npz::Npz(const std::string& path) : zip_(path) {
  std::map<std::string_view, std::string_view> known;
  for (const auto& member : zip_.members())
    if (const auto [other, fresh] = known.emplace(array_name(member.name), member.name); !fresh)
      Place{path}.refuse(fmt::format("has both {} and {}", other->second, member.name),
                         fmt::format("must hold one array {}", other->first));
}

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

ByteSource Npz::open(std::string_view name) const {
  const ZipMember* member = find(name);
  if (member == nullptr) {
    Place{path()}.refuse(fmt::format("has no array {}", name), "must have it");
  }
  return zip_.open(*member, std::string(name));
}

Array Npz::describe(std::string_view name, Elements elements) const {
  ByteSource source = open(name);
  return read_header(source, elements).array;
}

namespace {

// A code point of Unicode as UTF-8; its readers know what is none.
void append_utf8(std::uint32_t point, std::string& text) {
  const auto last = [&](int shift) { return static_cast<char>(0x80 | ((point >> shift) & 0x3f)); };
  if (point < 0x80)
    text += static_cast<char>(point);
  else if (point < 0x800)
    text += {static_cast<char>(0xc0 | (point >> 6)), last(0)};
  else if (point < 0x10000)
    text += {static_cast<char>(0xe0 | (point >> 12)), last(6), last(0)};
  else
    text += {static_cast<char>(0xf0 | (point >> 18)), last(12), last(6), last(0)};
}

}  // namespace

std::string Npz::read_text(std::string_view name) const {
  ByteSource source = open(name);
  const TextForm form = text_form(parse_header(source), source.place());
  const auto bytes = source.take(form.characters * form.width, "text");
  source.expect_end("text");
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += form.width) {
    std::uint32_t point = 0;
    for (std::size_t k = 0; k < form.width; ++k)
      point |= static_cast<std::uint32_t>(bytes[i + k]) << (8 * k);
    if (point > 0x10ffff)
      source.place().refuse("holds a character beyond Unicode", "must be a text");
    if (form.width == 1)
      text += static_cast<char>(point);
    else
      append_utf8(point, text);
  }
  return text.substr(0, text.find_last_not_of('\0') + 1);  // NumPy pads with zeros
}

Array Npz::read(std::string_view name, Elements elements) const {
  ByteSource source = open(name);
  return read_npy(source, elements);
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

void NpzWriter::commit() {
  std::string directory;
  for (const auto& member : members_) directory += directory_entry(member);
  file_.write(directory);
  file_.write(end_records(members_.size(), written_, directory.size()));
  file_.commit();
}

}  // namespace boltzmark
