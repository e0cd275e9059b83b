#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "boltzmark/core/checkpoint.hpp"
#include "boltzmark/sample/chains/sampler.hpp"

namespace boltzmark {

/// Gamma_t, by how much an adaptive weight grows: its size, or its size over t.
struct AdaptingFactor {
  bool vanishing = false;
  double size = 10;

  /// Tells whether the size is positive and finite, as it must be.
  bool is_valid() const;
  /// Returns gamma_t of the t-th update, from 1.
  double at(std::uint64_t update) const;
  /// Writes it as it is parsed: constant:10, vanishing:10.
  std::string name() const;
  friend bool operator==(const AdaptingFactor&, const AdaptingFactor&) = default;
};
/// Parses a name; returns none unless it is constant:X or vanishing:X with finite X > 0.
std::optional<AdaptingFactor> parse_adapting_factor(std::string_view text);

/// Whose visits raise a chain's adaptive weights: its own, or the mean over all chains.
enum class WeightSharing { own, shared };
std::string_view name(WeightSharing sharing);
/// Parses a name; returns none if it is not one.
std::optional<WeightSharing> parse_weight_sharing(std::string_view text);

/// The ladder and the adaptive weights of adaptive simulated tempering.
struct AdaptiveOptions {
  std::vector<float> inverse_temperatures = {};  ///< ascending, two or more, the last one 1
  AdaptingFactor factor = {};
  WeightSharing weights = WeightSharing::own;
};

/// When a slow chain and its fast one exchange states: the readings of salakhutdinov2010, Sec. 6.1
/// and 8. All but `last` exchange the states of that moment, for which the fast one is at b = 1.
enum class SwapRule {
  last,  ///< at every lag, with the last state that the fast chain had at b = 1: the paper's practice
  lag,    ///< at every lag, if the fast chain is at b = 1 then
  each,   ///< after every sweep that ends with it at b = 1
  entry,  ///< after every sweep with which it arrives at b = 1
};
std::string_view name(SwapRule rule);
/// Parses a name; returns none if it is not one.
std::optional<SwapRule> parse_swap_rule(std::string_view text);

/// How slow chains are coupled to fast ones.
struct CouplingOptions {
  SwapRule swap = SwapRule::last;
  int lag = 50;  ///< sweeps
  friend bool operator==(const CouplingOptions&, const CouplingOptions&) = default;
};

// Steps between neighbours on a ladder of inverse temperatures, given x, that leave
//   pi(x, k) ~ f(x)^{b_k} / g_k,  f = exp(-E)                [salakhutdinov2010, Eq. 10, Alg. 1.4]
// unchanged. Rungs ascend here: the last one, b = 1, is the paper's k = 1.

/// Returns q(to | from): 1/2 for either neighbour, 1 for the only one of an end, else 0.
double proposal_probability(int rungs, int from, int to);

/// Returns the rung that a uniform draw proposes: the upper neighbour if the draw's first bit is 1.
int proposed_rung(int rungs, int from, std::uint32_t draw);

/// Computes the probability of accepting a proposed rung.
///   min(1, f(x)^{b_to} q(from | to) g_from / (f(x)^{b_from} q(to | from) g_to))
/// Shapes  inverse_temperatures, log_g [rungs]; log_f = -E(x)
double rung_step_probability(std::span<const float> inverse_temperatures,
                             std::span<const double> log_g, double log_f, int from, int to);

/// Raises the adaptive weight of one rung, and keeps all relative to the last rung's.
///   log g_k <- log g_k + increase                              [salakhutdinov2010, Eq. 5, Alg. 1.5]
void raise_weight(std::span<double> log_g, int rung, double increase);

/// The adaptive weights g of chains on a ladder, all 1 at first, that grow where chains are.
///   own     log g_k += log(1 + gamma_t) where the chain is
///   shared  log g_k += log(1 + gamma_t) n_k / chains, n_k of which are on rung k
class AdaptiveWeights {
 public:
  /// Throws  InvalidArgument if the factor's size is not positive and finite
  AdaptiveWeights(int rungs, int chains, const AdaptingFactor& factor, WeightSharing sharing);

  /// Returns log g of a chain, relative to its last rung's.  Shapes  [rungs]
  std::span<const double> log_g(int chain) const;
  /// Raises the weights where the chains are now.  Shapes  rungs [chains]
  void update(std::span<const int> rungs);

  /// Goes on from other weights of every chain.
  /// Throws  InvalidArgument unless there is a finite one for each rung
  void set(const Eigen::VectorXd& log_g);

  void save(CheckpointWriter& out) const;
  void restore(CheckpointReader& in);

 private:
  Eigen::Index set_of(int chain) const { return log_g_.cols() == 1 ? 0 : chain; }

  AdaptingFactor factor_;
  Eigen::MatrixXd log_g_;  ///< [rungs x chains, or 1 where shared]
  std::uint64_t updates_ = 0;
};

/// Chains of adaptive simulated tempering on a model that may change between sweeps, all at b = 1
/// first, and before them plain ones that stay there. An iteration of Algorithm 1 is sweep, then
/// move_rungs:  x by the rule at the chain's own b, k by rung_step_probability, g by AdaptiveWeights.
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
