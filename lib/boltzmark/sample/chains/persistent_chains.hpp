#pragma once

#include <vector>

#include "boltzmark/sample/chains/sampler.hpp"
#include "boltzmark/sample/tempering/parallel_tempering.hpp"
#include "boltzmark/sample/tempering/tempered_transition.hpp"

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

/// Parallel tempering from update to update while the model changes: a ladder of inverse
/// temperatures for each state that is asked for.                           [Desjardins et al. 2010]
/// They start as PersistentChains do.  Randomness  as theirs, and the swap draws of the ladders
class PersistentLadders final : public Sampler {
 public:
  /// Makes ladders whose step is `sweeps` sweeps and the swaps.
  /// Throws  InvalidArgument if the ladder does not ascend within [0, 1] or end at 1
  PersistentLadders(const SamplerSetup& setup, std::vector<float> inverse_temperatures, int sweeps);

  std::string name() const override { return "parallel tempering"; }
  int chains() const override { return ladders_.bundles(); }
  void set_model(const Layered& model) override { packed_.update(model); }
  const PackedModel& packed() const override { return packed_; }
  /// Throws  InvalidArgument unless `sweeps` are whole steps
  void advance(int sweeps) override;
  double chain_sweeps(int sweeps) const override {
    return static_cast<double>(ladders_.chains().chains()) * sweeps;
  }
  void copy_states(Chains& out) const override;
  /// Those from which the chains that are at b = 1 now set out: which of a ladder's chains it is.
  std::vector<int> rungs() const override;
  std::optional<std::uint64_t> round_trips() const override { return ladders_.round_trips(); }
  void save(CheckpointWriter& out) const override { ladders_.save(out); }
  void restore(CheckpointReader& in) override { ladders_.restore(in); }

  const ParallelTempering& ladders() const { return ladders_; }

 private:
  PackedModel packed_;
  ParallelTempering ladders_;
  std::shared_ptr<const Draws> draws_;
};

/// Persistent chains that also make tempered transitions: Trans-SAP.        [Salakhutdinov 2009]
/// Sweeps are those of PersistentChains; after every so many of them comes a transition.
/// Randomness  as theirs, transitions counted among the sweeps, and their own draws
class PersistentTransitions final : public Sampler {
 public:
  /// Throws  InvalidArgument as TransitionOptions::check, or if every < 1
  PersistentTransitions(const SamplerSetup& setup, std::vector<float> inverse_temperatures,
                        int every = 1);

  std::string name() const override { return "tempered transitions"; }
  int chains() const override { return chains_.chains(); }
  void set_model(const Layered& model) override { chains_.set_model(model); }
  const PackedModel& packed() const override { return chains_.packed(); }
  void advance(int sweeps) override;
  double chain_sweeps(int sweeps) const override;
  void copy_states(Chains& out) const override { chains_.copy_states(out); }
  /// That of b = 1, to which a transition comes back.
  std::vector<int> rungs() const override {
    return std::vector<int>(static_cast<std::size_t>(chains()), options_.sweeps() / 2);
  }
  /// An accepted transition is one.
  std::optional<std::uint64_t> round_trips() const override { return accepted_; }
  void save(CheckpointWriter& out) const override;
  void restore(CheckpointReader& in) override;

  const TransitionOptions& options() const { return options_; }

 private:
  void make_transition();

  PersistentChains chains_;
  TransitionOptions options_;
  std::shared_ptr<const Draws> draws_;
  int every_;
  std::uint64_t sweeps_ = 0, accepted_ = 0;
};

}  // namespace boltzmark
