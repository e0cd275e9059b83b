#pragma once

#include <Eigen/Core>
#include <string>

#include "boltzmark/core/error.hpp"
#include "boltzmark/io/formats/npz.hpp"

namespace boltzmark {

/// Calls make(); a value that the model itself refuses is a fault of the file.
template <class Make>
auto as_file_fault(const std::string& path, Make&& make) {
  try {
    return make();
  } catch (const InvalidArgument& error) {
    throw DataError(path + ": " + error.what());
  }
}

/// Reads an array of float32 or float64.  Throws  DataError if it is missing or of another type
Array read_floats(const Npz& file, const std::string& name);
/// Reads its type and shape alone.  Throws  as read_floats
Array describe_floats(const Npz& file, const std::string& name);
/// Holds the shape of one layer's values to the weights, without reading them.  Throws  DataError
void expect_layer_vector(const Npz& file, const std::string& name, std::uint64_t units);

/// Reads the values of one layer's units; they must agree with the weights in number.
/// Throws  DataError
Eigen::VectorXd read_layer_vector(const Npz& file, const std::string& name, Eigen::Index units);

}  // namespace boltzmark
