#pragma once

#include "boltzmark/sample/chains/case_chains.hpp"

namespace boltzmark {

/// How many tied copies of its layers an RBM of a stack stands for.
struct TiedCopies {
  int visible = 1;
  int hidden = 1;
};

/// Returns an RBM in which one layer's input, bias included, is `times` what it is in the given one.
/// Throws  InvalidArgument unless the model is an RBM; Error as Layered
Layered with_input_times(const Layered& rbm, int layer, int times);

/// CD-k of an RBM with tied copies of its visible and of its hidden layer, on data whose copies are
/// alike: each hidden unit gets the sum of the visible copies' inputs, and the reverse. The
/// statistics are those of one pair of copies.
///   x_h = n_v (b + W' v), x_v = n_h (a + W h), n the numbers of copies
///                                                   [Salakhutdinov & Hinton 2009, Sec. 3.2, Fig. 2]
class TiedDivergence final : public CaseChains {
 public:
  /// Throws  InvalidArgument unless the model is an RBM and the copies are positive
  TiedDivergence(const SamplerSetup& setup, TiedCopies copies);

  std::string name() const override { return "tied contrastive divergence"; }
  void set_model(const Layered& model) override;
  /// The parameters of the hidden layer's law, whose means serve both phases.
  const PackedModel& packed() const override { return upward_; }

 private:
  void move(Chains& chains, const Draws& draws, std::span<const float> inputs, std::uint64_t first,
            int sweeps) override;

  TiedCopies copies_;
  PackedModel upward_;    ///< draws the hidden layer
  PackedModel downward_;  ///< draws the visible layer
};

}  // namespace boltzmark
