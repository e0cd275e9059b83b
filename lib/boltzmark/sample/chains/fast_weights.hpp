#pragma once

#include "boltzmark/sample/chains/persistent_chains.hpp"

namespace boltzmark {

/// Fast PCD: persistent chains under the model's parameters plus fast ones, which follow the
/// gradient at a rate of their own and decay. The fast parameters serve the negative phase alone:
/// the model and the positive phase never see them.
///   fast <- decay fast + rate gradient, from 0                     [Tieleman and Hinton 2009]
/// Randomness  as PersistentChains'; at rate 0 these are theirs, byte for byte
class FastWeights final : public Sampler {
 public:
  /// Throws  InvalidArgument unless the rate is finite and not negative, and decay in [0, 1]
  FastWeights(const SamplerSetup& setup, double rate, double decay);

  std::string name() const override { return "fast persistent contrastive divergence"; }
  int chains() const override { return chains_.chains(); }
  /// Throws  also  Error if a sum of a parameter and its fast one would not be finite
  void set_model(const Layered& model) override;
  const PackedModel& packed() const override { return packed_; }
  const PackedModel& negative_packed() const override { return chains_.packed(); }
  void advance(int sweeps) override { chains_.advance(sweeps); }
  void copy_states(Chains& out) const override { chains_.copy_states(out); }
  void follow(const Parameters& gradient) override;
  void save(CheckpointWriter& out) const override;
  void restore(CheckpointReader& in) override;

  const Parameters& fast() const { return fast_; }

 private:
  PackedModel packed_;  ///< of the model alone
  Layered sum_;         ///< the model and the fast parameters
  Parameters fast_;
  PersistentChains chains_;
  double rate_, decay_;
};

}  // namespace boltzmark
