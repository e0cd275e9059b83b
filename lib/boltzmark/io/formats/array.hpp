#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "boltzmark/io/place.hpp"
#include "boltzmark/model/case_values.hpp"

namespace boltzmark {

/// The type of an array's elements in a file.
enum class ElementType {
  boolean,
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  float32,
  float64
};

/// Returns the bytes of one element.
std::size_t element_size(ElementType type);
/// Names a type as NumPy does: "bool", "uint8", "float64".
std::string_view element_name(ElementType type);
/// Returns a type's code in .npy headers: "|b1", "|u1", "<f8"; and the type of a code, if there is one.
std::string_view element_code(ElementType type);
std::optional<ElementType> element_of_code(std::string_view code);
bool is_float(ElementType type);
/// Names what any code of a .npy header stands for, as NumPy does where it has a name: "float16",
/// "big-endian int32", "text, '<U8'".
std::string type_text(std::string_view code);

/// What types a reader of an array takes.
enum class Elements { numbers, floats, integers };
bool takes(Elements elements, ElementType type);
/// Tells which these are, for messages: "must be float32 or float64".
std::string_view taken_text(Elements elements);
/// Returns the type of elements in memory.
constexpr ElementType element_of(const double*) { return ElementType::float64; }
constexpr ElementType element_of(const float*) { return ElementType::float32; }
constexpr ElementType element_of(const std::int32_t*) { return ElementType::int32; }
constexpr ElementType element_of(const std::int64_t*) { return ElementType::int64; }
constexpr ElementType element_of(const std::uint8_t*) { return ElementType::uint8; }

/// Writes a shape for people: "(784, 500)".
std::string shape_text(const std::vector<std::uint64_t>& shape);

/// Counts the bytes of an array, checked against overflow.
/// Throws  DataError if there are more than 2^62
std::uint64_t array_bytes(ElementType type, const std::vector<std::uint64_t>& shape,
                          const Place& place);

/// An array as a file holds it: elements in C order (the last index runs fastest).
struct Array {
  ElementType type = ElementType::float64;
  std::vector<std::uint64_t> shape;
  std::vector<unsigned char> bytes;
  Place place;  ///< where it stands, for messages

  std::uint64_t count() const { return bytes.size() / element_size(type); }

  /// Throws  DataError unless the array has this many dimensions, none of them zero
  void expect_dimensions(std::size_t dimensions) const;

  /// Converts to double precision.  Throws  DataError if the array has not two (one) dimensions,
  /// is empty, or holds NaN or infinity
  Eigen::MatrixXd matrix() const;
  Eigen::VectorXd vector() const;
  /// Converts integers or booleans of one dimension.  Throws  DataError if it holds other types or
  /// values outside int32
  std::vector<std::int32_t> integers() const;
  /// Converts an array whose first index is the case; bytes are taken over, not copied.
  /// Shapes  [units x cases], units = product of the other dimensions
  /// Throws  DataError if it has fewer than two dimensions, is empty, or holds NaN, infinity or
  /// numbers beyond float32
  CaseValues cases() &&;
};

class ByteSource;
/// Reads all elements of an array whose type and shape are known, to the source's end.
/// Throws  DataError if the source does not hold exactly these, or they do not fit into memory
void read_elements(ByteSource& source, Array& array);

/// Reorders elements from Fortran order (the first index runs fastest) to C order.
void from_fortran_order(Array& array);

}  // namespace boltzmark
