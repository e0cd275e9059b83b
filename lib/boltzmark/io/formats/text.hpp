#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "boltzmark/io/formats/byte_source.hpp"

namespace boltzmark {

/// A table of numbers as a text file holds it, with the words of a leading label column if it has
/// one.
struct TextTable {
  Eigen::MatrixXf cases;            ///< [columns x rows]: a row of the file is a case
  std::vector<std::string> labels;  ///< one per row, or none
  std::vector<std::string> header;  ///< the names that a first row of names holds, or none
};

/// How the values of a row are separated.
enum class Separator { spaces, commas };

/// Reads a table of numbers: a row per line, the same number of values in each; empty lines are
/// skipped, and so are a byte order mark and lines that begin with #, but not in a file with labels, where
/// # may be one. `.amat` separates by spaces or tabs, `.csv` by commas; of the latter a first row whose
/// every word is a name, as no number begins, is a header.
/// Throws  DataError naming row and column if a value is no finite number, rows differ in length, a
/// line ends in CR alone, or the table is empty or beyond 2^28 values
TextTable read_text(ByteSource& source, Separator separator, bool label_column = false);

/// Tells whether a file's first bytes can be text.
bool starts_as_text(std::string_view head);

}  // namespace boltzmark
