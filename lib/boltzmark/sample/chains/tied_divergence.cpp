#include "boltzmark/sample/chains/tied_divergence.hpp"

#include <fmt/format.h>

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
    : CaseChains(setup),
      copies_(copies),
      upward_(with_input_times(setup.model, kHiddenSide, copies.visible), setup.packing),
      downward_(with_input_times(setup.model, kVisibleSide, copies.hidden), setup.packing) {}

void TiedDivergence::set_model(const Layered& model) {
  upward_.update(with_input_times(model, kHiddenSide, copies_.visible));
  downward_.update(with_input_times(model, kVisibleSide, copies_.hidden));
}

void TiedDivergence::move(Chains& chains, const Draws& draws, std::span<const float> inputs,
                          std::uint64_t first, int sweeps) {
  draw_layer(upward_, chains, draws, {.first_sweep = first}, kHiddenSide, inputs);
  half_sweep(downward_, chains, draws, {.first_sweep = first}, kVisibleSide);
  for (int made = 1; made < sweeps; ++made) {
    const SweepOptions next{.first_sweep = first + static_cast<std::uint64_t>(made)};
    half_sweep(upward_, chains, draws, next, kHiddenSide);
    half_sweep(downward_, chains, draws, next, kVisibleSide);
  }
}

}  // namespace boltzmark
