#pragma once

#include <optional>

#include "boltzmark/sample/chains/adaptive_chains.hpp"

namespace boltzmark {

/// Tells whether a pair exchanges states after a sweep that took the fast chain's rung from `before`
/// to `after`; `top` is the rung of b = 1.
bool exchanges(SwapRule rule, bool at_lag, int before, int after, int top);

/// Coupled adaptive simulated tempering (CAST): slow chains of plain sweeps, whose states it gives,
/// and as many fast ones of adaptive simulated tempering, each of which exchanges whole states with
/// its slow one and goes on from there at b = 1.                   [salakhutdinov2010, Sec. 6.1, 8]
/// Randomness  as AdaptiveChains, slow chains counted before fast ones
class CoupledChains final : public Sampler {
 public:
  /// Makes as many pairs as the setup has chains.
  /// Throws  InvalidArgument as AdaptiveChains, or if lag < 1
  CoupledChains(const SamplerSetup& setup, AdaptiveOptions options, CouplingOptions coupling);

  std::string name() const override { return "coupled adaptive simulated tempering"; }
  int chains() const override { return chains_.plain(); }
  void set_model(const Layered& model) override { chains_.set_model(model); }
  const PackedModel& packed() const override { return chains_.packed(); }
  void advance(int sweeps) override;
  double chain_sweeps(int sweeps) const override { return 2.0 * chains() * sweeps; }
  void copy_states(Chains& out) const override;
  /// Those of the fast chains.
  std::optional<std::uint64_t> round_trips() const override { return chains_.round_trips(); }
  void save(CheckpointWriter& out) const override { chains_.save(out); }
  void restore(CheckpointReader& in) override { chains_.restore(in); }

  /// Ends a sweep: rung steps, weights, exchanges.
  void couple();
  /// The slow chains, then the fast ones in the same order.
  AdaptiveChains& pairs() { return chains_; }
  const AdaptiveChains& pairs() const { return chains_; }

 private:
  AdaptiveChains chains_;
  CouplingOptions coupling_;
};

}  // namespace boltzmark
