#pragma once

#include "boltzmark/sample/chains/persistent_chains.hpp"
#include "boltzmark/sample/tempering/tempered_transition.hpp"

namespace boltzmark {

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
