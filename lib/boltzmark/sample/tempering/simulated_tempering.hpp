#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "boltzmark/core/progress.hpp"
#include "boltzmark/sample/estimate.hpp"
#include "boltzmark/sample/sample_store.hpp"
#include "boltzmark/sample/top_states.hpp"
#include "boltzmark/target/ladder.hpp"
#include "boltzmark/target/target.hpp"

namespace boltzmark {

/// How a chain changes its rung.
enum class RungMove {
  gibbs,      ///< drawn from q(b | x) over all rungs                       [carlson2016, Eq. 7]
  metropolis  ///< one step up or down proposed, accepted by Metropolis
};

/// Where the initial iterations begin.
enum class Start {
  smc,   ///< one annealed SMC pass over the rungs estimates every Zhat; base if that is given, or
         ///< moves are not Gibbs sampling
  base,  ///< log Zhat_k = given or 0, chains drawn from p1 and put on random rungs [Sec. 2.4]
};

/// Which states and rungs a round of the initial iterations starts from.  [carlson2016, Sec. 2.4]
struct Restart {
  bool keep_states = true;     ///< the last x of the round before, or a fresh draw from p1
  bool uniform_rungs = false;  ///< fresh uniform rungs, or the last ones
};

/// What one round of the initial iterations found.
struct InitialRound {
  Eigen::VectorXd log_z_hat;       ///< that the round sampled with [rungs]
  RungSums sums = {};              ///< of the assignment asked for
  std::int64_t trips = 0;          ///< round trips between the ends of the ladder
  Eigen::VectorXd occupancy = {};  ///< c_k, normalised [rungs]
  /// max_k |log(c_k / r_k)|; the rounds stop below 1
  double imbalance = 0;
};

/// The settings of a tempered run. `sweeps` is the total per chain, initial stage included.
struct SimulatedTemperingOptions {
  int chains = 100;
  int sweeps = 10000;
  Ladder ladder = Ladder::linear(100);
  Eigen::VectorXd log_prior = {};  ///< log r_k up to a constant [rungs]; empty: uniform
  States states = States::joint;
  RungMove rung_move = RungMove::gibbs;
  Start start = Start::smc;
  Restart restart = {};
  /// The occupancies that the initial rounds use: Rao-Blackwellised, or counts + 0.1 (Fig. 1).
  Assignment occupancies = Assignment::soft;
  Eigen::VectorXd log_z_hat = {};  ///< first guess [rungs]; empty: zeros, or the SMC pass
  /// Sets chains to states at b = 1, where they begin at the highest rung: they stay there for a round's
  /// sweeps, then move by log_z_hat, which stays as it is, half of all sweeps before any is kept. Null: they
  /// begin as `start` says.
  SetStates top_start = nullptr;
  int round_sweeps = 0;  ///< per initial round; 0: a share of `sweeps`
  int max_rounds = 5;
  bool stop_early = true;     ///< leave the initial rounds once the imbalance is below 1
  bool initial_only = false;  ///< end with the initial stage, which may take all sweeps; no samples
  bool keep_log_f = false;    ///< keep all collapsed densities in the store
  TopStates* top_states = nullptr;  ///< takes states at b = 1
  StreamKey key = {};
  Progress progress = nullptr;  ///< the share done; may throw to stop
};

/// A tempered run: its samples, and how it came to its Zhat.
struct TemperedRun {
  SampleStore store;
  RungSums sums = {};  ///< soft, over the kept sweeps, of the states that the rungs were drawn with
  std::vector<InitialRound> rounds = {};
  int initial_sweeps = 0;  ///< per chain, SMC pass included
  bool settled = false;    ///< the last initial round's imbalance was below 1
  std::int64_t trips = 0;  ///< round trips between the ends of the ladder, over the kept sweeps
};

/// Samples states and rungs from
///   q(x, b_k) ~ (r_k / Zhat_k) f_k(x)                                     [carlson2016, Eq. 6]
/// Each sweep moves x at the chain's b, records the rung and D, then changes the rung. Zhat comes
/// from the initial stage, at most half of the sweeps, and stays fixed while samples are kept:
///   log Zhat_k <- log Zhat_k + log r_1 - log r_k + log c_k - log c_1      [Eq. 12, Sec. 2.4]
/// `left`, if given, takes the chains where the run left them.
/// Randomness  per chain and sweep: the population's, and one draw for the rung, two by Metropolis
/// Throws      InvalidArgument on settings out of range, or as require_marginal_moves if states are
///   collapsed
TemperedRun simulated_tempering(const Target& target, const SimulatedTemperingOptions& options,
                                std::optional<Populations>* left = nullptr);

/// How the pilot run of an adaptive ladder is made.
struct AdaptiveLadderOptions {
  int rungs = 100;
  int chains = 100;
  int sweeps = 2000;  ///< of the pilot run, per chain
  StreamKey key = {};
  Progress progress = nullptr;
};

/// Places rungs of equal thermodynamic length, from the variance of D that a pilot run of simulated
/// tempering on a linear ladder of as many rungs finds.   [Gelman and Meng 1998, Sec. 4]
/// Throws  InvalidArgument if rungs < 2 or the pilot's settings are out of range
Ladder adaptive_ladder(const Target& target, const AdaptiveLadderOptions& options);

}  // namespace boltzmark
