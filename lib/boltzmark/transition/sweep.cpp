#include "boltzmark/transition/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/simd.hpp"
#include "boltzmark/transition/layer_update.hpp"
#include "boltzmark/transition/panel.hpp"
#include "boltzmark/transition/threads.hpp"

namespace boltzmark {
namespace {

void check(const PackedModel& model, const Chains& chains, const SweepOptions& options) {
  bool same = model.layers() == chains.layers();
  for (int l = 0; same && l < model.layers(); ++l)
    same = model.size(l) == chains.size(l) && model.layer(l).unit == chains.unit(l);
  if (!same) throw InvalidArgument("chains (must have the model's layers, sizes and units)");
  if (options.sweeps < 0)
    throw InvalidArgument(fmt::format("sweeps = {} (must not be negative)", options.sweeps));
  const auto given = options.inverse_temperatures.size();
  if (given != 0 && given != static_cast<std::size_t>(chains.chains()))
    throw InvalidArgument(
        fmt::format("inverse_temperatures = {} values (must be {})", given, chains.chains()));
  for (const float b : options.inverse_temperatures)
    if (!(b >= 0 && b <= 1))
      throw InvalidArgument(fmt::format("inverse temperature = {} (must lie in [0, 1])", b));
}

void check_layer(const PackedModel& model, int layer) {
  if (layer < 0 || layer >= model.layers())
    throw InvalidArgument(fmt::format("layer = {} (must be 0..{})", layer, model.layers() - 1));
}

std::size_t inputs_size(const PackedModel& model, const Chains& chains, int layer) {
  const auto panels = static_cast<std::size_t>((model.size(layer) + kPanel - 1) / kPanel);
  return panels * static_cast<std::size_t>(chains.blocks()) * kTile;
}

void check_inputs(const PackedModel& model, const Chains& chains, int layer,
                  std::span<const float> inputs) {
  if (inputs.size() != inputs_size(model, chains, layer))
    throw InvalidArgument(fmt::format("inputs = {} values (must be {})", inputs.size(),
                                      inputs_size(model, chains, layer)));
}

std::vector<float> pad_to_blocks(std::span<const float> values, int blocks) {
  std::vector<float> padded(values.begin(), values.end());
  if (!padded.empty()) padded.resize(static_cast<std::size_t>(blocks) * kChainBlock, 1.0F);
  return padded;
}

double multiply_adds(const PackedModel& model, int chains, int sweeps) {
  double products = 0;
  for (int l = 0; l + 1 < model.layers(); ++l) products += 2.0 * model.size(l) * model.size(l + 1);
  return products * chains * sweeps;
}

// Splits the blocks into one group per thread: chains never meet inside a sweep.
template <class Body>
void for_block_groups(const PackedModel& model, const Chains& chains, int sweeps,
                      const Body& body) {
  const int blocks = chains.blocks();
  const int groups = std::min(blocks, threads_worth(multiply_adds(model, chains.chains(), sweeps)));
  if (groups == 1) return body(0, blocks);
  parallel_for(static_cast<std::size_t>(groups), [&](std::size_t g) {
    const auto edge = [&](std::size_t i) { return static_cast<int>(i * blocks / groups); };
    body(edge(g), edge(g + 1));
  });
}

void update_parity(LayerUpdate& job, int parity) {
  for (int l = parity; l < job.model->layers(); l += 2) {
    job.layer = l;
    update_layer(job);
  }
}

template <class Steps>
void run(const PackedModel& model, Chains& chains, const Draws& draws, const SweepOptions& options,
         const Steps& steps) {
  simd_path();
  check(model, chains, options);
  const std::vector<float> betas = pad_to_blocks(options.inverse_temperatures, chains.blocks());
  for_block_groups(model, chains, options.sweeps, [&](int first, int last) {
    LayerUpdate job{.model = &model,
                    .chains = &chains,
                    .first_block = first,
                    .last_block = last,
                    .draws = &draws,
                    .inverse_temperatures = betas.empty() ? nullptr : betas.data(),
                    .rule = options.rule};
    steps(job);
  });
}

}  // namespace

void sweep(const PackedModel& model, Chains& chains, const Draws& draws,
           const SweepOptions& options) {
  run(model, chains, draws, options, [&](LayerUpdate& job) {
    for (int s = 0; s < options.sweeps; ++s) {
      job.sweep = options.first_sweep + static_cast<std::uint64_t>(s);
      update_parity(job, 1);
      update_parity(job, 0);
    }
  });
}

void half_sweep(const PackedModel& model, Chains& chains, const Draws& draws,
                const SweepOptions& options, int parity) {
  run(model, chains, draws, options, [&](LayerUpdate& job) {
    job.sweep = options.first_sweep;
    update_parity(job, parity);
  });
}

void fill_inputs(const PackedModel& model, const Chains& chains, int layer,
                 std::vector<float>& inputs) {
  simd_path();
  check(model, chains, {});
  check_layer(model, layer);
  inputs.resize(inputs_size(model, chains, layer));
  for_block_groups(model, chains, 1, [&](int first, int last) {
    fill_inputs({.model = &model,
                 .layer = layer,
                 .chains = &chains,
                 .first_block = first,
                 .last_block = last},
                inputs.data());
  });
}

void draw_layer(const PackedModel& model, Chains& chains, const Draws& draws,
                const SweepOptions& options, int layer, std::span<const float> inputs) {
  check_layer(model, layer);
  check_inputs(model, chains, layer, inputs);
  run(model, chains, draws, options, [&](LayerUpdate& job) {
    job.layer = layer;
    job.sweep = options.first_sweep;
    job.inputs = inputs.data();
    update_layer(job);
  });
}

void set_means(const PackedModel& model, Chains& chains, int layer, std::span<const float> inputs) {
  check_layer(model, layer);
  simd_path();
  check(model, chains, {});
  if (!inputs.empty()) check_inputs(model, chains, layer, inputs);
  for_block_groups(model, chains, 1, [&](int first, int last) {
    fill_means({.model = &model,
                .layer = layer,
                .chains = &chains,
                .first_block = first,
                .last_block = last,
                .inputs = inputs.empty() ? nullptr : inputs.data()});
  });
}

}  // namespace boltzmark
