#include "boltzmark/transition/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/core/simd.hpp"
#include "boltzmark/transition/kernels/layer_update.hpp"
#include "boltzmark/transition/kernels/panel.hpp"

namespace boltzmark {
namespace {

void check(const PackedModel& model, const Chains& chains, const SweepOptions& options) {
  if (!chains.fit(model))
    throw InvalidArgument("chains (must have the model's layers, sizes and units)");
  for (int l = 0; l < model.layers(); ++l) require_law(options.rule, model.layer(l).unit);
  if (options.sweeps < 0)
    throw InvalidArgument(fmt::format("sweeps = {} (must not be negative)", options.sweeps));
  const auto given = options.inverse_temperatures.size();
  if (given != 0 && given != static_cast<std::size_t>(chains.chains()))
    throw InvalidArgument(
        fmt::format("inverse_temperatures = {} values (must be {})", given, chains.chains()));
  for (int l = 0; given != 0 && l < model.layers(); ++l)
    if (model.layer(l).unit.has_scale())
      throw InvalidArgument(
          fmt::format("units of layer {} = Gaussian (must be others, to be tempered)", l));
  for (const float b : options.inverse_temperatures)
    if (!(b >= 0 && b <= 1))
      throw InvalidArgument(fmt::format("inverse temperature = {} (must lie in [0, 1])", b));
}

void check_layer(const PackedModel& model, int layer) {
  if (layer < 0 || layer >= model.layers())
    throw InvalidArgument(fmt::format("layer = {} (must be 0..{})", layer, model.layers() - 1));
}

void check_inputs(const PackedModel& model, const Chains& chains, int layer,
                  std::span<const float> inputs) {
  if (const std::size_t size = block_inputs(model, layer) * chains.blocks(); inputs.size() != size)
    throw InvalidArgument(fmt::format("inputs = {} values (must be {})", inputs.size(), size));
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

// How threads share the work. Groups of chains never meet inside a sweep. Groups of units meet
// after every layer and pack all neighbours' states each, but read their own part of the weights
// only, and are more even where blocks of chains are few.
struct Split {
  int chain_groups = 1, unit_groups = 1;
};

// Units are dealt out in pairs of panels, whole stripes of tiles.
constexpr int kPanelStep = 2;
int steps_of(int count, int step) { return (count + step - 1) / step; }

// The share of the largest of so many even groups.
double largest_share(int count, int groups) {
  return static_cast<double>(steps_of(count, groups)) / count;
}

bool worth_sharing(const PackedModel& model, int layer, int blocks, int threads) {
  constexpr double kWorkPerBarrier = 2e6;  // multiply-adds of a thread that are worth a barrier
  double neighbours = 0;
  for (const PackedModel::Coupling& coupling : model.layer(layer).couplings)
    neighbours += coupling.neighbour_size;
  return neighbours * model.size(layer) * blocks * kChainBlock / threads >= kWorkPerBarrier;
}

Split split_of(const PackedModel& model, const Chains& chains, int sweeps) {
  constexpr double kPacking = 1.05;  // what packing states again costs, about
  const int blocks = chains.blocks();
  const int threads = threads_worth(multiply_adds(model, chains.chains(), sweeps));
  const Split by_chains{.chain_groups = std::min(blocks, threads)};
  double share = 0;
  for (int l = 0; l < model.layers(); ++l) {
    const bool rows = model.layer(l).form == PackedModel::Form::rows;
    if (threads == 1 || rows || !worth_sharing(model, l, blocks, threads)) return by_chains;
    const int steps = steps_of(panels_of(model.size(l)), kPanelStep);
    share = std::max(share, largest_share(steps, std::min(steps, threads)));
  }
  if (kPacking * share >= largest_share(blocks, by_chains.chain_groups)) return by_chains;
  return {.unit_groups = threads};
}

// Calls body(first, last) for groups of 0..count-1 whose edges are multiples of `step`.
template <class Body>
void for_groups(int count, int groups, int step, const Body& body) {
  if (groups == 1) return body(0, count);
  const int steps = steps_of(count, step);
  parallel_for(static_cast<std::size_t>(groups), [&](std::size_t g) {
    const auto edge = [&](std::size_t i) {
      return std::min(count, static_cast<int>(i * steps / groups) * step);
    };
    if (edge(g) < edge(g + 1)) body(edge(g), edge(g + 1));
  });
}

// Calls update(part) for groups of a layer's units.
template <class Job, class Update>
void for_unit_groups(const Job& job, int groups, const Update& update) {
  for_groups(panels_of(job.model->size(job.layer)), groups, kPanelStep, [&](int first, int last) {
    Job part = job;
    part.first_panel = first;
    part.last_panel = last;
    update(part);
  });
}

void update_parity(LayerUpdate& job, int parity, int unit_groups) {
  for (int l = parity; l < job.model->layers(); l += 2) {
    job.layer = l;
    for_unit_groups(job, unit_groups, update_layer);
  }
}

// Calls steps(job, groups of units) for groups of chains.
template <class Steps>
void run(const PackedModel& model, Chains& chains, const Draws& draws, const SweepOptions& options,
         const Steps& steps) {
  simd_path();
  check(model, chains, options);
  const std::vector<float> betas = pad_to_blocks(options.inverse_temperatures, chains.blocks());
  const Split split = split_of(model, chains, options.sweeps);
  for_groups(chains.blocks(), split.chain_groups, 1, [&](int first, int last) {
    LayerUpdate job{.model = &model,
                    .chains = &chains,
                    .first_block = first,
                    .last_block = last,
                    .draws = &draws,
                    .inverse_temperatures = betas.empty() ? nullptr : betas.data(),
                    .rule = options.rule};
    steps(job, split.unit_groups);
  });
}

// Calls update(part) for the parts of one layer's work.
template <class Job, class Update>
void for_parts(const Job& job, const Update& update) {
  const Split split = split_of(*job.model, *job.chains, 1);
  for_groups(job.chains->blocks(), split.chain_groups, 1, [&](int first, int last) {
    Job part = job;
    part.first_block = first;
    part.last_block = last;
    for_unit_groups(part, split.unit_groups, update);
  });
}

void check_parity(int parity) {
  if (parity != 0 && parity != 1)
    throw InvalidArgument(fmt::format("parity = {} (must be 0 or 1)", parity));
}

}  // namespace

void sweep(const PackedModel& model, Chains& chains, const Draws& draws,
           const SweepOptions& options) {
  run(model, chains, draws, options, [&](LayerUpdate& job, int unit_groups) {
    for (int s = 0; s < options.sweeps; ++s) {
      job.sweep = options.first_sweep + static_cast<std::uint64_t>(s);
      update_parity(job, 1, unit_groups);
      update_parity(job, 0, unit_groups);
    }
  });
}

void half_sweep(const PackedModel& model, Chains& chains, const Draws& draws,
                const SweepOptions& options, int parity) {
  check_parity(parity);
  run(model, chains, draws, options, [&](LayerUpdate& job, int unit_groups) {
    job.sweep = options.first_sweep;
    update_parity(job, parity, unit_groups);
  });
}

void fill_inputs(const PackedModel& model, const Chains& chains, int layer,
                 std::vector<float>& inputs) {
  simd_path();
  check(model, chains, {});
  check_layer(model, layer);
  inputs.resize(block_inputs(model, layer) * chains.blocks());
  for_parts(LayerInputs{.model = &model, .layer = layer, .chains = &chains},
            [&](const LayerInputs& part) { fill_inputs(part, inputs.data()); });
}

void fill_inputs(const PackedModel& model, const Chains& chains, SideInputs& inputs) {
  check_parity(inputs.parity);
  inputs.layers.resize(static_cast<std::size_t>((model.layers() + 1 - inputs.parity) / 2));
  for (int l = inputs.parity; l < model.layers(); l += 2)
    fill_inputs(model, chains, l, inputs.layers[static_cast<std::size_t>(l / 2)]);
}

Eigen::MatrixXd layer_inputs(const PackedModel& model, const Chains& chains, int layer) {
  std::vector<float> inputs;
  fill_inputs(model, chains, layer, inputs);
  const Eigen::Index padded = static_cast<Eigen::Index>(panels_of(chains.size(layer))) * kPanel;
  Eigen::MatrixXd all(chains.size(layer), chains.chains());
  for (int c = 0; c < chains.chains(); ++c)
    for (int u = 0; u < chains.size(layer); ++u)
      all(u, c) = inputs[static_cast<std::size_t>((c / kChainBlock * padded + u) * kChainBlock +
                                                  c % kChainBlock)];
  return all;
}

void sweep(const PackedModel& model, Chains& chains, const Draws& draws,
           const SweepOptions& options, SideInputs& even_inputs) {
  even_inputs.parity = 0;
  check(model, chains, options);
  if (options.sweeps == 0) return fill_inputs(model, chains, even_inputs);
  SweepOptions part = options;
  part.sweeps = options.sweeps - 1;
  sweep(model, chains, draws, part);
  part.first_sweep += static_cast<std::uint64_t>(part.sweeps);
  part.sweeps = 1;
  half_sweep(model, chains, draws, part, 1);
  fill_inputs(model, chains, even_inputs);
  for (int l = 0; l < model.layers(); l += 2)
    draw_layer(model, chains, draws, part, l, even_inputs.layers[static_cast<std::size_t>(l / 2)]);
}

void draw_layer(const PackedModel& model, Chains& chains, const Draws& draws,
                const SweepOptions& options, int layer, std::span<const float> inputs) {
  check_layer(model, layer);
  check_inputs(model, chains, layer, inputs);
  run(model, chains, draws, options, [&](LayerUpdate& job, int unit_groups) {
    job.layer = layer;
    job.sweep = options.first_sweep;
    job.inputs = inputs.data();
    for_unit_groups(job, unit_groups, update_layer);
  });
}

void set_means(const PackedModel& model, Chains& chains, int layer, std::span<const float> inputs) {
  check_layer(model, layer);
  simd_path();
  check(model, chains, {});
  if (!inputs.empty()) check_inputs(model, chains, layer, inputs);
  for_parts(LayerUpdate{.model = &model,
                        .layer = layer,
                        .chains = &chains,
                        .inputs = inputs.empty() ? nullptr : inputs.data()},
            fill_means);
}

}  // namespace boltzmark
