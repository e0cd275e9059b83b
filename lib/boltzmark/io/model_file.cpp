#include "boltzmark/io/model_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "boltzmark/core/checkpoint.hpp"
#include "boltzmark/core/error.hpp"
#include "boltzmark/io/formats/file_kind.hpp"
#include "boltzmark/io/formats/mat.hpp"
#include "boltzmark/io/formats/npz.hpp"

namespace boltzmark {
namespace {

/// Calls make(); a value that the model itself refuses is a fault of the file.
template <class Make>
auto as_file_fault(const std::string& path, Make&& make) {
  try {
    return make();
  } catch (const InvalidArgument& error) {
    throw DataError(path + ": " + error.what());
  }
}

// Named as a layer's parameters are, or nearly: W1, w1, b2, sigma0, sigma, unit, Units.
bool seems_parameter(const std::string& name) {
  const std::size_t digits = name.size() - (name.find_last_not_of("0123456789") + 1);
  std::string stem = name.substr(0, name.size() - digits);
  std::transform(stem.begin(), stem.end(), stem.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return stem == "w" || stem == "sigma" || (stem == "b" && digits > 0) ||
         (digits == 0 && (stem == "unit" || (stem == "units" && name != stem)));
}

/// Reads an array of float32 or float64.  Throws  DataError if it is missing or of another type
Array read_floats(const Npz& file, const std::string& name) {
  return file.read(name, Elements::floats);
}

/// Reads its type and shape alone.  Throws  as read_floats
Array describe_floats(const Npz& file, const std::string& name) {
  return file.describe(name, Elements::floats);
}

/// Refuses a file that holds an array which is named as a layer's parameters are, or nearly, and is none
/// of those read, as where one has a wrong name: "has an array NAME that WHAT (MUST)".
void refuse_unread(const Npz& file, const std::set<std::string>& read, const std::string& what,
                   const std::string& must) {
  for (const std::string& name : file.names())
    if (seems_parameter(name) && !read.contains(name))
      Place{file.path()}.refuse(fmt::format("has an array {} that {}", name, what), must);
}

/// Holds the shape of one layer's values to the weights, without reading them.  Throws  DataError
void expect_layer_vector(
    const Npz& file, const std::string& name, std::uint64_t units,
    const std::string& whose = "the units of the weights, W [visible, hidden]") {
  const Array array = describe_floats(file, name);
  array.expect_dimensions(1);
  if (array.shape[0] != units) {
    array.place.refuse(fmt::format("has {} values", array.shape[0]),
                       fmt::format("must have {}, {}", units, whose));
  }
}

/// Reads the values of one layer's units; they must agree with the weights in number.
/// Throws  DataError
Eigen::VectorXd read_layer_vector(const Npz& file, const std::string& name, Eigen::Index units) {
  expect_layer_vector(file, name, static_cast<std::uint64_t>(units));
  return read_floats(file, name).vector();
}

std::vector<Unit> read_units(const Npz& file, std::size_t layers) {
  if (!file.contains("units")) return std::vector<Unit>(layers, Unit::bernoulli());
  const Array header = file.describe("units", Elements::integers);
  header.expect_dimensions(1);
  if (header.shape[0] != layers)
    header.place.refuse(fmt::format("has {} codes", header.shape[0]),
                        fmt::format("must have {}, one per layer", layers));
  const Array array = file.read("units", Elements::integers);
  std::vector<Unit> units;
  for (const std::int32_t code : array.integers()) {
    units.push_back(as_file_fault(file.path(), [&] { return Unit::from_code(code); }));
  }
  return units;
}

/// Names the arrays of weights and biases.
void name_arrays(const Npz& file, std::vector<std::string>& weights,
                 std::vector<std::string>& biases) {
  if (file.contains("U"))
    Place{file.path()}.refuse("is a discriminative RBM: it has an array U",
                              "must be a model of the visible units");
  const bool rbm = file.contains("W"), deep = file.contains("W0");
  if (rbm == deep) {
    Place{file.path()}.refuse(rbm ? "has both W and W0" : "has no array W",
                              "must hold W, b, c or W0, W1, .., b0, b1, ..");
  }
  if (rbm) {
    weights = {"W"};
    biases = {"b", "c"};
    return;
  }
  for (int l = 0; file.contains(fmt::format("W{}", l)); ++l) {
    weights.push_back(fmt::format("W{}", l));
    biases.push_back(fmt::format("b{}", l));
  }
  biases.push_back(fmt::format("b{}", weights.size()));
}

/// Holds the shapes of a model's arrays to each other, before any array is read.
void check_shapes(const Npz& file, const std::vector<std::string>& weights,
                  const std::vector<std::string>& biases) {
  std::uint64_t units = 0;  // of the layer above the last weights
  for (std::size_t l = 0; l < biases.size(); ++l) {
    if (l < weights.size()) {
      const Array array = describe_floats(file, weights[l]);
      array.expect_dimensions(2);
      if (l > 0 && array.shape[0] != units)
        array.place.refuse(
            "has shape " + shape_text(array.shape),
            fmt::format("must have {} rows, the columns of {}", units, weights[l - 1]));
      expect_layer_vector(file, biases[l], array.shape[0]);
      units = array.shape[1];
    } else {
      expect_layer_vector(file, biases[l], units);
    }
  }
}

/// Refuses a file some of whose layers would be left out, as where an array has a wrong name.
void refuse_left_over(const Npz& file, const std::vector<std::string>& weights,
                      const std::vector<std::string>& biases, const std::vector<Unit>& units) {
  std::set<std::string> used(weights.begin(), weights.end());
  used.insert(biases.begin(), biases.end());
  for (std::size_t l = 0; l < units.size(); ++l)
    if (units[l].has_scale()) used.insert(fmt::format("sigma{}", l));
  refuse_unread(
      file, used, fmt::format("none of its {} layers reads", units.size()),
      "must hold W, b, c or W0, W1, .., b0, b1, .., units, and sigma0, .. of Gaussian layers");
}

Layered read_npz_model(const std::string& path) {
  const Npz file(path);
  std::vector<std::string> weight_names, bias_names;
  name_arrays(file, weight_names, bias_names);
  check_shapes(file, weight_names, bias_names);
  const std::vector<Unit> units = read_units(file, bias_names.size());
  refuse_left_over(file, weight_names, bias_names, units);
  std::vector<Eigen::MatrixXd> weights;
  for (const auto& name : weight_names) weights.push_back(read_floats(file, name).matrix());
  std::vector<Layer> layers(bias_names.size());
  for (std::size_t l = 0; l < layers.size(); ++l) {
    const Eigen::Index size = l == 0 ? weights[0].rows() : weights[l - 1].cols();
    layers[l].unit = units[l];
    layers[l].bias = read_layer_vector(file, bias_names[l], size);
    if (!units[l].has_scale()) continue;
    layers[l].sigma0 = read_layer_vector(file, fmt::format("sigma{}", l), size);
  }
  return as_file_fault(path, [&] { return Layered(std::move(layers), std::move(weights)); });
}

/// MATLAB has no vectors: a row or a column of biases will do.
Eigen::VectorXd read_mat_bias(const Array& array, Eigen::Index units) {
  const Eigen::MatrixXd matrix = array.matrix();
  if (std::min(matrix.rows(), matrix.cols()) != 1 || matrix.size() != units) {
    array.place.refuse("has shape " + shape_text(array.shape),
                       fmt::format("must be 1 x {}, as vishid says", units));
  }
  return matrix.reshaped();
}

Layered read_mat_model(const std::string& path) {
  const std::set<std::string> names = {"vishid", "visbiases", "hidbiases"};
  // Those of layers above or beside, as deep and class models of these names have them.
  const std::set<std::string> others = {"hidpen", "penbiases", "labhid", "labbiases", "labpen"};
  std::set<std::string> all = names;
  all.insert(others.begin(), others.end());
  const auto arrays = read_mat(path, all);
  for (const auto& name : others)
    if (arrays.contains(name))
      Place{path}.refuse(
          fmt::format("has a matrix {} that an RBM has not", name),
          "must hold vishid, visbiases, hidbiases alone; write a deep model as .npz with W0, "
          "W1, .., b0, b1, ..");
  for (const auto& name : names) {
    if (!arrays.contains(name)) {
      Place{path}.refuse("has no matrix " + name, "must hold vishid, visbiases, hidbiases");
    }
  }
  Eigen::MatrixXd weights = arrays.at("vishid").matrix();
  Eigen::VectorXd visible = read_mat_bias(arrays.at("visbiases"), weights.rows());
  Eigen::VectorXd hidden = read_mat_bias(arrays.at("hidbiases"), weights.cols());
  return Layered::rbm(std::move(weights), std::move(visible), std::move(hidden));
}

/// Adds double values in the precision of the file; flat ones are vectors.
void add(NpzWriter& file, const std::string& name, const Eigen::MatrixXd& values, bool flat,
         FilePrecision precision) {
  if (precision == FilePrecision::float64) {
    return flat ? file.add(name, Eigen::VectorXd(values.reshaped())) : file.add(name, values);
  }
  const Eigen::MatrixXf narrow = values.cast<float>();
  if (!flat) return file.add(name, narrow);
  const auto count = static_cast<std::size_t>(narrow.size());
  file.add(name, std::span<const float>(narrow.data(), count), {count});
}

/// Hashes all parameters.
std::int64_t digest_of(const Layered& model) {
  CheckpointWriter bytes;
  for (int l = 0; l < model.layers(); ++l) {
    bytes.write(static_cast<std::uint64_t>(model.size(l)));
    bytes.write(static_cast<std::uint64_t>(model.layer(l).unit.code()));
    bytes.write(model.bias(l));
    bytes.write(model.layer(l).sigma0);
    if (l + 1 < model.layers()) bytes.write(model.weights(l));
  }
  return static_cast<std::int64_t>(hash_bytes(bytes.finish()));
}

void write_npz_model(NpzWriter& file, const Layered& model, FilePrecision precision) {
  for (int l = 0; l + 1 < model.layers(); ++l) {
    add(file, model.is_rbm() ? "W" : fmt::format("W{}", l), model.weights(l), false, precision);
  }
  std::vector<std::int32_t> units;
  for (int l = 0; l < model.layers(); ++l) {
    const std::string name = model.is_rbm() ? (l == 0 ? "b" : "c") : fmt::format("b{}", l);
    add(file, name, model.bias(l), true, precision);
    units.push_back(model.layer(l).unit.code());
    if (model.layer(l).sigma0.size() == 0) continue;
    add(file, fmt::format("sigma{}", l), model.layer(l).sigma0, true, precision);
  }
  if (!model.is_binary()) file.add("units", units, {units.size()});
}

/// Reads one finite number, a scalar or the only one in an array.
double read_number(const Npz& file, std::string_view name) {
  Array array = file.read(name);
  if (array.shape.empty()) array.shape = {1};
  const Eigen::VectorXd values = array.vector();
  if (values.size() != 1)
    array.place.refuse("has " + shape_text(array.shape), "must be one number");
  return values[0];
}

/// Tells whether a file names other parameters, by their hash, than a model's as those that its log Z
/// is of. A file that names none was written by something else, and is taken at its word.
bool names_other_parameters(const Npz& file, const Layered& model) {
  if (!file.contains("log_z_of")) return false;
  const Array of = file.read("log_z_of");
  const std::int64_t digest = digest_of(model);
  if (of.type != ElementType::int64 || of.bytes.size() != sizeof digest)
    of.place.refuse("has " + shape_text(of.shape), "must be one int64");
  return std::memcmp(of.bytes.data(), &digest, sizeof digest) != 0;
}

void write_mat_model(const Layered& model, const std::string& path, FilePrecision precision) {
  if (!model.is_rbm() || !model.is_binary()) {
    throw InvalidArgument(
        "model = layers or units that .mat cannot name (must be a Bernoulli RBM; write .npz)");
  }
  const auto type =
      precision == FilePrecision::float32 ? ElementType::float32 : ElementType::float64;
  AtomicFile file(path);
  write_mat_header(file);
  write_mat_matrix(file, "vishid", model.weights(0), type);
  write_mat_matrix(file, "visbiases", model.bias(0).transpose(), type);
  write_mat_matrix(file, "hidbiases", model.bias(1).transpose(), type);
  file.commit();
}

/// Refuses parameters that float32 would turn into infinity, or scales into zero.
void expect_float32(const Layered& model) {
  bool fits = true;
  for (const auto& weights : model.weights()) fits = fits && weights.cast<float>().allFinite();
  for (int l = 0; l < model.layers(); ++l) {
    const Layer& layer = model.layer(l);
    fits = fits && layer.bias.cast<float>().allFinite();
    const Eigen::VectorXf scales = layer.sigma0.cast<float>();
    fits = fits && scales.allFinite() && (scales.array() > 0).all();
  }
  if (!fits) throw InvalidArgument("precision = float32 (must be float64 for such parameters)");
}

Unit read_hidden_unit(const Npz& file) {
  if (!file.contains("units")) return Unit::bernoulli();
  const Array array = file.read("units", Elements::integers);
  const std::vector<std::int32_t> codes = array.integers();
  if (codes.size() != 1)
    array.place.refuse(fmt::format("has {} codes", codes.size()),
                       "must have 1, that of the hidden units");
  return as_file_fault(file.path(), [&] { return Unit::from_code(codes[0]); });
}

}  // namespace

Layered read_model(const std::string& path) {
  switch (file_kind(path)) {
    case FileKind::zip:
      return read_npz_model(path);
    case FileKind::matlab:
      return read_mat_model(path);
    default:
      Place{path}.refuse("is no model file", "must be .npz, or .mat of MATLAB 5");
  }
}

void write_model(const Layered& model, const std::string& path, FilePrecision precision) {
  if (precision == FilePrecision::float32) expect_float32(model);
  if (path.ends_with(".npz")) {
    NpzWriter file(path);
    write_npz_model(file, model, precision);
    return file.commit();
  }
  if (path.ends_with(".mat")) return write_mat_model(model, path, precision);
  throw InvalidArgument(fmt::format("path = {} (must end in .npz or .mat)", path));
}

void write_known_model(const Layered& model, const KnownLogZ& known, const std::string& path) {
  if (!std::isfinite(known.log_z) || std::isinf(known.error) || known.error < 0)
    throw InvalidArgument(
        fmt::format("log_z = {} within {} (must be finite)", known.log_z, known.error));
  if (!path.ends_with(".npz"))
    throw InvalidArgument(fmt::format("path = {} (must end in .npz)", path));
  NpzWriter file(path);
  write_npz_model(file, model, FilePrecision::float64);
  file.add("log_z", Eigen::VectorXd(Eigen::VectorXd::Constant(1, known.log_z)));
  if (!std::isnan(known.error))
    file.add("log_z_error", Eigen::VectorXd(Eigen::VectorXd::Constant(1, known.error)));
  if (!known.by.empty())
    file.add("log_z_by", std::vector<std::uint8_t>(known.by.begin(), known.by.end()),
             {known.by.size()});
  file.add("log_z_of", std::vector<std::int64_t>{digest_of(model)}, {1});
  file.commit();
}

std::optional<KnownLogZ> read_known_log_z(const std::string& path, const Layered& model) {
  if (file_kind(path) != FileKind::zip) return std::nullopt;
  const Npz file(path);
  if (!file.contains("log_z")) return std::nullopt;
  KnownLogZ known{.log_z = read_number(file, "log_z"),
                  .error = std::numeric_limits<double>::quiet_NaN()};
  if (file.contains("log_z_error")) known.error = read_number(file, "log_z_error");
  if (known.error < 0)
    Place{path}.refuse(fmt::format("has log_z_error = {}", known.error), "must not be negative");
  if (file.contains("log_z_by")) known.by = file.read_text("log_z_by");
  if (names_other_parameters(file, model)) return std::nullopt;
  return known;
}

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
