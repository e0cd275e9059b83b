#include "boltzmark/transition/kernels/layer_update.hpp"

#include <algorithm>
#include <vector>

#include "boltzmark/core/aligned.hpp"
#include "boltzmark/core/error.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boltzmark/transition/kernels/layer_update.cpp"
#include <hwy/foreach_target.h>
// Highway wants its own headers after foreach_target.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "boltzmark/transition/kernels/input_kernels.hpp"
#include "boltzmark/transition/kernels/unit_kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace boltzmark::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using kernels::Floats, kernels::Inputs, kernels::Vector, kernels::Words, kernels::kLanes;

// log f_b = b log f + (1 - b) log p1.
HWY_INLINE Vector temper(Vector input, Vector b, Vector base_logit) {
  const Floats d;
  return hn::MulAdd(b, input, hn::Mul(hn::Sub(hn::Set(d, 1.0F), b), base_logit));
}

// Draws the next states by `next`: from input, state and draw to the next state, as stored.
template <class Next>
HWY_INLINE void update_panel(const LayerUpdate& job, int panel, int block, const float* inputs,
                             const Next& next) {
  const Floats d;
  const Words w;
  const PackedModel::PackedLayer& layer = job.model->layer(job.layer);
  const int rows = std::min(kPanel, layer.size - panel * kPanel);
  HWY_ALIGN std::uint32_t draws[kPanelSize];
  job.draws->fill(draws,
                  {.layer = static_cast<std::uint32_t>(job.layer),
                   .first_unit = static_cast<std::uint32_t>(panel * kPanel),
                   .units = kPanel,
                   .first_chain = static_cast<std::uint32_t>(job.first_chain + block * kChainBlock),
                   .chains = kChainBlock,
                   .sweep = job.sweep});
  float* HWY_RESTRICT states =
      job.chains->block(job.layer, block) + static_cast<std::size_t>(panel) * kPanelSize;
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < kChainBlock; v += kLanes) {
      const int at = r * kChainBlock + v;
      Vector input = hn::LoadU(d, inputs + at);
      if (job.inverse_temperatures != nullptr)
        input = temper(input, hn::LoadU(d, job.inverse_temperatures + block * kChainBlock + v),
                       hn::Set(d, layer.base_logit[panel * kPanel + r]));
      const Vector scale = hn::Set(d, layer.scale[panel * kPanel + r]);
      hn::StoreU(kernels::in_scale(next, scale, input, hn::LoadU(d, states + at),
                                   hn::LoadU(w, draws + at)),
                 d, states + at);
    }
}

HWY_INLINE int panels_of(const LayerInputs& job) {
  return boltzmark::panels_of(job.model->layer(job.layer).size);
}
HWY_INLINE int end_panel(const LayerInputs& job) {
  return std::min(job.last_panel, panels_of(job));
}

// Calls body(panel, block, its inputs) for every panel of the job, whose inputs are computed.
template <class Body>
HWY_INLINE void for_each_panel(const LayerInputs& job, const Body& body) {
  const int last = end_panel(job);
  const Inputs inputs(job);
  const int stripe = inputs.stripe();
  AlignedVector<float> sums(static_cast<std::size_t>(job.last_block - job.first_block) * stripe *
                            kPanelSize);
  for (int panel = job.first_panel; panel < last; panel += stripe) {
    inputs.sum(panel, sums.data());
    const int count = std::min(stripe, last - panel);
    const float* panels = sums.data();
    for (int block = job.first_block; block < job.last_block;
         ++block, panels += stripe * kPanelSize)
      for (int p = 0; p < count; ++p) body(panel + p, block, panels + p * kPanelSize);
  }
}

// The same for a job whose inputs may be known.
template <class Body>
HWY_INLINE void for_each_panel(const LayerUpdate& job, const Body& body) {
  if (job.inputs == nullptr) return for_each_panel(job.reads(), body);
  const int panels = panels_of(job.reads()), last = end_panel(job.reads());
  for (int panel = job.first_panel; panel < last; ++panel)
    for (int block = job.first_block; block < job.last_block; ++block)
      body(panel, block,
           job.inputs + (static_cast<std::size_t>(block) * panels + panel) * kPanelSize);
}

