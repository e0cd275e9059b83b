#include "boltzmark/sample/chains/contrastive_divergence.hpp"

#include <algorithm>

#include "boltzmark/core/error.hpp"

namespace boltzmark {

ContrastiveDivergence::ContrastiveDivergence(const SamplerSetup& setup)
    : packed_(setup.model, setup.packing),
      chains_(setup.model, setup.packing.chains),
      rule_(setup.rule),
      first_rule_(setup.cases_are_states ? setup.rule : Rule::gibbs()),
      draws_(setup.draws) {
  if (!setup.model.is_rbm())
    throw InvalidArgument(
        "model (must be an RBM for contrastive divergence: the hidden states of a "
        "deep model cannot be drawn given its cases)");
}

void ContrastiveDivergence::start_at(const Chains& cases, std::span<const float> inputs,
                                     std::span<const float> weights) {
  // The hidden units are drawn given these.
  const std::size_t values = static_cast<std::size_t>(cases.blocks()) * cases.size(0) * kChainBlock;
  std::copy_n(cases.block(0, 0), values, chains_.block(0, 0));
  inputs_ = inputs;
  weights_.assign(weights.begin(), weights.end());
}

// The first hidden states by Gibbs whatever the rule: a case has none that a rule could start from.
void ContrastiveDivergence::advance(int sweeps) {
  draw_layer(packed_, chains_, *draws_, {.rule = Rule::gibbs(), .first_sweep = sweeps_}, 1,
             inputs_);
  half_sweep(packed_, chains_, *draws_, {.rule = first_rule_, .first_sweep = sweeps_}, 0);
  sweep(packed_, chains_, *draws_,
        {.rule = rule_, .first_sweep = sweeps_ + 1, .sweeps = sweeps - 1});
  sweeps_ += static_cast<std::uint64_t>(sweeps);
}

}  // namespace boltzmark
