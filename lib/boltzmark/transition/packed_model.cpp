#include <fmt/format.h>

#include <cmath>

#include "boltzmark/core/error.hpp"
#include "boltzmark/transition/panel.hpp"
#include "boltzmark/transition/sweep.hpp"

namespace boltzmark {
namespace {

std::size_t panels(int units) { return static_cast<std::size_t>((units + kPanel - 1) / kPanel); }

float narrow(double value) {
  const auto single = static_cast<float>(value);
  if (!std::isfinite(single))
    throw InvalidArgument(
        fmt::format("parameter = {} (must be within the range of float32)", value));
  return single;
}

std::vector<float> pad_to_panels(const Eigen::VectorXd& values) {
  std::vector<float> padded(panels(static_cast<int>(values.size())) * kPanel, 0.0F);
  for (Eigen::Index i = 0; i < values.size(); ++i) padded[i] = narrow(values[i]);
  return padded;
}

// weight(neighbour, unit) into [panel][neighbour][unit in panel].
template <class Weight>
PackedModel::Inlet pack_inlet(int neighbour, int neighbour_size, int size, const Weight& weight) {
  PackedModel::Inlet inlet{neighbour, neighbour_size, {}};
  inlet.panels.assign(panels(size) * neighbour_size * kPanel, 0.0F);
  for (int unit = 0; unit < size; ++unit) {
    const std::size_t panel = static_cast<std::size_t>(unit / kPanel) * neighbour_size * kPanel;
    float* out = inlet.panels.data() + panel + unit % kPanel;
    for (int j = 0; j < neighbour_size; ++j)
      out[static_cast<std::size_t>(j) * kPanel] = narrow(weight(j, unit));
  }
  return inlet;
}

}  // namespace

PackedModel::PackedModel(const Layered& model, const Base& base) {
  if (!model.is_binary())
    throw InvalidArgument("model (must have Bernoulli units only: the block sweep is binary)");
  if (static_cast<int>(base.logits.size()) != model.layers())
    throw InvalidArgument(
        fmt::format("base = {} layers (must be {})", base.logits.size(), model.layers()));
  for (int l = 0; l < model.layers(); ++l) {
    if (base.logits[l].size() != model.size(l))
      throw InvalidArgument(fmt::format("base layer {} = {} units (must be {})", l,
                                        base.logits[l].size(), model.size(l)));
    PackedLayer& layer = layers_.emplace_back();
    layer.size = model.size(l);
    layer.bias = pad_to_panels(model.bias(l));
    layer.base_logit = pad_to_panels(base.logits[l]);
    if (l > 0) {
      const Eigen::MatrixXd& below = model.weights(l - 1);
      layer.inlets.push_back(pack_inlet(l - 1, model.size(l - 1), layer.size,
                                        [&](int j, int unit) { return below(j, unit); }));
    }
    if (l + 1 < model.layers()) {
      const Eigen::MatrixXd& above = model.weights(l);
      layer.inlets.push_back(pack_inlet(l + 1, model.size(l + 1), layer.size,
                                        [&](int j, int unit) { return above(unit, j); }));
    }
  }
}

}  // namespace boltzmark
