#include "boltzmark/transition/log_density.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/simd.hpp"
#include "boltzmark/transition/kernels/layer_update.hpp"
#include "boltzmark/transition/kernels/panel.hpp"
#include "boltzmark/transition/kernels/threads.hpp"
#include "boltzmark/transition/tempered_density.hpp"

namespace boltzmark {
namespace {

void check_shapes(const PackedModel& model, const Chains& chains, int first_chain) {
  bool same = model.layers() == chains.layers();
  for (int l = 0; same && l < model.layers(); ++l)
    same = model.size(l) == chains.size(l) && model.layer(l).unit == chains.unit(l);
  if (!same) throw InvalidArgument("chains (must have the model's layers, sizes and units)");
  if (first_chain < 0 || first_chain >= chains.chains())
    throw InvalidArgument(
        fmt::format("first_chain = {} (must be 0..{})", first_chain, chains.chains() - 1));
}

std::size_t padded_units(const PackedModel& model, int layer) {
  return static_cast<std::size_t>(panels_of(model.size(layer))) * kPanel;
}

// The even layers' biases, over the scale of stored states.
std::vector<double> stored_bias(const PackedModel& model, int layer) {
  const PackedModel::PackedLayer& packed = model.layer(layer);
  std::vector<double> bias(packed.bias.begin(), packed.bias.begin() + packed.size);
  for (double& value : bias) value /= static_cast<double>(packed.unit.state_scale());
  return bias;
}

// E is bilinear in the two sides: the even ones' biases, and the odd ones' inputs, which have the rest.
void add_even(const PackedModel& model, const Chains& chains, int layer, int first, int last,
              double* sums) {
  const std::vector<double> bias = stored_bias(model, layer);
  for (int b = first; b < last; ++b)
    add_linear(bias.data(), {.units = chains.size(layer), .states = chains.block(layer, b)},
               sums + static_cast<std::size_t>(b) * kChainBlock);
}

void add_odd(const PackedModel& model, const Chains& chains, int layer, int first, int last,
             float* inputs, double* sums) {
  fill_inputs({.model = &model,
               .layer = layer,
               .chains = &chains,
               .first_block = first,
               .last_block = last},
              inputs);
  const std::vector<double> no_logits(static_cast<std::size_t>(chains.size(layer)), 0.0);
  for (int b = first; b < last; ++b)
    add_joint({.unit = chains.unit(layer),
               .units = chains.size(layer),
               .logits = no_logits.data(),
               .states = chains.block(layer, b),
               .inputs = inputs + b * padded_units(model, layer) * kChainBlock},
              sums + static_cast<std::size_t>(b) * kChainBlock);
}

}  // namespace

std::vector<double> log_density(const PackedModel& model, const Chains& chains, int first_chain) {
  simd_path();
  check_shapes(model, chains, first_chain);
  const auto width = static_cast<std::size_t>(chains.blocks()) * kChainBlock;
  std::vector<double> sums(width, 0.0);
  std::vector<std::vector<float>> inputs(static_cast<std::size_t>(model.layers()));
  double products = 0;
  for (int l = 1; l < model.layers(); l += 2) {
    inputs[l].resize(width * padded_units(model, l));
    for (const PackedModel::Coupling& coupling : model.layer(l).couplings)
      products += static_cast<double>(coupling.neighbour_size) * model.size(l);
  }
  const int start = first_chain / kChainBlock, blocks = chains.blocks() - start;
  const int groups = std::min(blocks, threads_worth(products * blocks * kChainBlock));
  parallel_for(static_cast<std::size_t>(groups), [&](std::size_t g) {
    const int group = static_cast<int>(g);
    const int first = start + group * blocks / groups, last = start + (group + 1) * blocks / groups;
    for (int l = 0; l < model.layers(); ++l)
      if (l % 2 == 0)
        add_even(model, chains, l, first, last, sums.data());
      else
        add_odd(model, chains, l, first, last, inputs[l].data(), sums.data());
  });
  return {sums.begin() + first_chain, sums.begin() + chains.chains()};
}

}  // namespace boltzmark
