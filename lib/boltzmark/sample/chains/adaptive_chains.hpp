#pragma once

#include <vector>

#include "boltzmark/sample/chains/adaptive_options.hpp"
#include "boltzmark/sample/chains/sampler.hpp"
#include "boltzmark/sample/tempering/wang_landau.hpp"

namespace boltzmark {

/// Chains of adaptive simulated tempering on a model that may change between sweeps, all at b = 1
/// first, and before them plain ones that stay there. An iteration of Algorithm 1 is sweep, then
/// move_rungs:  x by the rule at the chain's own b, k by rung_steps.hpp, g by wang_landau.hpp.
///                                                                    [salakhutdinov2010, Sec. 5]
/// Randomness  initial states (Purpose::initial_state); one draw a unit, chain and sweep, all chains
/// counted together; two draws a tempered chain and rung step (Purpose::rung_step)
class AdaptiveChains {
 public:
  /// Makes `plain` chains and as many tempered ones as the setup has.
  /// Throws  InvalidArgument if plain < 0, the ladder is not of two or more, ascending within [0, 1]
  /// and ending at 1, or the factor is not positive and finite
  AdaptiveChains(const SamplerSetup& setup, int plain, AdaptiveOptions options);

  /// Goes on under other parameters.  Throws  InvalidArgument as PackedModel::update
  void set_model(const Layered& model) { packed_.update(model); }
  const PackedModel& packed() const { return packed_; }

  /// Sweeps every chain once at its own inverse temperature.
  void sweep();
  /// Moves every tempered chain's rung, raises its weights, and keeps its state if it is at b = 1.
  void move_rungs();

  /// Exchanges the whole states of two chains that are at b = 1.
  void exchange(int first, int second);
  /// Takes a tempered chain back to the last state that it had at b = 1.
  void return_to_top(int chain);
  /// Keeps the states of those tempered chains that are at b = 1 as their last ones there.
  void keep_tops();

  int plain() const { return plain_; }
  int tempered() const { return tops_.chains(); }
  int rungs() const { return static_cast<int>(options_.inverse_temperatures.size()); }
  /// Returns a chain's rung, of which the last one is b = 1.
  int rung(int chain) const { return chain < plain_ ? rungs() - 1 : rungs_[chain - plain_]; }
  /// Throws  InvalidArgument unless it is a tempered chain and there is such a rung
  void set_rung(int chain, int rung);
  std::uint64_t sweeps() const { return sweeps_; }
  /// Counts how often tempered chains went from b = 1 to the lowest rung and back by rung steps.
  std::uint64_t round_trips() const { return round_trips_; }

  /// The states of all chains, the plain ones first.
  Chains& states() { return states_; }
  const Chains& states() const { return states_; }
  /// The last states at b = 1 of the tempered chains.
  const Chains& tops() const { return tops_; }
  /// The adaptive weights of the tempered chains.
  AdaptiveWeights& weights() { return weights_; }
  const AdaptiveWeights& weights() const { return weights_; }

  void save(CheckpointWriter& out) const;
  void restore(CheckpointReader& in);

 private:
  void start(const SamplerSetup& setup);
  void draw_rung_steps();
  void put_on_rung(int chain, int rung);
  void keep_top(int chain);
  void count_trips();

  AdaptiveOptions options_;
  int plain_;
  PackedModel packed_;
  Rule rule_;
  std::shared_ptr<const Draws> draws_;
  Chains states_;
  Chains tops_;                   ///< the last states at b = 1, of the tempered chains
  std::vector<int> rungs_;        ///< of the tempered chains
  std::vector<int> from_bottom_;  ///< whether each was at the lowest rung since it left b = 1
  std::uint64_t round_trips_ = 0;
  AdaptiveWeights weights_;
  std::uint64_t sweeps_ = 0;
  std::vector<float> chain_temperatures_;  ///< inverse ones, of all chains
  std::vector<std::uint32_t> step_draws_;  ///< [proposal, acceptance, unused][padded chains]
};

}  // namespace boltzmark
