#pragma once

#include <Eigen/Core>
#include <set>
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
/// Refuses a file that holds an array which is named as a layer's parameters are, or nearly, and is none
/// of those read, as where one has a wrong name: "has an array NAME that WHAT (MUST)".
void refuse_unread(const Npz& file, const std::set<std::string>& read, const std::string& what,
                   const std::string& must);
/// Holds the shape of one layer's values to the weights, without reading them.  Throws  DataError
void expect_layer_vector(
    const Npz& file, const std::string& name, std::uint64_t units,
    const std::string& whose = "the units of the weights, W [visible, hidden]");

/// Reads the values of one layer's units; they must agree with the weights in number.
/// Throws  DataError
Eigen::VectorXd read_layer_vector(const Npz& file, const std::string& name, Eigen::Index units);

}  // namespace boltzmark
