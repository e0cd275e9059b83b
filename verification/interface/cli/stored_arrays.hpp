#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "boltzmark/io/formats/npz.hpp"

namespace cli_test {

/// An array of a dump, to be changed.
struct StoredArray {
  std::vector<double> values;
  std::vector<std::uint64_t> shape;
  bool integers = false;
};
using StoredArrays = std::map<std::string, StoredArray>;

inline StoredArrays read_stored(const std::string& path) {
  const boltzmark::Npz file(path);
  StoredArrays all;
  for (const std::string& name : file.names()) {
    boltzmark::Array array = file.read(name);
    StoredArray& stored = all[name];
    stored.shape = array.shape;
    stored.integers = !boltzmark::is_float(array.type);
    array.shape = {array.count()};
    const Eigen::VectorXd values = array.vector();
    stored.values.assign(values.begin(), values.end());
  }
  return all;
}

inline std::string write_stored(const StoredArrays& all, const std::string& path) {
  boltzmark::NpzWriter file(path);
  for (const auto& [name, array] : all) {
    const std::vector<std::int32_t> integers(array.values.begin(), array.values.end());
    if (array.integers)
      file.add(name, integers, array.shape);
    else
      file.add(name, array.values, array.shape);
  }
  file.commit();
  return path;
}

}  // namespace cli_test