// Draws one chain's next states, a vector of units at a time.
template <class Next>
void update_chain(const LayerUpdate& job, int chain, const float* HWY_RESTRICT inputs,
                  std::uint32_t* HWY_RESTRICT draws, const Next& next) {
  const Floats d;
  const Words w;
  const PackedModel::PackedLayer& layer = job.model->layer(job.layer);
  job.draws->fill(draws, {.layer = static_cast<std::uint32_t>(job.layer),
                          .units = static_cast<std::uint32_t>(row_stride(layer.size)),
                          .first_chain = static_cast<std::uint32_t>(job.first_chain + chain),
                          .chains = 1,
                          .sweep = job.sweep});
  float* states = job.chains->block(job.layer, chain / kChainBlock) + chain % kChainBlock;
  HWY_ALIGN float lanes[kLanes] = {};
  for (int u = 0; u < layer.size; u += kLanes) {
    const int count = std::min(kLanes, layer.size - u);
    for (int k = 0; k < count; ++k) lanes[k] = states[(u + k) * kChainBlock];
    Vector input = hn::LoadU(d, inputs + u);
    if (job.inverse_temperatures != nullptr)
      input = temper(input, hn::Set(d, job.inverse_temperatures[chain]),
                     hn::LoadU(d, layer.base_logit.data() + u));
    const Vector scale = hn::LoadU(d, layer.scale.data() + u);
    hn::Store(kernels::in_scale(next, scale, input, hn::Load(d, lanes), hn::LoadU(w, draws + u)), d,
              lanes);
    for (int k = 0; k < count; ++k) states[(u + k) * kChainBlock] = lanes[k];
  }
}

// The same states as update_panel's; padding chains stay as they are.
template <class Next>
void update_chains(const LayerUpdate& job, const Next& next) {
  if (job.first_panel != 0 || end_panel(job.reads()) != panels_of(job.reads()))
    throw InvalidArgument("panels (must be all of a layer in rows)");
  const Inputs inputs(job.reads());
  std::vector<std::uint32_t> draws(row_stride(job.model->layer(job.layer).size));
  const int last = std::min(job.chains->chains(), job.last_block * kChainBlock);
  for (int chain = job.first_block * kChainBlock; chain < last; ++chain)
    update_chain(job, chain, inputs.chain(chain), draws.data(), next);
}

template <class Next>
void update(const LayerUpdate& job, const Next& next) {
  const bool rows = job.model->layer(job.layer).form == PackedModel::Form::rows;
  if (rows && job.inputs == nullptr) return update_chains(job, next);
  for_each_panel(job, [&](int panel, int block, const float* inputs)
                          HWY_ATTR { update_panel(job, panel, block, inputs, next); });
}

void update_dispatched(const LayerUpdate& job) {
  kernels::visit_next(job.rule, job.model->layer(job.layer).unit,
                      [&](const auto& next) { update(job, next); });
}

void inputs(const LayerInputs& job, float* HWY_RESTRICT out) {
  const int panels = panels_of(job);
  for_each_panel(job, [&](int panel, int block, const float* sums) {
    std::copy_n(sums, kPanelSize,
                out + (static_cast<std::size_t>(block) * panels + panel) * kPanelSize);
  });
}

template <class Mean>
void fill_layer(const LayerUpdate& job, const Mean& mean) {
  const Floats d;
  const PackedModel::PackedLayer& layer = job.model->layer(job.layer);
  for_each_panel(job, [&](int panel, int block, const float* sums) HWY_ATTR {
    const int rows = std::min(kPanel, layer.size - panel * kPanel);
    float* HWY_RESTRICT states =
        job.chains->block(job.layer, block) + static_cast<std::size_t>(panel) * kPanelSize;
    for (int at = 0; at < rows * kChainBlock; at += kLanes) {
      const Vector scale = hn::Set(d, layer.scale[panel * kPanel + at / kChainBlock]);
      hn::StoreU(kernels::in_scale(mean, scale, hn::LoadU(d, sums + at)), d, states + at);
    }
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
