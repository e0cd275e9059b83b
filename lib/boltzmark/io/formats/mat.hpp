#pragma once

#include <map>
#include <set>
#include <string>

#include "boltzmark/core/atomic_file.hpp"
#include "boltzmark/io/formats/array.hpp"

namespace boltzmark {

/// Reads named real numeric matrices of a MATLAB 5 (-v6, -v7) .mat file, and skips other variables.
/// Throws  DataError if the file is damaged, big endian, another version, or a wanted variable is
///   no real matrix of plain numbers
std::map<std::string, Array> read_mat(const std::string& path, const std::set<std::string>& wanted);

/// Appends the 128 bytes that start a MATLAB 5 file.
void write_mat_header(AtomicFile& file);
/// Appends a real matrix, double or single.  Throws  DataError if it does not fit
void write_mat_matrix(AtomicFile& file, const std::string& name, const Eigen::MatrixXd& matrix,
                      ElementType type);

}  // namespace boltzmark
