#pragma once

#include <string>

#include "boltzmark/io/formats/array.hpp"
#include "boltzmark/io/formats/byte_source.hpp"

namespace boltzmark {

/// Reads an IDX file of unsigned bytes (magic 0x0000080d, d dimensions), MNIST's format.
/// Throws  DataError if the source is anything else, or does not hold exactly what it promises
Array read_idx(ByteSource& source);

/// Writes the header of an IDX file of unsigned bytes of this shape.
std::string idx_header(const std::vector<std::uint64_t>& shape);

/// Reads LeCun's binary matrix format (magic 0x1e3d4c51..56), small NORB's, little endian.
/// Throws  DataError if the source is anything else, or does not hold exactly what it promises
Array read_binary_matrix(ByteSource& source);

/// Writes the header of a binary matrix of float32, float64, int32, uint8 or int16.
std::string binary_matrix_header(ElementType type, const std::vector<std::uint64_t>& shape);

/// Tells whether a file's first bytes are those of an IDX file, a binary matrix.
bool starts_as_idx(std::string_view head);
bool starts_as_binary_matrix(std::string_view head);

}  // namespace boltzmark
