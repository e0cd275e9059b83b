#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "boltzmark/core/progress.hpp"
#include "boltzmark/random/key.hpp"
#include "boltzmark/sample/estimate.hpp"
#include "boltzmark/sample/top_states.hpp"
#include "boltzmark/target/ladder.hpp"
#include "boltzmark/target/target.hpp"

namespace boltzmark {

/// Chains first .. first + count - 1 of a run.
struct ChainRange {
  int first = 0;
  int count = 0;
};

/// Processes that share the chains of a run: each makes a range of them, which may be empty, and has the
/// log weights of all.
struct SharedChains {
  int rank = 0;
  int ranks = 1;
  /// Gives every process the values of all chains, of which it has set its own range. All processes
  /// call it.
  /// failure  what went wrong with the own range; empty: nothing
  /// Throws   Error at every process if anything went wrong at one
  std::function<void(Eigen::VectorXd& values, const ChainRange& own, const std::string& failure)>
      exchange = {};

  /// Returns this process's chains of so many: whole blocks of kChainBlock, in the order of ranks.
  ChainRange range(int chains) const;
};

/// What an annealing run takes.
struct AnnealingOptions {
  Ladder ladder = Ladder::linear(100);
  int chains = 100;            ///< at least 2
  std::int64_t sweeps = 9900;  ///< per chain, spread evenly over the rungs above the lowest
  StreamKey key = {};
  /// Takes what chains that ascend end in, moved once at b = 1; no number depends on it.
  TopStates* top_states = nullptr;
  /// Has several processes make the chains, which all call with the same options; null: this one alone.
  /// All have the same result. Of top_states each has the visits of all chains, and the states of its own.
  const SharedChains* shared = nullptr;
  Progress progress = {};

  /// Throws  InvalidArgument if chains < 2 or sweeps < 0
  void check() const;
  /// Returns the sweeps made at rung k = 1..K-1.
  std::int64_t sweeps_at(int rung) const;
};

/// Returns the sweeps made at rung k of a ladder of so many steps: `sweeps` spread evenly.
/// Throws  InvalidArgument if steps < 1
std::int64_t sweeps_at_rung(std::int64_t rung, std::int64_t steps, std::int64_t sweeps);
/// Makes the sweeps of one rung; every chain of the population is at the same b.
void move_at(Population& population, const AnnealingOptions& options, int rung,
             ProgressMeter& meter);

/// What an annealing run gives.
struct AnnealingResult {
  Estimate estimate;
  Eigen::VectorXd log_weights;  ///< one per chain: log w of AIS, -R of RAISE
  double pareto_k = 0;          ///< of the weights; NaN if there is no tail to fit
  double mean_log_weight = 0;   ///< a bound on log Z (AIS) or on -log Z (RAISE), in the mean
};

/// Estimates log Z by annealed importance sampling from p1 upwards.   [Neal 2001; carlson2016, 3.2]
///   log w = sum_{k=2}^{K} [log f_{b_k}(x_{k-1}) - log f_{b_{k-1}}(x_{k-1})],  x_1 ~ p1, x_k moved
///   from x_{k-1} by whole sweeps at b_k;  log Z = log mean w, with x the marginal state
/// The sweeps of the highest rung, on which no weight depends, are not made.
/// E[w] = Z, so that E[log_z] <= log Z: a stochastic lower bound.
/// Invariant  a move draws the latent variables afresh given the rest (block Gibbs): a rule that
///   keeps them, such as flip, leaves the joint law invariant but not the weighted marginal
/// Randomness the target's draws with `key`; results do not depend on the number of threads
/// Throws     InvalidArgument as AnnealingOptions::check and require_marginal_moves
AnnealingResult annealed_importance_sampling(const Target& target, const AnnealingOptions& options);

/// Estimates log Z by annealing observed states downwards (RAISE), to which `start` sets them.
///   R = sum_k [log p*_{k+1}(v_k) - log p*_k(v_k)], v_{k-1} ~ M_k(. | v_k) from v_K observed, k
///   down to the base; log Z = -log mean e^{-R}      [Burda, Grosse and Salakhutdinov 2015]
/// If the observed v is an exact sample of the model, E[e^-R] = 1/Z and E[log_z] >= log Z: a
/// stochastic upper bound. Cases from elsewhere (data) give no bound.
/// Invariant  the moves' kernel of the marginal is reversible: block Gibbs v -> h -> v
/// Throws     InvalidArgument as AnnealingOptions::check and require_marginal_moves
AnnealingResult reverse_annealing(const Target& target, const AnnealingOptions& options,
                                  const SetStates& start);

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
/// Shapes  weights [n], not negative, of sum 1; 0 < u < 1; offspring [n], else InvalidArgument
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
