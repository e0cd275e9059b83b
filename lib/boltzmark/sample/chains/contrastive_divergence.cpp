#include "boltzmark/sample/chains/contrastive_divergence.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "boltzmark/core/error.hpp"

namespace boltzmark {
namespace {

constexpr int kVisibleSide = 0, kHiddenSide = 1;

}  // namespace

CaseChains::CaseChains(const SamplerSetup& setup)
    : chains_(setup.model, setup.packing.chains), draws_(draws_of(setup)) {}

void CaseChains::start_at(const Chains& cases, std::span<const float> inputs,
                          std::span<const float> weights) {
  if (cases.chains() != chains())
    throw InvalidArgument(
        fmt::format("cases = {} (must be {}, one a chain)", cases.chains(), chains()));
  const std::size_t values = static_cast<std::size_t>(cases.blocks()) * cases.size(0) * kChainBlock;
  std::copy_n(cases.block(0, 0), values, chains_.block(0, 0));
  inputs_ = inputs;
  weights_.assign(weights.begin(), weights.end());
}

void CaseChains::advance(int sweeps) {
  move(chains_, *draws_, inputs_, sweeps_, sweeps);
  sweeps_ += static_cast<std::uint64_t>(sweeps);
}

ContrastiveDivergence::ContrastiveDivergence(const SamplerSetup& setup)
    : CaseChains(setup),
      packed_(setup.model, setup.packing),
      rule_(setup.rule),
      first_rule_(setup.cases_are_states ? setup.rule : Rule::gibbs()) {
  if (!setup.model.is_rbm())
    throw InvalidArgument(
        "model (must be an RBM for contrastive divergence: the hidden states of a "
        "deep model cannot be drawn given its cases)");
}

// The first hidden states by Gibbs whatever the rule: a case has none that a rule could start from.
void ContrastiveDivergence::move(Chains& chains, const Draws& draws, std::span<const float> inputs,
                                 std::uint64_t first, int sweeps) {
  draw_layer(packed_, chains, draws, {.rule = Rule::gibbs(), .first_sweep = first}, kHiddenSide,
             inputs);
  half_sweep(packed_, chains, draws, {.rule = first_rule_, .first_sweep = first}, kVisibleSide);
  sweep(packed_, chains, draws, {.rule = rule_, .first_sweep = first + 1, .sweeps = sweeps - 1});
}

TiedCopies copies_in_stack(int l, int rbms) {
  return {.visible = l + 1 == rbms ? 1 : 2, .hidden = l == 0 ? 1 : 2};
}

Layered with_input_times(const Layered& rbm, int layer, int times) {
  if (!rbm.is_rbm()) throw InvalidArgument("model (must be an RBM to have tied copies)");
  at_least_one("copies", times);
  std::vector<Layer> layers{rbm.layer(kVisibleSide), rbm.layer(kHiddenSide)};
  layers[layer].bias *= times;
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
