#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "boltzmark/core/checkpoint.hpp"
#include "boltzmark/core/progress.hpp"
#include "boltzmark/random/draws.hpp"
#include "boltzmark/random/key.hpp"
#include "boltzmark/sample/sample_store.hpp"
#include "boltzmark/sample/top_states.hpp"
#include "boltzmark/target/target.hpp"
#include "boltzmark/transition/sweep.hpp"

namespace boltzmark {

/// Makes equally spaced inverse temperatures lowest..1; a ladder of one temperature is {1}.
/// Throws  InvalidArgument if temperatures < 1, or lowest is not in [0, 1) or so near 1 that two of
/// them would be one in float32
std::vector<float> uniform_ladder(int temperatures, double lowest = 0);
/// Throws  InvalidArgument unless so many inverse temperatures or more ascend within [0, 1] and end at 1
void require_ladder(std::span<const float> inverse_temperatures, std::size_t least);

/// Computes the probability of exchanging the states of two temperatures.
///   min(1, exp((b_i - b_j) (D_j - D_i))),  D = log f - log p1
/// Units  nats
double swap_probability(double b_i, double b_j, double log_ratio_i, double log_ratio_j);

/// Who is where on many independent ladders (bundles) of one chain a rung, and how neighbours swap.
/// A swap exchanges rungs, not states: chain `bundle * rungs + i` starts at rung i, keeps its states
/// and wanders through the ladder.
class LadderSwaps {
 public:
  /// Shapes  inverse_temperatures [rungs], ascending
  LadderSwaps(std::vector<double> inverse_temperatures, int bundles);

  /// Swaps neighbours of every bundle: first the pairs (0,1), (2,3), .., then (1,2), (3,4), ..
  /// Shapes      log_ratios [chains], D of every chain's state
  /// Randomness  one swap draw per bundle, pair and step, accepted if draw < round(2^32
  /// swap_probability)
  void swap(std::span<const double> log_ratios, const Draws& draws, std::uint64_t step);

  int rungs() const { return static_cast<int>(inverse_temperatures_.size()); }
  int bundles() const { return bundles_; }
  int chains() const { return bundles_ * rungs(); }
  /// Returns the chain that is at a rung of a bundle now.
  int chain_at(int bundle, int rung) const { return chain_at_[bundle * rungs() + rung]; }
  /// The rung of every chain now, and its inverse temperature [chains].
  const std::vector<int>& chain_rungs() const { return chain_rungs_; }
  const std::vector<float>& chain_inverse_temperatures() const {
    return chain_inverse_temperatures_;
  }

  /// What a run has counted.
  struct Tally {
    std::vector<int> last_ends;           ///< per chain: the end visited last, see round_trips
    std::vector<std::uint64_t> accepted;  ///< per pair of neighbours, all bundles together
    std::uint64_t round_trips = 0;        ///< from the highest rung to the lowest and back
  };
  const Tally& tally() const { return tally_; }
  /// Returns the share of accepted swaps of each pair of neighbours; NaN before any step.
  std::vector<double> acceptance(std::uint64_t steps) const;

  /// Goes on from another place.
  /// Throws  InvalidArgument if the rungs of a bundle are no permutation, an end is none, or sizes differ
  void restore(const std::vector<int>& chain_rungs, const Tally& tally);

 private:
  void draw_swaps(const Draws& draws, std::uint64_t step);
  void swap_pair(int bundle, int lower, std::span<const double> log_ratios);
  void mark_ends();
  void index_rungs();

  std::vector<double> inverse_temperatures_;
  int bundles_;
  std::vector<int> chain_rungs_;
  std::vector<int> chain_at_;
  std::vector<float> chain_inverse_temperatures_;
  Tally tally_;
  std::vector<std::uint32_t> swap_draws_;
};

/// How a ladder is moved.
struct TemperingOptions {
  std::vector<float> inverse_temperatures = {1.0F};  ///< ascending, the last one 1
  Rule rule = Rule::gibbs();
  int sweeps = 1;  ///< of the rule at each temperature, before the swaps of a step
};

/// Parallel tempering on many independent ladders (bundles) at once.
/// A step is `sweeps` sweeps of the rule at each chain's inverse temperature, then LadderSwaps;
/// chain_at finds who is at a temperature now.
class ParallelTempering {
 public:
  /// Makes `bundles` ladders with every unit at its lowest value, Gaussian ones at 0; chain i of each is
  /// at temperature i.
  /// Throws  InvalidArgument if bundles < 1, sweeps < 0, or the ladder is not ascending within
  /// [0, 1] or does not end at 1
  ParallelTempering(const Layered& model, int bundles, TemperingOptions options);

