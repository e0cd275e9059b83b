#pragma once

#include <string>
#include <vector>

#include "boltzmark/io/binarise.hpp"
#include "boltzmark/model/case_values.hpp"

namespace boltzmark {

/// Cases to train or score a model on.
struct Dataset {
  std::string name;          ///< as asked for, with the split: "mnist:train", or the file's path
  CaseValues values;         ///< [units x cases]
  std::vector<int> labels;   ///< class of each case; empty if there are none
  int rows = 0;              ///< height of the images; 0 if cases are no images
  int cols = 0;              ///< width
  bool grey_levels = false;  ///< that `binarise` made values of
  bool states = false;       ///< of a model's own units: kept by chains
  std::string header = {};   ///< the line of names that a text file began with, if it did
  bool numbered = false;   ///< a text file whose first row is 0, 1, 2, .., as pandas names columns
  std::string provenance;  ///< where the cases come from, in a line
  std::string sha256;      ///< of the unpacked file; of the values as bytes for generated sets
};

/// Reads a file of cases: IDX, .amat, .csv, .npy, binary matrix, each also gzipped; or states of chains,
/// .npz; recognised by content.
///   Grey levels, bytes of images beyond 0 and 1, go through `binarise`; so do whole numbers of
///   0..255 that are no images where it is asked for. Other values stay as they are.
/// Throws  DataError if there is no such file, it is damaged, or a threshold leaves nearly all of its cases
/// without an edge (95 %: every unit alike)
Dataset read_dataset(const std::string& path, const BinariseOptions& binarise = {});

/// Tells whether a file holds states of a model, `visible` [.., units] and no weights, as `sample` and
/// `modes` write them.  Throws  DataError if it is a damaged .npz file
bool holds_states(const std::string& path);

/// Picks cases spread evenly over the data set, or over the cases of each class where there are
/// labels, as equal in number as can be; in ascending order.
/// Throws  InvalidArgument unless count is 1..cases
std::vector<int> spread_cases(const Dataset& data, int count);

/// Reads the classes of a data set's cases, whole numbers from 0: IDX of one dimension (MNIST's
/// labels), .npy of one dimension or a column, or text with one per line, after a name or none; each
/// also gzipped.
/// Throws  DataError if the file is missing or damaged, or holds anything else
std::vector<int> read_labels(const std::string& path);

}  // namespace boltzmark
