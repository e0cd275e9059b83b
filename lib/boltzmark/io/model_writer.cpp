#include <fmt/format.h>

#include "boltzmark/core/error.hpp"
#include "boltzmark/io/mat.hpp"
#include "boltzmark/io/model_file.hpp"
#include "boltzmark/io/npz.hpp"

namespace boltzmark {
namespace {

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

void write_npz_model(const Layered& model, const std::string& path, FilePrecision precision) {
  NpzWriter file(path);
  for (int l = 0; l + 1 < model.layers(); ++l) {
    add(file, model.is_rbm() ? "W" : fmt::format("W{}", l), model.weights(l), false, precision);
  }
  std::vector<std::int32_t> units;
  for (int l = 0; l < model.layers(); ++l) {
    const std::string name = model.is_rbm() ? (l == 0 ? "b" : "c") : fmt::format("b{}", l);
    add(file, name, model.bias(l), true, precision);
    units.push_back(model.layer(l).unit.code());
    if (!model.layer(l).unit.is_gaussian()) continue;
    add(file, fmt::format("sigma{}", l), model.layer(l).sigma0, true, precision);
  }
  if (!model.is_binary()) file.add("units", units, {units.size()});
  file.commit();
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
    if (layer.unit.is_gaussian()) {
      const Eigen::VectorXf scales = layer.sigma0.cast<float>();
      fits = fits && scales.allFinite() && scales.minCoeff() > 0;
    }
  }
  if (!fits) throw InvalidArgument("precision = float32 (must be float64 for such parameters)");
}

}  // namespace

void write_model(const Layered& model, const std::string& path, FilePrecision precision) {
  if (precision == FilePrecision::float32) expect_float32(model);
  if (path.ends_with(".npz")) return write_npz_model(model, path, precision);
  if (path.ends_with(".mat")) return write_mat_model(model, path, precision);
  throw InvalidArgument(fmt::format("path = {} (must end in .npz or .mat)", path));
}

}  // namespace boltzmark