  /// Makes one step of every bundle, tempered between the model and its base as they are packed.
  /// The inputs that the even layers were drawn by give D: swaps need no product of their own.
  /// Randomness  unit draws of sweeps steps() * options.sweeps + i; swap draws as LadderSwaps'
  void step(const PackedModel& packed, const Draws& draws);
  /// The two halves of a step; `swap` ends the step, of whatever states the chains have then.
  void sweep(const PackedModel& packed, const Draws& draws);
  void swap(const PackedModel& packed, const Draws& draws);

  int bundles() const { return swaps_.bundles(); }
  int temperatures() const { return static_cast<int>(options_.inverse_temperatures.size()); }
  const TemperingOptions& options() const { return options_; }
  std::uint64_t steps() const { return steps_; }

  /// Returns the chain that is at temperature t of a bundle now.
  int chain_at(int bundle, int t) const { return swaps_.chain_at(bundle, t); }
  /// Returns the place in the ladder where a chain is now.
  int rung(int chain) const { return swaps_.chain_rungs()[chain]; }

  Chains& chains() { return chains_; }
  const Chains& chains() const { return chains_; }
  /// Copies the states at temperature t, bundle by bundle, into the first chains of `out`.
  /// Throws  InvalidArgument if shapes differ or out has fewer chains than bundles
  void gather(int t, Chains& out) const;

  /// Returns the share of accepted swaps of each pair of neighbours so far; NaN before any step.
  std::vector<double> acceptance() const { return swaps_.acceptance(steps_); }
  /// Counts the chains' completed trips from b = 1 to the lowest temperature and back.
  std::uint64_t round_trips() const { return swaps_.tally().round_trips; }

  /// Writes and reads back all that the next step depends on, beside the model.
  void save(CheckpointWriter& out) const;
  void restore(CheckpointReader& in);

 private:
  void swap_by(std::span<const double> log_ratios, const Draws& draws);

  TemperingOptions options_;
  LadderSwaps swaps_;
  Chains chains_;
  SideInputs even_inputs_;  ///< of the last sweep
  std::uint64_t steps_ = 0;
};

/// What parallel tempering of a target takes.
struct ReplicaOptions {
  Ladder ladder = Ladder::linear(100);
  int bundles = 4;             ///< independent ladders of one chain a rung
  std::int64_t burn_in = 500;  ///< sweeps before any is kept
  std::int64_t sweeps = 9500;  ///< kept, per chain
  /// Whether b of each chain rises from near 0 to its rung's in the first half of the burn-in, in which none
  /// is exchanged: at once at b = 1 a chain may leave, for good, a phase that the base is near. If not,
  /// chains are at their rungs from the first sweep on.
  bool annealed_start = false;
  /// Sets chains to states at b = 1, from which b of each falls to its rung's likewise; null: draws of p1.
  SetStates top_start = nullptr;
  StreamKey key = {};
  TopStates* top_states = nullptr;  ///< takes states at b = 1, of bundles * rungs chains
  Progress progress = {};

  /// Throws  InvalidArgument if bundles < 1, burn_in < 0, or < 2 with a top_start, or sweeps < 1
  void check() const;
};

/// What parallel tempering of a target gives.
struct ReplicaResult {
  SampleStore samples;  ///< rungs not drawn; chain bundle * rungs + i started at rung i
  Eigen::VectorXd acceptance =
      {};  ///< share of accepted swaps of each pair of neighbours [rungs - 1]
};

/// Samples a target at every rung by parallel tempering: after each sweep comes LadderSwaps::swap. D is that of
/// the joint state, recorded with the rung that moved it, before the swaps.
/// Randomness  the target's draws with `key`; swap draws as LadderSwaps'
/// Throws      InvalidArgument as ReplicaOptions::check
ReplicaResult parallel_tempering_samples(const Target& target, const ReplicaOptions& options);

}  // namespace boltzmark
