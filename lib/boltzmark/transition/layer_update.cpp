#include "boltzmark/transition/layer_update.hpp"

#include <algorithm>

#include "boltzmark/transition/panel.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boltzmark/transition/layer_update.cpp"
#include <hwy/foreach_target.h>
// Highway wants its own headers after foreach_target.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "boltzmark/transition/input_kernels.hpp"
#include "boltzmark/transition/unit_kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace boltzmark::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using kernels::Floats, kernels::Inputs, kernels::Vector, kernels::Words, kernels::kLanes;

// log f_b = b log f + (1 - b) log p1.
HWY_INLINE Vector temper(Vector input, const float* HWY_RESTRICT inverse_temperatures,
                         float base_logit) {
  const Floats d;
  const Vector b = hn::LoadU(d, inverse_temperatures);
  return hn::MulAdd(b, input, hn::Mul(hn::Sub(hn::Set(d, 1.0F), b), hn::Set(d, base_logit)));
}

// Draws the next states by `next`: from input, state and draw to the next state, as stored.
template <class Next>
HWY_INLINE void update_tile(const LayerUpdate& job, int panel, int block, const float* inputs,
                            const Next& next) {
  const Floats d;
  const Words w;
  const PackedModel::PackedLayer& layer = job.model->layer(job.layer);
  const int rows = std::min(kPanel, layer.size - panel * kPanel);
  HWY_ALIGN std::uint32_t draws[kTile];
  job.draws->fill(draws,
                  {.layer = static_cast<std::uint32_t>(job.layer),
                   .first_unit = static_cast<std::uint32_t>(panel * kPanel),
                   .units = kPanel,
                   .first_chain = static_cast<std::uint32_t>(job.first_chain + block * kChainBlock),
                   .chains = kChainBlock,
                   .sweep = job.sweep});
  float* HWY_RESTRICT states =
      job.chains->block(job.layer, block) + static_cast<std::size_t>(panel) * kTile;
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < kChainBlock; v += kLanes) {
      const int at = r * kChainBlock + v;
      Vector input = hn::LoadU(d, inputs + at);
      if (job.inverse_temperatures != nullptr)
        input = temper(input, job.inverse_temperatures + block * kChainBlock + v,
                       layer.base_logit[panel * kPanel + r]);
      hn::StoreU(next(input, hn::LoadU(d, states + at), hn::LoadU(w, draws + at)), d, states + at);
    }
}

HWY_INLINE int panels_of(const LayerInputs& job) {
  return (job.model->layer(job.layer).size + kPanel - 1) / kPanel;
}

// Calls body(panel, block, its inputs) for every tile of the job, whose inputs are computed.
template <class Body>
HWY_INLINE void for_each_tile(const LayerInputs& job, const Body& body) {
  const int panels = panels_of(job);
  const Inputs inputs(job);
  HWY_ALIGN float sums[kernels::kTogether * kTile];
  for (int panel = 0; panel < panels; ++panel)
    for (int block = job.first_block; block < job.last_block;) {
      const int together = inputs.together(block);
      inputs.sum(panel, block, together, sums);
      for (int b = 0; b < together; ++b, ++block) body(panel, block, sums + b * kTile);
    }
}

// The same for a job whose inputs may be known.
template <class Body>
HWY_INLINE void for_each_tile(const LayerUpdate& job, const Body& body) {
  if (job.inputs == nullptr) return for_each_tile(job.reads(), body);
  const int panels = panels_of(job.reads());
  for (int panel = 0; panel < panels; ++panel)
    for (int block = job.first_block; block < job.last_block; ++block)
      body(panel, block, job.inputs + (static_cast<std::size_t>(block) * panels + panel) * kTile);
}

template <class Next>
void update(const LayerUpdate& job, const Next& next) {
  for_each_tile(job, [&](int panel, int block, const float* inputs)
                         HWY_ATTR { update_tile(job, panel, block, inputs, next); });
}

void update_dispatched(const LayerUpdate& job) {
  kernels::visit_next(job.rule, job.model->layer(job.layer).unit,
                      [&](const auto& next) { update(job, next); });
}

void inputs(const LayerInputs& job, float* HWY_RESTRICT out) {
  const int panels = panels_of(job);
  for_each_tile(job, [&](int panel, int block, const float* sums) {
    std::copy_n(sums, kTile, out + (static_cast<std::size_t>(block) * panels + panel) * kTile);
  });
}

template <class Mean>
void fill_layer(const LayerUpdate& job, const Mean& mean) {
  const Floats d;
  const int size = job.model->layer(job.layer).size;
  for_each_tile(job, [&](int panel, int block, const float* sums) HWY_ATTR {
    const int rows = std::min(kPanel, size - panel * kPanel);
    float* HWY_RESTRICT states =
        job.chains->block(job.layer, block) + static_cast<std::size_t>(panel) * kTile;
    for (int at = 0; at < rows * kChainBlock; at += kLanes)
      hn::StoreU(mean(hn::LoadU(d, sums + at)), d, states + at);
  });
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
void fill_inputs(const LayerInputs& job, float* out) { HWY_DYNAMIC_DISPATCH(inputs)(job, out); }
void fill_means(const LayerUpdate& job) { HWY_DYNAMIC_DISPATCH(means)(job); }

}  // namespace boltzmark
#endif
