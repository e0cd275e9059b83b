#pragma once

#include "boltzmark/sample/chains/sampler.hpp"

namespace boltzmark {

/// Chains that go on from update to update while the model changes: PCD-k is k sweeps of them, and
/// SAP another name of it.                                                       [Tieleman 2008]
/// They start at setup.start, or uniformly random, which is the model's own law while its weights
/// are near zero.
/// Randomness  initial states (Purpose::initial_state); unit draws of the sweeps, counted from 0
class PersistentChains final : public Sampler {
 public:
  explicit PersistentChains(const SamplerSetup& setup);

  std::string name() const override { return "persistent contrastive divergence"; }
  int chains() const override { return chains_.chains(); }
  void set_model(const Layered& model) override { packed_.update(model); }
  const PackedModel& packed() const override { return packed_; }
  void advance(int sweeps) override;
  void copy_states(Chains& out) const override { out = chains_; }
  void save(CheckpointWriter& out) const override;
  void restore(CheckpointReader& in) override;

  /// The chains, for a start or moves of the caller's own.
  Chains& states() { return chains_; }
  /// Sets aside the numbers of sweeps that the caller makes of them; returns the first.
  std::uint64_t set_aside(int sweeps);

 private:
  PackedModel packed_;
  Chains chains_;
  Rule rule_;
  std::shared_ptr<const Draws> draws_;
  std::uint64_t sweeps_ = 0;
};

}  // namespace boltzmark
