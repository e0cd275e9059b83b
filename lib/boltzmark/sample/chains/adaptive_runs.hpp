#pragma once

#include <vector>

#include "boltzmark/sample/chains/adaptive_chains.hpp"

namespace boltzmark {

/// Adaptive simulated tempering alone: plain sweeps, and after every so many of them a run of as many
/// iterations of Algorithm 1 from b = 1, which gives the last state at b = 1 and leaves its weights
/// to the next run.                                                  [salakhutdinov2010, Sec. 6]
/// Randomness  as AdaptiveChains
class AdaptiveRuns final : public Sampler {
 public:
  /// Throws  InvalidArgument as AdaptiveChains, or if every < 1
  AdaptiveRuns(const SamplerSetup& setup, AdaptiveOptions options, int every);

  std::string name() const override { return "adaptive simulated tempering"; }
  int chains() const override { return chains_.tempered(); }
  void set_model(const Layered& model) override { chains_.set_model(model); }
  const PackedModel& packed() const override { return chains_.packed(); }
  void advance(int sweeps) override;
  double chain_sweeps(int sweeps) const override { return 2.0 * chains() * sweeps; }
  void copy_states(Chains& out) const override { out = chains_.states(); }
  /// Those on which the last run ended; b = 1 before any.
  std::vector<int> rungs() const override { return ends_; }
  std::vector<double> log_weights() const override;
  /// Those within runs.
  std::optional<std::uint64_t> round_trips() const override { return chains_.round_trips(); }
  void save(CheckpointWriter& out) const override;
  void restore(CheckpointReader& in) override;

  const AdaptiveChains& tempered() const { return chains_; }

 private:
  void run();

  AdaptiveChains chains_;
  int every_;
  std::vector<int> ends_;  ///< of the last run
  std::uint64_t plain_sweeps_ = 0;
};

}  // namespace boltzmark
