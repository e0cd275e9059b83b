#pragma once

#include <utility>
#include <vector>

#include "boltzmark/sample/chains/sampler.hpp"

namespace boltzmark {

/// CD-k of an RBM: chains that start at the cases of each minibatch.               [Hinton 2002]
///   h0 ~ Gibbs p(h | v0), T_v, then k - 1 times T_h T_v; a sample weighs as the case it began at
/// The first T_v is Gibbs, too, where some cases are no states (grey levels taken as means): a rule that
/// looks at the value now has none to start from.
/// Randomness  unit draws of the sweeps, counted from 0
class ContrastiveDivergence final : public Sampler {
 public:
  explicit ContrastiveDivergence(const SamplerSetup& setup);

  std::string name() const override { return "contrastive divergence"; }
  int chains() const override { return chains_.chains(); }
  void set_model(const Layered& model) override { packed_.update(model); }
  const PackedModel& packed() const override { return packed_; }
  void start_at(const Chains& cases, std::span<const float> inputs,
                std::span<const float> weights) override;
  void advance(int sweeps) override;
  void copy_states(Chains& out) const override { out = chains_; }
  void take_states(Chains& out) override { std::swap(out, chains_); }
  std::span<const double> weights() const override { return weights_; }
  void save(CheckpointWriter& out) const override { out.write(sweeps_); }
  void restore(CheckpointReader& in) override { sweeps_ = in.read(); }

 private:
  PackedModel packed_;
  Chains chains_;
  Rule rule_;
  Rule first_rule_;  ///< of the visible units' first draw
  std::shared_ptr<const Draws> draws_;
  std::span<const float> inputs_;  ///< of the hidden units by the cases
  std::vector<double> weights_;    ///< of the cases
  std::uint64_t sweeps_ = 0;
};

}  // namespace boltzmark
