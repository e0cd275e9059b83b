#pragma once

#include "boltzmark/core/progress.hpp"
#include "boltzmark/sample/estimate.hpp"
#include "boltzmark/sample/tempering/simulated_tempering.hpp"
#include "boltzmark/sample/top_states.hpp"

namespace boltzmark {

/// How Zhat follows the chains while they run.
enum class Adaptation {
  /// log Zhat_k += g for every chain on rung k; g is halved when every rung has had 0.8 of its
  /// share since the last halving, and follows 1/t once that is larger.
  ///              [Wang and Landau 2001; Belardinelli and Pereyra 2007, Eq. 3; carlson2016,
  ///              Sec. 3.1]
  wang_landau,
  /// log Zhat_k += g_t (c_k / r_k - 1) with this sweep's Rao-Blackwellised c_k, in two stages: half
  /// of the sweeps up to the middle with g_t = min(1, K / t) and steps cut at 1 nat, which soon
  /// reach every rung but settle off log Z, then g_t = 1 / (t - t0 + 1 / min r), whose steps need
  /// no cut.
  ///                                       [Tan 2017, Sec. 3.2; carlson2016, Eq. 19]
  sams
};

/// The settings of an adaptive run; `sweeps` is the total per chain.
struct AdaptiveTemperingOptions {
  Adaptation adaptation = Adaptation::wang_landau;
  int chains = 100;
  int sweeps = 10000;
  Ladder ladder = Ladder::linear(100);
  Eigen::VectorXd log_prior = {};  ///< log r_k up to a constant [rungs]; empty: uniform
  Eigen::VectorXd log_z_hat = {};  ///< first guess [rungs]; empty: zeros, or the SMC pass
  Start start = Start::smc;        ///< where each island begins; base if a guess is given
  StreamKey key = {};
  Progress progress = nullptr;      ///< the share done; may throw to stop
  TopStates* top_states = nullptr;  ///< takes states at b = 1, of the second half of the sweeps
};

/// An adaptive run's estimate, and log Zhat of the top rung of each island after every sweep.
struct AdaptiveTemperingRun {
  Estimate estimate;
  Eigen::MatrixXd top_log_z;  ///< [sweeps x islands]
};

/// Estimates log Z by tempering whose Zhat adapts at every sweep.
/// Chains form up to 8 islands, each with a start and a Zhat of its own. The estimate is the mean
/// over islands of log Zhat_K averaged over the second half of the sweeps; the islands' spread is
/// its error, and effective_samples counts the round trips of that half.
/// Status  as judge_exchanges; few_effective_samples of few round trips; not_converged if visits are still uneven
/// Throws  InvalidArgument on settings out of range
AdaptiveTemperingRun adaptive_tempering(const Target& target,
                                        const AdaptiveTemperingOptions& options);

}  // namespace boltzmark
