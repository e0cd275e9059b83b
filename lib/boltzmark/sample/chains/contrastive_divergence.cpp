#include "boltzmark/sample/chains/contrastive_divergence.hpp"

#include "boltzmark/core/error.hpp"

namespace boltzmark {

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
  draw_layer(packed_, chains, draws, {.rule = Rule::gibbs(), .first_sweep = first}, 1, inputs);
  half_sweep(packed_, chains, draws, {.rule = first_rule_, .first_sweep = first}, 0);
  sweep(packed_, chains, draws, {.rule = rule_, .first_sweep = first + 1, .sweeps = sweeps - 1});
}

}  // namespace boltzmark
