#pragma once

#include "boltzmark/sample/chains/case_chains.hpp"

namespace boltzmark {

/// CD-k of an RBM: chains that start at the cases of each minibatch.               [Hinton 2002]
///   h0 ~ Gibbs p(h | v0), T_v, then k - 1 times T_h T_v; a sample weighs as the case it began at
/// The first T_v is Gibbs, too, where some cases are no states (grey levels taken as means): a rule that
/// looks at the value now has none to start from.
class ContrastiveDivergence final : public CaseChains {
 public:
  explicit ContrastiveDivergence(const SamplerSetup& setup);

  std::string name() const override { return "contrastive divergence"; }
  void set_model(const Layered& model) override { packed_.update(model); }
  const PackedModel& packed() const override { return packed_; }

 private:
  void move(Chains& chains, const Draws& draws, std::span<const float> inputs, std::uint64_t first,
            int sweeps) override;

  PackedModel packed_;
  Rule rule_;
  Rule first_rule_;  ///< of the visible units' first draw
};

}  // namespace boltzmark
