#include "boltzmark/transition/layer_update.hpp"

#include <algorithm>

#include "boltzmark/transition/panel.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boltzmark/transition/layer_update.cpp"
#include <hwy/foreach_target.h>
// Highway wants its own headers after foreach_target.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "boltzmark/transition/unit_kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace boltzmark::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using kernels::Floats, kernels::Vector, kernels::Words, kernels::kLanes;
constexpr int kVectors = kChainBlock / kLanes;              // per row of a tile
constexpr int kRows = std::clamp(8 / kVectors, 1, kPanel);  // accumulators that fit the registers

// Inputs of kRows units x kChainBlock chains. Each is one sequential sum over the neighbours; where
// products are exact, as with states 0 and +-1, it does not depend on the SIMD path or on how tiles
// are grouped.
HWY_INLINE void accumulate_rows(const PackedModel::PackedLayer& layer, const Chains& chains,
                                int block, int first_unit, float* HWY_RESTRICT inputs) {
  const Floats d;
  Vector sums[kRows][kVectors];
  for (int r = 0; r < kRows; ++r)
    for (int v = 0; v < kVectors; ++v) sums[r][v] = hn::Set(d, layer.bias[first_unit + r]);
  for (const PackedModel::Inlet& inlet : layer.inlets) {
    const float* HWY_RESTRICT states = chains.block(inlet.neighbour, block);
    const float* HWY_RESTRICT weights =
        inlet.panels.data() +
        static_cast<std::size_t>(first_unit / kPanel) * inlet.neighbour_size * kPanel +
        first_unit % kPanel;
    for (int j = 0; j < inlet.neighbour_size; ++j, weights += kPanel, states += kChainBlock) {
      Vector state[kVectors];
      for (int v = 0; v < kVectors; ++v) state[v] = hn::LoadU(d, states + v * kLanes);
      for (int r = 0; r < kRows; ++r) {
        const Vector weight = hn::Set(d, weights[r]);
        for (int v = 0; v < kVectors; ++v) sums[r][v] = hn::MulAdd(weight, state[v], sums[r][v]);
      }
    }
  }
  for (int r = 0; r < kRows; ++r)
    for (int v = 0; v < kVectors; ++v)
      hn::StoreU(sums[r][v], d, inputs + r * kChainBlock + v * kLanes);
}

HWY_INLINE void accumulate_panel(const PackedModel::PackedLayer& layer, const Chains& chains,
                                 int block, int panel, float* HWY_RESTRICT inputs) {
  for (int r = 0; r < kPanel; r += kRows)
    accumulate_rows(layer, chains, block, panel * kPanel + r, inputs + r * kChainBlock);
}

// log f_b = b log f + (1 - b) log p1.
HWY_INLINE Vector temper(Vector input, const float* HWY_RESTRICT inverse_temperatures,
                         float base_logit) {
  const Floats d;
  const Vector b = hn::LoadU(d, inverse_temperatures);
  return hn::MulAdd(b, input, hn::Mul(hn::Sub(hn::Set(d, 1.0F), b), hn::Set(d, base_logit)));
}

// Draws the next states by `next`: from input, state and draw to the next state, as stored.
template <class Next>
void update(const LayerUpdate& job, const Next& next) {
  const Floats d;
  const Words w;
  const PackedModel::PackedLayer& layer = job.model->layer(job.layer);
  const int panels = (layer.size + kPanel - 1) / kPanel;
  HWY_ALIGN float sums[kTile];
  HWY_ALIGN std::uint32_t draws[kTile];
  for (int panel = 0; panel < panels; ++panel) {
    const int rows = std::min(kPanel, layer.size - panel * kPanel);
    for (int block = job.first_block; block < job.last_block; ++block) {
      const float* inputs = sums;
      if (job.inputs != nullptr)
        inputs = job.inputs + (static_cast<std::size_t>(block) * panels + panel) * kTile;
      else
        accumulate_panel(layer, *job.chains, block, panel, sums);
      job.draws->fill(
          draws, {.layer = static_cast<std::uint32_t>(job.layer),
                  .first_unit = static_cast<std::uint32_t>(panel * kPanel),
                  .units = kPanel,
                  .first_chain = static_cast<std::uint32_t>(job.first_chain + block * kChainBlock),
                  .chains = kChainBlock,
                  .sweep = job.sweep});
      float* HWY_RESTRICT states =
          job.chains->block(job.layer, block) + static_cast<std::size_t>(panel) * kTile;
      for (int r = 0; r < rows; ++r) {
        for (int v = 0; v < kChainBlock; v += kLanes) {
          const int at = r * kChainBlock + v;
          Vector input = hn::LoadU(d, inputs + at);
          if (job.inverse_temperatures != nullptr)
            input = temper(input, job.inverse_temperatures + block * kChainBlock + v,
                           layer.base_logit[panel * kPanel + r]);
          hn::StoreU(next(input, hn::LoadU(d, states + at), hn::LoadU(w, draws + at)), d,
                     states + at);
        }
      }
    }
  }
}

void update_dispatched(const LayerUpdate& job) {
  kernels::visit_next(job.rule, job.model->layer(job.layer).unit,
                      [&](const auto& next) { update(job, next); });
}

void inputs(const LayerUpdate& job, float* HWY_RESTRICT out) {
  const PackedModel::PackedLayer& layer = job.model->layer(job.layer);
  const int panels = (layer.size + kPanel - 1) / kPanel;
  for (int panel = 0; panel < panels; ++panel)
    for (int block = job.first_block; block < job.last_block; ++block)
      accumulate_panel(layer, *job.chains, block, panel,
                       out + (static_cast<std::size_t>(block) * panels + panel) * kTile);
}

template <class Mean>
void fill_layer(const LayerUpdate& job, const Mean& mean) {
  const Floats d;
  const PackedModel::PackedLayer& layer = job.model->layer(job.layer);
  HWY_ALIGN float inputs[kTile];
  for (int panel = 0; panel * kPanel < layer.size; ++panel) {
    const int rows = std::min(kPanel, layer.size - panel * kPanel);
    for (int block = job.first_block; block < job.last_block; ++block) {
      accumulate_panel(layer, *job.chains, block, panel, inputs);
      float* HWY_RESTRICT states =
          job.chains->block(job.layer, block) + static_cast<std::size_t>(panel) * kTile;
      for (int at = 0; at < rows * kChainBlock; at += kLanes)
        hn::StoreU(mean(hn::LoadU(d, inputs + at)), d, states + at);
    }
  }
}

void means(const LayerUpdate& job) {
  kernels::visit_mean(job.model->layer(job.layer).unit,
                      [&](const auto& mean) { fill_layer(job, mean); });
}

}  // namespace boltzmark::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace boltzmark {
HWY_EXPORT(update_dispatched);
HWY_EXPORT(inputs);
HWY_EXPORT(means);

void update_layer(const LayerUpdate& job) { HWY_DYNAMIC_DISPATCH(update_dispatched)(job); }
void fill_inputs(const LayerUpdate& job, float* out) { HWY_DYNAMIC_DISPATCH(inputs)(job, out); }
void fill_means(const LayerUpdate& job) { HWY_DYNAMIC_DISPATCH(means)(job); }

}  // namespace boltzmark
#endif
