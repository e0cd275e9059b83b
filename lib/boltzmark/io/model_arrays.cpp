#include "boltzmark/io/model_arrays.hpp"

#include <fmt/format.h>

namespace boltzmark {

namespace {

void expect_floats(const Array& array) {
  if (!is_float(array.type)) {
    array.place.refuse(fmt::format("holds {}", element_name(array.type)),
                       "must be float32 or float64");
  }
}

}  // namespace

Array read_floats(const Npz& file, const std::string& name) {
  Array array = file.read(name);
  expect_floats(array);
  return array;
}

Array describe_floats(const Npz& file, const std::string& name) {
  Array array = file.describe(name);
  expect_floats(array);
  return array;
}

void expect_layer_vector(const Npz& file, const std::string& name, std::uint64_t units) {
  const Array array = describe_floats(file, name);
  array.expect_dimensions(1);
  if (array.shape[0] != units) {
    array.place.refuse(
        fmt::format("has {} values", array.shape[0]),
        fmt::format("must have {}, the units of the weights, W [visible, hidden]", units));
  }
}

Eigen::VectorXd read_layer_vector(const Npz& file, const std::string& name, Eigen::Index units) {
  expect_layer_vector(file, name, static_cast<std::uint64_t>(units));
  return read_floats(file, name).vector();
}

}  // namespace boltzmark
