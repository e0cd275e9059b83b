#pragma once

#include <string>
#include <vector>

#include "boltzmark/io/array.hpp"
#include "boltzmark/io/byte_source.hpp"

namespace boltzmark {

/// The first bytes of every .npy file.
inline constexpr std::string_view kNpyMagic{"\x93NUMPY", 6};

/// Reads an array in NumPy's .npy format, versions 1 to 3: bool, integers, float32 and float64,
/// little endian, C or Fortran order.
/// Throws  DataError if the source is anything else, or does not hold exactly what it promises
Array read_npy(ByteSource& source);

/// Writes the header of an array in C order, format version 1.0.
std::string npy_header(ElementType type, const std::vector<std::uint64_t>& shape);

}  // namespace boltzmark
