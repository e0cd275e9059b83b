#pragma once

#include <array>
#include <utility>
#include <vector>

#include "boltzmark/sample/chains/sampler.hpp"

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
/// Randomness  unit draws of the sweeps, counted from 0
class TiedDivergence final : public Sampler {
 public:
  /// Throws  InvalidArgument unless the model is an RBM and the copies are positive
  TiedDivergence(const SamplerSetup& setup, TiedCopies copies);

  std::string name() const override { return "tied contrastive divergence"; }
  int chains() const override { return chains_.chains(); }
  void set_model(const Layered& model) override;
  /// The parameters of the hidden layer's law, whose means serve both phases.
  const PackedModel& packed() const override { return upward_; }
  void start_at(const Chains& cases, std::span<const float> inputs,
                std::span<const float> weights) override;
  void advance(int sweeps) override;
  void copy_states(Chains& out) const override { out = chains_; }
  void take_states(Chains& out) override { std::swap(out, chains_); }
  std::span<const double> weights() const override { return weights_; }
  void save(CheckpointWriter& out) const override { out.write(sweeps_); }
  void restore(CheckpointReader& in) override { sweeps_ = in.read(); }

 private:
  TiedCopies copies_;
  PackedModel upward_;    ///< draws the hidden layer
  PackedModel downward_;  ///< draws the visible layer
  Chains chains_;
  std::shared_ptr<const Draws> draws_;
  std::span<const float> inputs_;  ///< of the hidden units by the cases
  std::vector<double> weights_;    ///< of the cases
  std::uint64_t sweeps_ = 0;
};

}  // namespace boltzmark
