#include "boltzmark/transition/layer_update.hpp"

#include <algorithm>

#include "boltzmark/transition/panel.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boltzmark/transition/layer_update.cpp"
#include <hwy/foreach_target.h>
// Highway wants its own headers after foreach_target.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "boltzmark/transition/rules.hpp"

HWY_BEFORE_NAMESPACE();
namespace boltzmark::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, kChainBlock>;
using Words = hn::RebindToUnsigned<Floats>;
using Vector = hn::Vec<Floats>;
using Mask = hn::Mask<Floats>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(Floats()));
constexpr int kVectors = kChainBlock / kLanes;              // per row of a tile
constexpr int kRows = std::clamp(8 / kVectors, 1, kPanel);  // accumulators that fit the registers

struct VectorOps {
  Vector set(float x) const { return hn::Set(Floats(), x); }
  Vector add(Vector a, Vector b) const { return hn::Add(a, b); }
  Vector subtract(Vector a, Vector b) const { return hn::Sub(a, b); }
  Vector multiply(Vector a, Vector b) const { return hn::Mul(a, b); }
  Vector divide(Vector a, Vector b) const { return hn::Div(a, b); }
  Vector select(Mask mask, Vector a, Vector b) const { return hn::IfThenElse(mask, a, b); }
};

// Inputs of kRows units x kChainBlock chains. Each is one sequential sum over the neighbours; with
// states 0 and 1 every product is exact, so that the sum does not depend on the SIMD path or on how
// tiles are grouped.
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

// Next states of one vector of chains. Draw and state are reflected so that 0 stands for the
// likelier state; the less likely one's threshold round(q 2^32) is then precise however small q is.
template <class Law>
HWY_INLINE Vector next_states(Vector input, Vector state, hn::Vec<Words> draw, Vector share) {
  const Floats d;
  const Words w;
  const Vector zero = hn::Zero(d);
  const Vector one = hn::Set(d, 1.0F);
  const Mask likely_on = hn::Gt(input, zero);
  const Mask on = hn::Gt(state, zero);
  const Vector ratio = hn::Exp(d, hn::Neg(hn::Abs(input)));
  const Vector q =
      Law::unlikely(VectorOps(), ratio, hn::Xor(on, likely_on), hn::Eq(input, zero), share);

  const Vector scaled = hn::Mul(q, hn::Set(d, 0x1p32F));
  const Vector half_range = hn::Set(d, 0x1p31F);
  const Mask high = hn::Ge(scaled, half_range);
  const auto low_bits =
      hn::BitCast(w, hn::NearestInt(hn::IfThenElse(high, hn::Sub(scaled, half_range), scaled)));
  const auto top_bit = hn::IfThenElseZero(hn::RebindMask(w, high), hn::Set(w, 0x80000000U));
  const auto threshold = hn::Xor(low_bits, top_bit);
  const Mask always = hn::Ge(scaled, hn::Set(d, 0x1p32F));

  const auto reflect = hn::VecFromMask(w, hn::RebindMask(w, likely_on));
  const Mask below = hn::RebindMask(d, hn::Lt(hn::Xor(draw, reflect), threshold));
  return hn::IfThenElseZero(hn::Xor(hn::Or(below, always), likely_on), one);
}

template <class Law>
void update(const LayerUpdate& job) {
  const Floats d;
  const Words w;
  const PackedModel::PackedLayer& layer = job.model->layer(job.layer);
  const Vector share = hn::Set(d, static_cast<float>(job.rule.blend));
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
          hn::StoreU(
              next_states<Law>(input, hn::LoadU(d, states + at), hn::LoadU(w, draws + at), share),
              d, states + at);
        }
      }
    }
  }
}

void update_dispatched(const LayerUpdate& job) {
  rules::visit(job.rule.kind, [&](auto law) { update<decltype(law)>(job); });
}

void inputs(const LayerUpdate& job, float* HWY_RESTRICT out) {
  const PackedModel::PackedLayer& layer = job.model->layer(job.layer);
  const int panels = (layer.size + kPanel - 1) / kPanel;
  for (int panel = 0; panel < panels; ++panel)
    for (int block = job.first_block; block < job.last_block; ++block)
      accumulate_panel(layer, *job.chains, block, panel,
                       out + (static_cast<std::size_t>(block) * panels + panel) * kTile);
}

void probabilities(const LayerUpdate& job) {
  const Floats d;
  const Vector one = hn::Set(d, 1.0F);
  const PackedModel::PackedLayer& layer = job.model->layer(job.layer);
  HWY_ALIGN float inputs[kTile];
  for (int panel = 0; panel * kPanel < layer.size; ++panel) {
    const int rows = std::min(kPanel, layer.size - panel * kPanel);
    for (int block = job.first_block; block < job.last_block; ++block) {
      accumulate_panel(layer, *job.chains, block, panel, inputs);
      float* HWY_RESTRICT states =
          job.chains->block(job.layer, block) + static_cast<std::size_t>(panel) * kTile;
      for (int at = 0; at < rows * kChainBlock; at += kLanes) {
        const Vector input = hn::LoadU(d, inputs + at);
        const Vector ratio = hn::Exp(d, hn::Neg(hn::Abs(input)));
        const Vector unlikely = hn::Div(ratio, hn::Add(one, ratio));
        const Mask likely_on = hn::Gt(input, hn::Zero(d));
        hn::StoreU(hn::IfThenElse(likely_on, hn::Sub(one, unlikely), unlikely), d, states + at);
      }
    }
  }
}

}  // namespace boltzmark::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace boltzmark {
HWY_EXPORT(update_dispatched);
HWY_EXPORT(inputs);
HWY_EXPORT(probabilities);

void update_layer(const LayerUpdate& job) { HWY_DYNAMIC_DISPATCH(update_dispatched)(job); }
void fill_inputs(const LayerUpdate& job, float* out) { HWY_DYNAMIC_DISPATCH(inputs)(job, out); }
void fill_probabilities(const LayerUpdate& job) { HWY_DYNAMIC_DISPATCH(probabilities)(job); }

}  // namespace boltzmark
#endif
