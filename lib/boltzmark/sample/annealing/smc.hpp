#pragma once

#include <Eigen/Core>
#include <span>

#include "boltzmark/random/key.hpp"
#include "boltzmark/sample/annealing/annealing.hpp"
#include "boltzmark/target/ladder.hpp"
#include "boltzmark/target/target.hpp"

namespace boltzmark {

/// What annealed sequential Monte Carlo takes beside an annealing run.
struct SmcOptions {
  AnnealingOptions annealing = {};
  double resample_below = 0.5;  ///< share of an island's effective chains below which it resamples
  int islands = 0;              ///< at least 2 and at most chains; 0 chooses, see default_islands

  /// Throws  InvalidArgument as AnnealingOptions::check, or if a value is out of range
  void check() const;
};

/// Returns how many islands a number of chains makes: one for each 8 chains, 2 to 10.
int default_islands(int chains);

/// What annealed sequential Monte Carlo gives.
struct SmcResult {
  Estimate estimate;  ///< log_z_rungs holds log Z of every rung
  /// Of the chains left at b = 1, each its weight in its island times the island's Z up to its last
  /// resampling [chains]. With islands of one size, log mean w = log_z.
  Eigen::VectorXd log_weights;
  int resamplings = 0;      ///< of all islands
  Populations populations;  ///< the chains, moved last at b = 1
};

/// Estimates log Z of every rung by annealing with resampling (Del Moral, Doucet and Jasra 2006).
/// Chains are split into islands that never meet. At each rung an island's chains are weighted by
/// f_{b_k} / f_{b_{k-1}} of the marginal state; if  (sum w)^2 / sum w^2 < resample_below n  they
/// are resampled (systematic) and their weights set to 1; then they are moved at b_k.
///   Z_k of an island = prod over its resamplings of the mean weight; log Z_k = log mean of islands
/// E[Z_k] is exact, so that E[log_z] <= log Z. Islands are independent: the jackknife over them
/// keeps its coverage however often chains are resampled, where estimators on genealogies fail once
/// all chains have one ancestor (Lee and Whiteley 2018, Sec. 4). To first order islands cost no
/// variance.
/// Status      as estimate_from_weights; few_effective_samples also where the islands' Z_k are as good
///   as fewer than one of them and a tenth of all
/// Randomness  the target's draws with `key`; Stream(key, Purpose::resample, rung islands + island)
/// Throws      InvalidArgument as SmcOptions::check and require_marginal_moves
SmcResult annealed_smc(const Target& target, const SmcOptions& options);

/// Counts offspring by systematic resampling: chain i gets floor or ceil of n w_i, n w_i in the
/// mean over u.
///   offspring_i = ceil(n W_i - u) - ceil(n W_{i-1} - u),  W_i = w_1 + .. + w_i
/// Shapes  weights [n], not negative, of sum 1; 0 < u < 1
void systematic_offspring(std::span<const double> weights, double u, std::span<int> offspring);

/// Where tempering starts from after a pass of sequential Monte Carlo.
struct SmcStart {
  Eigen::VectorXd log_z_hat;  ///< [rungs], first 0
  Populations populations;    ///< at b = 1, of equal weight
};

/// Returns the sweeps of the pass: three a rung, at most 30 % of all; 0 if there is just one chain.
int smc_start_sweeps(const Ladder& ladder, int chains, int sweeps);

/// Estimates every Zhat by one annealed pass of two islands, and leaves the chains at b = 1, resampled
/// once more by what they weigh since their islands resampled last: a start, not a sample, as the
/// islands' own Z do not count. (Runs that are kept began so.)
/// Throws  InvalidArgument as annealed_smc
SmcStart smc_start(const Target& target, const Ladder& ladder, int chains, int sweeps,
                   StreamKey key);

}  // namespace boltzmark
