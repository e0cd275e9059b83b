#pragma once

#include <string>
#include <vector>

namespace boltzmark {

/// Reads the classes of a data set's cases, whole numbers from 0: IDX of one dimension (MNIST's
/// labels), .npy of one dimension, or text with one per line; each also gzipped.
/// Throws  DataError if the file is missing or damaged, or holds anything else
std::vector<int> read_labels(const std::string& path);

}  // namespace boltzmark
