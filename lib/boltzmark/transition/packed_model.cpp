#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "boltzmark/core/error.hpp"
#include "boltzmark/transition/panel.hpp"
#include "boltzmark/transition/sweep.hpp"

namespace boltzmark {
namespace {

std::size_t panels(int units) { return static_cast<std::size_t>((units + kPanel - 1) / kPanel); }

// The largest magnitude that float32 can hold after rounding.
constexpr double kLargest = 3.4028235677973362e38;

template <class Values>
void check_range(const Values& values) {
  if (values.size() == 0 || values.cwiseAbs().maxCoeff() < kLargest) return;
  throw InvalidArgument(fmt::format("parameter = {} (must be within the range of float32)",
                                    values.cwiseAbs().maxCoeff()));
}

void fill_panels(const Eigen::VectorXd& values, std::vector<float>& padded) {
  padded.resize(panels(static_cast<int>(values.size())) * kPanel, 0.0F);
  for (Eigen::Index i = 0; i < values.size(); ++i) padded[i] = static_cast<float>(values[i]);
}

// W / s [neighbours x units] into [panel][neighbour][unit in panel].
void fill_from_columns(const Eigen::MatrixXd& weights, double inverse_scale, float* panels_out) {
  const Eigen::Index neighbours = weights.rows();
  for (Eigen::Index unit = 0; unit < weights.cols(); ++unit) {
    const double* column = weights.data() + unit * neighbours;
    float* out = panels_out + unit / kPanel * neighbours * kPanel + unit % kPanel;
    for (Eigen::Index j = 0; j < neighbours; ++j)
      out[j * kPanel] = static_cast<float>(column[j] * inverse_scale);
  }
}

// W / s [units x neighbours] into [panel][neighbour][unit in panel].
void fill_from_rows(const Eigen::MatrixXd& weights, double inverse_scale, float* panels_out) {
  const Eigen::Index units = weights.rows(), neighbours = weights.cols();
  for (Eigen::Index first = 0; first < units; first += kPanel) {
    const Eigen::Index rows = std::min<Eigen::Index>(kPanel, units - first);
    for (Eigen::Index j = 0; j < neighbours; ++j) {
      const double* column = weights.data() + j * units + first;
      float* out = panels_out + first * neighbours + j * kPanel;
      for (Eigen::Index r = 0; r < rows; ++r)
        out[r] = static_cast<float>(column[r] * inverse_scale);
    }
  }
}

void fill_layer(const Layered& model, int l, PackedModel::PackedLayer& layer) {
  fill_panels(model.bias(l), layer.bias);
  const auto inverse_scale = [&model](int neighbour) {
    return 1.0 / static_cast<double>(state_scale(model.layer(neighbour).unit));
  };
  auto inlet = layer.inlets.begin();
  if (l > 0)
    fill_from_columns(model.weights(l - 1), inverse_scale(l - 1), (inlet++)->panels.data());
  if (l + 1 < model.layers())
    fill_from_rows(model.weights(l), inverse_scale(l + 1), inlet->panels.data());
}

PackedModel::Inlet make_inlet(const Layered& model, int neighbour, int l) {
  const int size = model.size(neighbour);
  return {neighbour, size, std::vector<float>(panels(model.size(l)) * size * kPanel, 0.0F)};
}

}  // namespace

PackedModel::PackedModel(const Layered& model, const Base& base) {
  if (static_cast<int>(base.logits.size()) != model.layers())
    throw InvalidArgument(
        fmt::format("base = {} layers (must be {})", base.logits.size(), model.layers()));
  for (int l = 0; l < model.layers(); ++l) {
    if (base.logits[l].size() != model.size(l))
      throw InvalidArgument(fmt::format("base layer {} = {} units (must be {})", l,
                                        base.logits[l].size(), model.size(l)));
    if (model.layer(l).unit.is_gaussian())
      throw InvalidArgument(fmt::format("units of layer {} = Gaussian (must be others)", l));
    PackedLayer& layer = layers_.emplace_back();
    layer.size = model.size(l);
    layer.unit = model.layer(l).unit;
    check_range(base.logits[l]);
    fill_panels(base.logits[l], layer.base_logit);
    if (l > 0) layer.inlets.push_back(make_inlet(model, l - 1, l));
    if (l + 1 < model.layers()) layer.inlets.push_back(make_inlet(model, l + 1, l));
  }
  update(model);
}

void PackedModel::update(const Layered& model) {
  bool same = model.layers() == layers();
  for (int l = 0; same && l < layers(); ++l)
    same = model.size(l) == size(l) && model.layer(l).unit == layers_[l].unit;
  if (!same) throw InvalidArgument("model (must have the packed model's layers, sizes and units)");
  for (const Eigen::MatrixXd& weights : model.weights()) check_range(weights);
  for (int l = 0; l < layers(); ++l) check_range(model.bias(l));
  for (int l = 0; l < layers(); ++l) fill_layer(model, l, layers_[l]);
}

}  // namespace boltzmark
