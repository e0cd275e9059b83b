#pragma once

#include <Eigen/Core>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

#include "boltzmark/core/atomic_file.hpp"
#include "boltzmark/io/formats/array.hpp"
#include "boltzmark/io/formats/byte_source.hpp"
#include "boltzmark/io/formats/zip.hpp"

namespace boltzmark {

/// The first bytes of every .npy file.
inline constexpr std::string_view kNpyMagic{"\x93NUMPY", 6};

/// Reads an array in NumPy's .npy format, versions 1 to 3: bool, integers, float32 and float64,
/// little endian, C or Fortran order; of these those asked for.
/// Throws  DataError if the source is anything else, or does not hold exactly what it promises
Array read_npy(ByteSource& source, Elements elements = Elements::numbers);

/// Writes the header of an array in C order, format version 1.0.
std::string npy_header(ElementType type, const std::vector<std::uint64_t>& shape);

/// Reads named arrays of a NumPy .npz file, one at a time.
class Npz {
 public:
  /// Throws  DataError if the file is no whole .npz file, or two members are one array: W, W.npy
  explicit Npz(const std::string& path);

  const std::string& path() const { return zip_.path(); }
  /// Lists the arrays, in the file's order, without their ending .npy.
  std::vector<std::string> names() const;
  bool contains(std::string_view name) const;
  /// Throws  DataError if there is no such array, it is damaged, or of another type
  Array read(std::string_view name, Elements elements = Elements::numbers) const;
  /// Reads an array's header alone: its type and shape, without elements.  Throws  as read
  Array describe(std::string_view name, Elements elements = Elements::numbers) const;
  /// Reads a text: bytes (uint8) in one dimension, or one string of NumPy's, of bytes or of characters.
  /// Throws  as read; if it is neither, has more than 4096 characters, or one beyond Unicode
  std::string read_text(std::string_view name) const;

 private:
  ByteSource open(std::string_view name) const;
  const ZipMember* find(std::string_view name) const;
  ZipFile zip_;
};

/// Writes named arrays to a NumPy .npz file (stored, C order); commit gives it its name.
/// Invariant  the same arrays give the same bytes
class NpzWriter {
 public:
  /// Throws  DataError if the folder cannot be written
  explicit NpzWriter(std::string path) : file_(std::move(path)) {}

  /// Adds one array.  Shapes  product of shape = values.size()
  /// Throws  InvalidArgument if the shape disagrees or the name is taken; DataError if the disk is
  /// full
  template <std::ranges::contiguous_range Values>
  void add(std::string_view name, const Values& values, const std::vector<std::uint64_t>& shape) {
    const auto* data = std::ranges::data(values);
    add_bytes(name, element_of(data), shape, data, std::ranges::size(values));
  }
  /// Adds a matrix, or a vector as an array of one dimension.  Throws  as above
  template <class Scalar, int Cols>
  void add(std::string_view name, const Eigen::Matrix<Scalar, Eigen::Dynamic, Cols>& values) {
    const auto rows = static_cast<std::uint64_t>(values.rows());
    if constexpr (Cols == 1) {
      add_bytes(name, element_of(values.data()), {rows}, values.data(), rows);
    } else {
      const Eigen::Matrix<Scalar, Eigen::Dynamic, Cols, Eigen::RowMajor> by_rows = values;
      add_bytes(name, element_of(values.data()), {rows, static_cast<std::uint64_t>(values.cols())},
                by_rows.data(), static_cast<std::size_t>(values.size()));
    }
  }

  /// Writes the directory and makes the file appear.  Throws  DataError if the disk is full
  void commit();

 private:
  void add_bytes(std::string_view name, ElementType type, const std::vector<std::uint64_t>& shape,
                 const void* data, std::size_t count);

  AtomicFile file_;
  std::uint64_t written_ = 0;
  std::vector<ZipMember> members_;
};

}  // namespace boltzmark
