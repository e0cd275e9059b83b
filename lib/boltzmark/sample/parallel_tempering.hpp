#pragma once

#include <cstdint>
#include <vector>

#include "boltzmark/model/base.hpp"
#include "boltzmark/transition/sweep.hpp"

namespace boltzmark {

/// Makes equally spaced inverse temperatures 0..1; a ladder of one temperature is {1}.
/// Throws  InvalidArgument if temperatures < 1
std::vector<float> uniform_ladder(int temperatures);

/// Computes the probability of exchanging the states of two temperatures.
///   min(1, exp((b_i - b_j) (D_j - D_i))),  D = log f - log p1
/// Units  nats
double swap_probability(double b_i, double b_j, double log_ratio_i, double log_ratio_j);

/// How a ladder is moved.
struct TemperingOptions {
  std::vector<float> inverse_temperatures = {1.0F};  ///< ascending, the last one 1
  Rule rule = Rule::gibbs();
  int sweeps = 1;  ///< of the rule at each temperature, before the swaps of a step
};

/// All that a run of parallel tempering must remember.
struct TemperingState {
  std::uint64_t steps = 0;
  std::vector<Eigen::MatrixXf> states;  ///< per layer [units x chains]
  std::vector<int> rungs;               ///< per chain: its place in the ladder
  std::vector<int> last_ends;           ///< per chain: the end visited last, see round_trips
  std::vector<std::uint64_t> accepted;  ///< per pair of neighbours, all bundles together
  std::uint64_t round_trips = 0;
};

/// Parallel tempering on many independent ladders (bundles) at once.
/// A step is `sweeps` sweeps of the rule at each chain's inverse temperature, then swaps of
/// neighbours: first the pairs (0,1), (2,3), .., then (1,2), (3,4), ..
/// A swap exchanges temperatures, not states: chain `bundle * temperatures + i` keeps its states
/// and wanders through the ladder; chain_at finds who is at a temperature now.
class ParallelTempering {
 public:
  /// Makes `bundles` ladders in the all-zero state, chain i of each at temperature i.
  /// Throws  InvalidArgument if bundles < 1, sweeps < 0, the ladder is not ascending within [0, 1]
  /// or does not end at 1, or shapes of model and base differ
  ParallelTempering(const Layered& model, Base base, int bundles, TemperingOptions options);

  /// Makes one step of every bundle; `packed` must be `model` packed with the same base.
  /// Randomness  unit draws of sweeps steps() * options.sweeps + i; one swap draw per bundle, pair
  /// and step, accepted if draw < round(2^32 swap_probability)
  void step(const Layered& model, const PackedModel& packed, const Draws& draws);
  /// The two halves of a step; `swap` ends the step.
  void sweep(const PackedModel& packed, const Draws& draws);
  void swap(const Layered& model, const Draws& draws);

  int bundles() const { return bundles_; }
  int temperatures() const { return static_cast<int>(options_.inverse_temperatures.size()); }
  const TemperingOptions& options() const { return options_; }
  const Base& base() const { return base_; }
  std::uint64_t steps() const { return steps_; }

  /// Returns the chain that is at temperature t of a bundle now.
  int chain_at(int bundle, int t) const { return chain_at_[bundle * temperatures() + t]; }
  /// Returns the place in the ladder where a chain is now.
  int rung(int chain) const { return rungs_[chain]; }

  Chains& chains() { return chains_; }
  const Chains& chains() const { return chains_; }
  /// Copies the states at temperature t, bundle by bundle, into the first chains of `out`.
  /// Throws  InvalidArgument if shapes differ or out has fewer chains than bundles
  void gather(int t, Chains& out) const;

  /// Returns the share of accepted swaps of each pair of neighbours so far; NaN before any step.
  std::vector<double> acceptance() const;
  /// Counts the chains' completed trips from b = 1 to the lowest temperature and back.
  std::uint64_t round_trips() const { return round_trips_; }

  TemperingState state() const;
  /// Throws  InvalidArgument if the state's shapes are not this ladder's
  void restore(const TemperingState& state);

 private:
  void draw_swaps(const Draws& draws);
  void swap_pair(int bundle, int lower, const std::vector<double>& log_ratios);
  void mark_ends();
  void index_rungs();

  TemperingOptions options_;
  Base base_;
  int bundles_;
  Chains chains_;
  std::vector<float> chain_inverse_temperatures_;
  std::vector<int> rungs_;
  std::vector<int> chain_at_;
  std::vector<int> last_ends_;
  std::vector<std::uint64_t> accepted_;
  std::vector<std::uint32_t> swap_draws_;
  std::uint64_t steps_ = 0;
  std::uint64_t round_trips_ = 0;
};

}  // namespace boltzmark
