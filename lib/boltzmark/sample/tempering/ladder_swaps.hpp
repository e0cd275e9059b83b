#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "boltzmark/random/draws.hpp"

namespace boltzmark {

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
  /// Throws  InvalidArgument if the rungs of a bundle are no permutation, or sizes differ
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

}  // namespace boltzmark
