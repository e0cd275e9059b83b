#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "boltzmark/io/dataset.hpp"

namespace boltzmark::experiments {

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

/// Loads a data set: NAME[:train|valid|test|fit], or a file as read_dataset reads it, which is looked for
/// in data_folders(), too, if its path is relative and not there.
///   Grey levels go through `binarise`.
/// Without a split, a name means `default_split`; a file is always whole.
/// Throws  DataError if there is no such set, its SHA-256 is not that on record, or as read_dataset;
/// InvalidArgument if default_split is none
Dataset load_dataset(std::string_view spec, const BinariseOptions& binarise = {},
                     std::string_view default_split = "train");

/// Lists the data sets with names, for `list datasets`.
std::vector<DatasetInfo> registered_datasets();

}  // namespace boltzmark::experiments
