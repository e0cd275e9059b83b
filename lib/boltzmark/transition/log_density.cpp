#include "boltzmark/transition/log_density.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/core/simd.hpp"
#include "boltzmark/transition/kernels/layer_update.hpp"
#include "boltzmark/transition/tempered_density.hpp"

namespace boltzmark {
namespace {

void check_shapes(const PackedModel& model, const Chains& chains, int first_chain) {
  if (!chains.fit(model))
    throw InvalidArgument("chains (must have the model's layers, sizes and units)");
  for (int l = 0; l < model.layers(); ++l)
    if (model.layer(l).unit.has_scale())
      throw InvalidArgument(
          fmt::format("units of layer {} = Gaussian (must be others, to be tempered)", l));
  if (first_chain < 0 || first_chain >= chains.chains())
    throw InvalidArgument(
        fmt::format("first_chain = {} (must be 0..{})", first_chain, chains.chains() - 1));
}

void check_inputs(const PackedModel& model, const Chains& chains, const SideInputs& inputs) {
  const auto layers = static_cast<std::size_t>((model.layers() + 1 - inputs.parity) / 2);
  bool fit = (inputs.parity == 0 || inputs.parity == 1) && inputs.layers.size() == layers;
  for (std::size_t i = 0; fit && i < layers; ++i)
    fit = inputs.layers[i].size() ==
          block_inputs(model, 2 * static_cast<int>(i) + inputs.parity) * chains.blocks();
  if (!fit)
    throw InvalidArgument("inputs (must be those of every layer of a side, by fill_inputs)");
}

/// log f less a linear function of the state, sum_l logits_l . x_l, added up block by block. E is
/// bilinear in the two sides: one side's inputs have the couplings and its own biases, the other
/// side's biases are left.
class JointSums {
 public:
  JointSums(const PackedModel& model, const Chains& chains, double constant, bool less_logits)
      : model_(model),
        chains_(chains),
        sums_(static_cast<std::size_t>(chains.blocks()) * kChainBlock, constant) {
    for (int l = 0; l < model.layers(); ++l) {
      const PackedModel::PackedLayer& layer = model.layer(l);
      logits_.emplace_back(static_cast<std::size_t>(layer.size), 0.0);
      if (less_logits) std::copy_n(layer.base_logit.begin(), layer.size, logits_.back().begin());
    }
  }

  void add_biases(int layer, int first, int last) {
    const PackedModel::PackedLayer& packed = model_.layer(layer);
    const double scale = static_cast<double>(packed.unit.state_scale());
    std::vector<double> gains = logits_[layer];
    for (std::size_t i = 0; i < gains.size(); ++i)
      gains[i] = (static_cast<double>(packed.bias[i]) - gains[i]) / scale;
    for (int b = first; b < last; ++b)
      add_linear(gains.data(), {.units = packed.size, .states = chains_.block(layer, b)}, block(b));
  }
  void add_inputs(int layer, const float* inputs, int first, int last) {
    for (int b = first; b < last; ++b)
      add_joint({.unit = chains_.unit(layer),
                 .units = chains_.size(layer),
                 .logits = logits_[layer].data(),
                 .states = chains_.block(layer, b),
                 .inputs = inputs + b * block_inputs(model_, layer)},
                block(b));
  }
  std::vector<double> from(int chain) const {
    return {sums_.begin() + chain, sums_.begin() + chains_.chains()};
  }

 private:
  double* block(int b) { return sums_.data() + static_cast<std::size_t>(b) * kChainBlock; }

  const PackedModel& model_;
  const Chains& chains_;
  std::vector<std::vector<double>> logits_;  ///< per layer
  std::vector<double> sums_;
};

// Calls body(first block, last block) for groups of the blocks from a chain's on, in parallel where
// so many multiply-adds a chain are worth it.
template <class Body>
void for_block_groups(const Chains& chains, int first_chain, double multiply_adds,
                      const Body& body) {
  const int start = first_chain / kChainBlock, blocks = chains.blocks() - start;
  const int groups = std::min(blocks, threads_worth(multiply_adds * blocks * kChainBlock));
  parallel_for(static_cast<std::size_t>(groups), [&](std::size_t g) {
    const int group = static_cast<int>(g);
    body(start + group * blocks / groups, start + (group + 1) * blocks / groups);
  });
}

}  // namespace

std::vector<double> log_density(const PackedModel& model, const Chains& chains, int first_chain) {
  simd_path();
  check_shapes(model, chains, first_chain);
  std::vector<std::vector<float>> inputs(static_cast<std::size_t>(model.layers()));
  double products = 0;
  for (int l = 1; l < model.layers(); l += 2) {
    inputs[l].resize(block_inputs(model, l) * chains.blocks());
    for (const PackedModel::Coupling& coupling : model.layer(l).couplings)
      products += static_cast<double>(coupling.neighbour_size) * model.size(l);
  }
  JointSums sums(model, chains, 0, false);
  for_block_groups(chains, first_chain, products, [&](int first, int last) {
    for (int l = 0; l < model.layers(); ++l) {
      if (l % 2 == 0) {
        sums.add_biases(l, first, last);
        continue;
      }
      const LayerInputs job{
          .model = &model, .layer = l, .chains = &chains, .first_block = first, .last_block = last};
      fill_inputs(job, inputs[l].data());
      sums.add_inputs(l, inputs[l].data(), first, last);
    }
  });
  return sums.from(first_chain);
}

std::vector<double> log_ratio(const PackedModel& model, const Chains& chains,
                              const SideInputs& inputs) {
  simd_path();
  check_shapes(model, chains, 0);
  check_inputs(model, chains, inputs);
  double units = 0;
  for (int l = 0; l < model.layers(); ++l) units += model.size(l);
  JointSums sums(model, chains, model.log_base(), true);
  for_block_groups(chains, 0, units, [&](int first, int last) {
    for (int l = 0; l < model.layers(); ++l)
      if (l % 2 == inputs.parity)
        sums.add_inputs(l, inputs.layers[static_cast<std::size_t>(l / 2)].data(), first, last);
      else
        sums.add_biases(l, first, last);
  });
  return sums.from(0);
}

std::vector<double> log_ratio(const PackedModel& model, const Chains& chains) {
  SideInputs inputs{.parity = 0};
  fill_inputs(model, chains, inputs);
  return log_ratio(model, chains, inputs);
}

}  // namespace boltzmark
