#include "boltzmark/io/formats/array.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <utility>

#include "boltzmark/io/formats/byte_source.hpp"

namespace boltzmark {
namespace {

struct Element {
  std::string_view name, code;
};
// In the order of the enumeration; a code ends with the bytes of an element.
constexpr std::array<Element, 11> kElements = {{{"bool", "|b1"},
                                                {"int8", "|i1"},
                                                {"uint8", "|u1"},
                                                {"int16", "<i2"},
                                                {"uint16", "<u2"},
                                                {"int32", "<i4"},
                                                {"uint32", "<u4"},
                                                {"int64", "<i8"},
                                                {"uint64", "<u8"},
                                                {"float32", "<f4"},
                                                {"float64", "<f8"}}};

/// Calls body with a typed pointer to the elements.
template <class Body>
void with_elements(const Array& array, Body&& body) {
  const void* data = array.bytes.data();
  switch (array.type) {
    case ElementType::boolean:
    case ElementType::uint8:
      return body(static_cast<const std::uint8_t*>(data));
    case ElementType::int8:
      return body(static_cast<const std::int8_t*>(data));
    case ElementType::int16:
      return body(static_cast<const std::int16_t*>(data));
    case ElementType::uint16:
      return body(static_cast<const std::uint16_t*>(data));
    case ElementType::int32:
      return body(static_cast<const std::int32_t*>(data));
    case ElementType::uint32:
      return body(static_cast<const std::uint32_t*>(data));
    case ElementType::int64:
      return body(static_cast<const std::int64_t*>(data));
    case ElementType::uint64:
      return body(static_cast<const std::uint64_t*>(data));
    case ElementType::float32:
      return body(static_cast<const float*>(data));
    case ElementType::float64:
      return body(static_cast<const double*>(data));
  }
}

template <class Out>
void convert(const Array& array, Out* out) {
  const std::uint64_t count = array.count();
  with_elements(array, [&](const auto* values) {
    for (std::uint64_t i = 0; i < count; ++i) out[i] = static_cast<Out>(values[i]);
  });
}

// Tells whether every element is a whole number of 0..255.
bool are_levels(const Array& array) {
  bool all = true;
  with_elements(array, [&](const auto* values) {
    all = std::all_of(values, values + array.count(), [](auto x) {
      return x >= 0 && x <= 255 && x == static_cast<decltype(x)>(static_cast<unsigned char>(x));
    });
  });
  return all;
}

void expect_finite(const Array& array, bool finite) {
  if (!finite) array.place.refuse("holds NaN or infinity", "must be finite");
}

}  // namespace

std::size_t element_size(ElementType type) {
  return static_cast<std::size_t>(element_code(type)[2] - '0');
}

std::string_view element_name(ElementType type) { return kElements[static_cast<int>(type)].name; }

std::string_view element_code(ElementType type) { return kElements[static_cast<int>(type)].code; }

std::optional<ElementType> element_of_code(std::string_view code) {
  for (std::size_t i = 0; i < kElements.size(); ++i)
    if (kElements[i].code == code) return static_cast<ElementType>(i);
  return std::nullopt;
}

std::string type_text(std::string_view code) {
  const std::string_view size_text = code.substr(std::min<std::size_t>(code.size(), 2));
  unsigned size = 0;
  const auto [end, error] =
      std::from_chars(size_text.data(), size_text.data() + size_text.size(), size);
  const bool whole = error == std::errc{} && end == size_text.data() + size_text.size();
  const char order = code.empty() ? ' ' : code[0], kind = code.size() < 2 ? ' ' : code[1];
  constexpr std::pair<char, std::string_view> kNumbers[] = {
      {'f', "float"}, {'i', "int"}, {'u', "uint"}, {'c', "complex"}};
  constexpr unsigned kMostBytes = 32;
  for (const auto& [letter, name] : kNumbers)
    if ((order == '<' || order == '>') && kind == letter && whole && size > 0 && size <= kMostBytes)
      return fmt::format("{}{}{}", order == '>' ? "big-endian " : "", name, 8 * size);
  constexpr std::pair<char, std::string_view> kOthers[] = {
      {'S', "text"},  {'U', "text"},          {'O', "Python objects"},
      {'M', "dates"}, {'m', "spans of time"}, {'V', "raw bytes"}};
  for (const auto& [letter, name] : kOthers)
    if (kind == letter) return fmt::format("{}, '{}'", name, code.substr(0, 16));
  return fmt::format("type '{}'", code.substr(0, 16));
}

bool takes(Elements elements, ElementType type) {
  return elements == Elements::numbers || is_float(type) == (elements == Elements::floats);
}

std::string_view taken_text(Elements elements) {
  switch (elements) {
    case Elements::floats:
      return "must be float32 or float64";
    case Elements::integers:
      return "must hold integers";
    case Elements::numbers:
      break;
  }
  return "must be float32, float64, bool or integers";
}

bool is_float(ElementType type) {
  return type == ElementType::float32 || type == ElementType::float64;
}

std::string shape_text(const std::vector<std::uint64_t>& shape) {
  return fmt::format("({})", fmt::join(shape, ", "));
}

std::uint64_t array_bytes(ElementType type, const std::vector<std::uint64_t>& shape,
                          const Place& place) {
  // A zero hides no overflow: (2^40, 2^40, 0) is as wrong as without the zero.
  std::uint64_t bytes = element_size(type), held = bytes;
  for (const std::uint64_t size : shape) {
    held *= size;
    if (size > 0 && __builtin_mul_overflow(bytes, size, &bytes)) bytes = ~std::uint64_t{0};
    if (bytes >> 62 != 0) {
      place.refuse("promises " + shape_text(shape) + " elements", "must hold what it promises");
    }
  }
  return held;
}

void Array::expect_dimensions(std::size_t dimensions) const {
  if (shape.size() != dimensions) {
    place.refuse(fmt::format("has {} dimensions, {}", shape.size(), shape_text(shape)),
                 fmt::format("must have {}", dimensions));
  }
  if (std::find(shape.begin(), shape.end(), 0U) != shape.end())
    place.refuse("is empty, " + shape_text(shape), "must hold elements");
}

Eigen::MatrixXd Array::matrix() const {
  expect_dimensions(2);
  place.require_memory(count() * 2 * sizeof(double));  // by rows, then by columns
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rows(shape[0], shape[1]);
  convert(*this, rows.data());
  expect_finite(*this, rows.allFinite());
  return rows;
}

Eigen::VectorXd Array::vector() const {
  expect_dimensions(1);
  place.require_memory(count() * sizeof(double));
  Eigen::VectorXd values(shape[0]);
  convert(*this, values.data());
  expect_finite(*this, values.allFinite());
  return values;
}

std::vector<std::int32_t> Array::integers() const {
  expect_dimensions(1);
  if (is_float(type)) {
    place.refuse(fmt::format("holds {}", element_name(type)), taken_text(Elements::integers));
  }
  std::vector<std::int32_t> out(count());
  with_elements(*this, [&](const auto* values) {
    for (std::size_t i = 0; i < out.size(); ++i) {
      // An int8 is a number here.  NOLINTNEXTLINE(bugprone-signed-char-misuse)
      out[i] = static_cast<std::int32_t>(values[i]);
      const bool same_sign = (values[i] < 0) == (out[i] < 0);
      if (!same_sign ||
          static_cast<std::remove_cvref_t<decltype(values[i])>>(out[i]) != values[i]) {
        place.refuse(fmt::format("holds {}", values[i]), "must be within int32");
      }
    }
  });
  return out;
}

CaseValues Array::cases() && {
  if (shape.size() < 2) {
    place.refuse(fmt::format("has {} dimensions, {}", shape.size(), shape_text(shape)),
                 "must have two or more: cases, then units");
  }
  if (count() == 0) place.refuse("is empty, " + shape_text(shape), "must hold elements");
  const auto units = static_cast<Eigen::Index>(count() / shape[0]);
  if (element_size(type) == 1 && type != ElementType::int8) return {std::move(bytes), units};
  if (are_levels(*this)) {
    CaseValues::Levels levels(count());
    convert(*this, levels.data());
    return {std::move(levels), units};
  }
  place.require_memory(count() * sizeof(float));
  Eigen::MatrixXf out(units, shape[0]);
  convert(*this, out.data());
  if (is_float(type) && !out.allFinite()) {
    place.refuse("holds NaN, infinity or a number beyond float32", "must be finite");
  }
  return out;
}

void read_elements(ByteSource& source, Array& array) {
  array.place = source.place();
  array.bytes = source.take(array_bytes(array.type, array.shape, array.place), "data");
  source.expect_end("data");
}

void from_fortran_order(Array& array) {
  const std::size_t dimensions = array.shape.size(), size = element_size(array.type);
  if (dimensions < 2 || array.bytes.empty()) return;
  std::vector<std::uint64_t> stride(dimensions, size), index(dimensions, 0);
  for (std::size_t d = 1; d < dimensions; ++d) stride[d] = stride[d - 1] * array.shape[d - 1];
  array.place.require_memory(array.bytes.size());
  std::vector<unsigned char> ordered(array.bytes.size());
  std::uint64_t from = 0;
  for (std::uint64_t to = 0; to < ordered.size(); to += size) {
    std::memcpy(ordered.data() + to, array.bytes.data() + from, size);
    for (std::size_t d = dimensions; d-- > 0;) {  // count up in C order, the last index first
      from += stride[d];
      if (++index[d] < array.shape[d]) break;
      from -= stride[d] * array.shape[d];
      index[d] = 0;
    }
  }
  array.bytes = std::move(ordered);
}

}  // namespace boltzmark
