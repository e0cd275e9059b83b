#pragma once

#include <utility>
#include <vector>

#include "boltzmark/sample/chains/sampler.hpp"

namespace boltzmark {

/// Chains that start at the cases of each minibatch, and weigh as these: nothing but the number of sweeps
/// outlives an update.
/// Randomness  unit draws of the sweeps, counted from 0
class CaseChains : public Sampler {
 public:
  explicit CaseChains(const SamplerSetup& setup);

  int chains() const override { return chains_.chains(); }
  void start_at(const Chains& cases, std::span<const float> inputs,
                std::span<const float> weights) override;
  void advance(int sweeps) override;
  void copy_states(Chains& out) const override { out = chains_; }
  void take_states(Chains& out) override { std::swap(out, chains_); }
  std::span<const double> weights() const override { return weights_; }
  void save(CheckpointWriter& out) const override { out.write(sweeps_); }
  void restore(CheckpointReader& in) override { sweeps_ = in.read(); }

 protected:
  /// Makes sweeps, the first of them the first-th: hidden units first, given these inputs by the cases.
  virtual void move(Chains& chains, const Draws& draws, std::span<const float> inputs,
                    std::uint64_t first, int sweeps) = 0;

 private:
  Chains chains_;
  std::shared_ptr<const Draws> draws_;
  std::span<const float> inputs_;
  std::vector<double> weights_;
  std::uint64_t sweeps_ = 0;
};

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

/// How many tied copies of its layers an RBM of a stack stands for.
struct TiedCopies {
  int visible = 1;
  int hidden = 1;
};

/// Returns the copies that RBM l of a stack of so many stands for: a layer between two others of the
/// deep model has one neighbour of them in its RBM, which so counts twice.
///   the bottom RBM's hidden layer and the top one's visible layer get twice their inputs, those
///   between both, which is an RBM of twice the weights   [Salakhutdinov & Hinton 2009, Sec. 3.2]
TiedCopies copies_in_stack(int l, int rbms);

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
