#include "boltzmark/sample/chains/tied_divergence.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "boltzmark/core/error.hpp"

namespace boltzmark {
namespace {

constexpr int kVisibleSide = 0, kHiddenSide = 1;

}  // namespace

Layered with_input_times(const Layered& rbm, int layer, int times) {
  if (!rbm.is_rbm()) throw InvalidArgument("model (must be an RBM to have tied copies)");
  if (times < 1) throw InvalidArgument(fmt::format("copies = {} (must be at least 1)", times));
  std::vector<Layer> layers{rbm.layer(kVisibleSide), rbm.layer(kHiddenSide)};
  layers[static_cast<std::size_t>(layer)].bias *= times;
  return Layered(std::move(layers), {times * rbm.weights(0)});
}

TiedDivergence::TiedDivergence(const SamplerSetup& setup, TiedCopies copies)
    : copies_(copies),
      upward_(with_input_times(setup.model, kHiddenSide, copies.visible), setup.packing),
      downward_(with_input_times(setup.model, kVisibleSide, copies.hidden), setup.packing),
      chains_(setup.model, setup.packing.chains),
      draws_(setup.draws) {}

void TiedDivergence::set_model(const Layered& model) {
  upward_.update(with_input_times(model, kHiddenSide, copies_.visible));
  downward_.update(with_input_times(model, kVisibleSide, copies_.hidden));
}

void TiedDivergence::start_at(const Chains& cases, std::span<const float> inputs,
                              std::span<const float> weights) {
  const std::size_t values = static_cast<std::size_t>(cases.blocks()) * cases.size(0) * kChainBlock;
  std::copy_n(cases.block(0, 0), values, chains_.block(0, 0));
  inputs_ = inputs;
  weights_.assign(weights.begin(), weights.end());
}

void TiedDivergence::advance(int sweeps) {
  draw_layer(upward_, chains_, *draws_, {.first_sweep = sweeps_}, kHiddenSide, inputs_);
  half_sweep(downward_, chains_, *draws_, {.first_sweep = sweeps_}, kVisibleSide);
  for (int made = 1; made < sweeps; ++made) {
    const SweepOptions next{.first_sweep = sweeps_ + static_cast<std::uint64_t>(made)};
    half_sweep(upward_, chains_, *draws_, next, kHiddenSide);
    half_sweep(downward_, chains_, *draws_, next, kVisibleSide);
  }
  sweeps_ += static_cast<std::uint64_t>(sweeps);
}

}  // namespace boltzmark
