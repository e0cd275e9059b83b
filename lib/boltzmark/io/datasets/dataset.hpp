#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "boltzmark/io/datasets/binarise.hpp"
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

/// A data set that load_dataset knows by name.
struct DatasetInfo {
  std::string name;
  std::string description;
  int units = 0;
  int train_cases = 0;
  int test_cases = 0;
  bool available = false;  ///< false if its file is in none of data_folders()
  bool stored = true;      ///< in files; false: made on the fly
};

/// Loads a data set: NAME[:train|valid|test|fit], or a file (IDX, .amat, .csv, .npy, binary matrix;
/// each also gzipped; or states of chains, .npz; recognised by content).
/// A file is looked for in data_folders(), too, if its path is relative and not there.
///   Grey levels, bytes of images beyond 0 and 1, go through `binarise`; so do whole numbers of
///   0..255 that are no images where it is asked for. Other values stay as they are.
/// Without a split, a name means `default_split`; a file is always whole.
/// Throws  DataError if there is no such set or file, it is damaged, a registered set's SHA-256 is
/// not that on record, or a threshold leaves nearly all cases of a file without an edge (95 %: every unit
/// alike); InvalidArgument if default_split is none
Dataset load_dataset(std::string_view spec, const BinariseOptions& binarise = {},
                     std::string_view default_split = "train");

/// Tells whether a file holds states of a model, `visible` [.., units] and no weights, as `sample` and
/// `modes` write them.  Throws  DataError if it is a damaged .npz file
bool holds_states(const std::string& path);

/// Lists the data sets with names, for `list datasets`.
std::vector<DatasetInfo> registered_datasets();

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
