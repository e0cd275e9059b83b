#include "boltzmark/io/discriminative_file.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "boltzmark/io/formats/file_kind.hpp"
#include "boltzmark/io/model_arrays.hpp"

namespace boltzmark {
namespace {

Unit read_hidden_unit(const Npz& file) {
  if (!file.contains("units")) return Unit::bernoulli();
  const Array array = file.read("units");
  const std::vector<std::int32_t> codes = array.integers();
  if (codes.size() != 1)
    array.place.refuse(fmt::format("has {} codes", codes.size()),
                       "must have 1, that of the hidden units");
  return as_file_fault(file.path(), [&] { return Unit::from_code(codes[0]); });
}

}  // namespace

bool is_discriminative_file(const std::string& path) {
  return file_kind(path) == FileKind::zip && Npz(path).contains("U");
}

DiscriminativeRbm read_discriminative(const std::string& path) {
  const Npz file(path);
  const Unit unit = read_hidden_unit(file);
  const Array weights = describe_floats(file, "W"), classes = describe_floats(file, "U");
  weights.expect_dimensions(2);
  classes.expect_dimensions(2);
  if (classes.shape[0] != weights.shape[1])
    classes.place.refuse("has shape " + shape_text(classes.shape),
                         fmt::format("must have {} rows, the hidden units of W", weights.shape[1]));
  expect_layer_vector(file, "c", weights.shape[1], "the hidden units of W [inputs, hidden]");
  expect_layer_vector(file, "b", classes.shape[1], "the classes of U [hidden, classes]");
  refuse_unread(file, {"W"}, "a discriminative RBM does not have",
                "must hold W, U, b, c, units and binarise");
  Eigen::MatrixXd input_weights = read_floats(file, "W").matrix().transpose();
  Eigen::MatrixXd class_weights = read_floats(file, "U").matrix();
  Eigen::VectorXd hidden_bias = read_layer_vector(file, "c", input_weights.rows());
  Eigen::VectorXd class_bias = read_layer_vector(file, "b", class_weights.cols());
  return as_file_fault(path, [&] {
    return DiscriminativeRbm(unit, std::move(input_weights), std::move(class_weights),
                             std::move(hidden_bias), std::move(class_bias));
  });
}

std::optional<BinariseOptions> read_binarise(const std::string& path) {
  const Npz file(path);
  if (!file.contains("binarise")) return std::nullopt;
  return as_file_fault(path, [&] { return parse_binarise(file.read_text("binarise")); });
}

void write_discriminative(const DiscriminativeRbm& model, const std::string& path,
                          const std::optional<BinariseOptions>& binarise) {
  if (!path.ends_with(".npz"))
    throw InvalidArgument(fmt::format("path = {} (must end in .npz)", path));
  NpzWriter file(path);
  file.add("W", Eigen::MatrixXd(model.input_weights().transpose()));
  file.add("U", model.class_weights());
  file.add("b", model.class_bias());
  file.add("c", model.hidden_bias());
  const std::vector<std::int32_t> units{model.hidden_unit().code()};
  file.add("units", units, {1});
  if (binarise) {
    const std::string text = binarise_text(*binarise);
    file.add("binarise", std::vector<std::uint8_t>(text.begin(), text.end()), {text.size()});
  }
  file.commit();
}

}  // namespace boltzmark
