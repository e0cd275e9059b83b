#include "boltzmark/io/model_arrays.hpp"

#include <fmt/format.h>

namespace boltzmark {

Array read_floats(const Npz& file, const std::string& name) {
  Array array = file.read(name);
  if (!is_float(array.type)) {
    array.place.refuse(fmt::format("holds {}", element_name(array.type)),
                       "must be float32 or float64");
  }
  return array;
}

Eigen::VectorXd read_layer_vector(const Npz& file, const std::string& name, Eigen::Index units) {
  const Array array = read_floats(file, name);
  Eigen::VectorXd values = array.vector();
  if (values.size() != units) {
    array.place.refuse(fmt::format("has {} values", values.size()),
                       fmt::format("must have {}, the units of the weights", units));
  }
  return values;
}

}  // namespace boltzmark
