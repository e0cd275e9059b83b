#include <fmt/format.h>

#include <utility>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/simd.hpp"
#include "boltzmark/transition/kernels/panel.hpp"
#include "boltzmark/transition/sweep.hpp"
#include "boltzmark/transition/tempered_density.hpp"

namespace boltzmark {
namespace {

void check(const Layered& model, const Chains& chains) {
  if (!chains.fit(model))
    throw InvalidArgument("chains (must have the model's layers, sizes and units)");
  for (int l = 0; l < model.layers(); ++l)
    if (model.layer(l).unit.has_scale())
      throw InvalidArgument(fmt::format("layer {} = Gaussian (must have a bounded energy)", l));
}

DensityBlock states_of(const Chains& chains, int layer, int block) {
  return {.units = chains.size(layer), .states = chains.block(layer, block)};
}

double scale_of(const Chains& chains, int layer) {
  return static_cast<double>(chains.unit(layer).state_scale());
}

/// D of every chain, added up block by block.
class Ratios {
 public:
  Ratios(const Layered& model, const Base& base, const Chains& chains)
      : model_(model),
        base_(base),
        chains_(chains),
        sums_(static_cast<std::size_t>(chains.blocks()) * kChainBlock,
              log_normaliser(model, base)) {}

  void add_biases(int layer) {
    const Eigen::VectorXd gain =
        (model_.bias(layer) - base_.logits[layer]) / scale_of(chains_, layer);
    for (int b = 0; b < chains_.blocks(); ++b)
      add_linear(gain.data(), states_of(chains_, layer, b), block(b));
  }
  void add_weights(int lower) {
    const double share = 1 / (scale_of(chains_, lower) * scale_of(chains_, lower + 1));
    for (int b = 0; b < chains_.blocks(); ++b)
      add_bilinear(model_.weights(lower).data(), share, states_of(chains_, lower, b),
                   states_of(chains_, lower + 1, b), block(b));
  }
  void add_inputs(int layer, std::span<const float> inputs) {
    const std::size_t stride = inputs.size() / static_cast<std::size_t>(chains_.blocks());
    for (int b = 0; b < chains_.blocks(); ++b)
      add_joint({.unit = chains_.unit(layer),
                 .units = chains_.size(layer),
                 .logits = base_.logits[layer].data(),
                 .states = chains_.block(layer, b),
                 .inputs = inputs.data() + static_cast<std::size_t>(b) * stride},
                block(b));
  }
  std::vector<double> take() {
    sums_.resize(static_cast<std::size_t>(chains_.chains()));
    return std::move(sums_);
  }

 private:
  double* block(int b) { return sums_.data() + static_cast<std::size_t>(b) * kChainBlock; }

  const Layered& model_;
  const Base& base_;
  const Chains& chains_;
  std::vector<double> sums_;
};

void check_odd_inputs(const Chains& chains, std::span<const std::vector<float>> inputs) {
  bool fit = inputs.size() == static_cast<std::size_t>(chains.layers() / 2);
  for (std::size_t i = 0; fit && i < inputs.size(); ++i)
    fit = inputs[i].size() == static_cast<std::size_t>(panels_of(chains.size(2 * i + 1))) *
                                  static_cast<std::size_t>(chains.blocks()) * kPanelSize;
  if (!fit) throw InvalidArgument("odd_inputs (must be those of every odd layer, by fill_inputs)");
}

}  // namespace

std::vector<double> log_ratio(const Layered& model, const Base& base, const Chains& chains) {
  simd_path();
  check(model, chains);
  Ratios ratios(model, base, chains);
  for (int l = 0; l < model.layers(); ++l) {
    ratios.add_biases(l);
    if (l + 1 < model.layers()) ratios.add_weights(l);
  }
  return ratios.take();
}

std::vector<double> log_ratio(const Layered& model, const Base& base, const Chains& chains,
                              std::span<const std::vector<float>> odd_inputs) {
  simd_path();
  check(model, chains);
  check_odd_inputs(chains, odd_inputs);
  Ratios ratios(model, base, chains);
  for (int l = 0; l < model.layers(); ++l)
    if (l % 2 == 0)
      ratios.add_biases(l);
    else
      ratios.add_inputs(l, odd_inputs[static_cast<std::size_t>(l / 2)]);
  return ratios.take();
}

}  // namespace boltzmark
