#include "boltzmark/io/model_arrays.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace boltzmark {

namespace {

// Named as a layer's parameters are, or nearly: W1, w1, b2, sigma0, sigma, unit, Units.
bool seems_parameter(const std::string& name) {
  const std::size_t digits = name.size() - (name.find_last_not_of("0123456789") + 1);
  std::string stem = name.substr(0, name.size() - digits);
  std::transform(stem.begin(), stem.end(), stem.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return stem == "w" || stem == "sigma" || (stem == "b" && digits > 0) ||
         (digits == 0 && (stem == "unit" || (stem == "units" && name != stem)));
}

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

void refuse_unread(const Npz& file, const std::set<std::string>& read, const std::string& what,
                   const std::string& must) {
  for (const std::string& name : file.names())
    if (seems_parameter(name) && !read.contains(name))
      Place{file.path()}.refuse(fmt::format("has an array {} that {}", name, what), must);
}

void expect_layer_vector(const Npz& file, const std::string& name, std::uint64_t units,
                         const std::string& whose) {
  const Array array = describe_floats(file, name);
  array.expect_dimensions(1);
  if (array.shape[0] != units) {
    array.place.refuse(fmt::format("has {} values", array.shape[0]),
                       fmt::format("must have {}, {}", units, whose));
  }
}

Eigen::VectorXd read_layer_vector(const Npz& file, const std::string& name, Eigen::Index units) {
  expect_layer_vector(file, name, static_cast<std::uint64_t>(units));
  return read_floats(file, name).vector();
}

}  // namespace boltzmark
