#pragma once

#include <Eigen/Core>

#include "boltzmark/random/key.hpp"
#include "boltzmark/target/ladder.hpp"
#include "boltzmark/target/target.hpp"

namespace boltzmark {

/// Where tempering starts from after a pass of sequential Monte Carlo.
struct SmcStart {
  Eigen::VectorXd log_z_hat;  ///< [rungs], first 0
  Populations populations;    ///< at b = 1, of equal weight
};

/// Returns the sweeps of the pass: three a rung, at most 30 % of all; 0 if there is just one chain.
int smc_start_sweeps(const Ladder& ladder, int chains, int sweeps);

/// Estimates every Zhat by one annealed pass, and leaves the chains at b = 1, resampled once more
/// so that they weigh the same.
/// Throws  InvalidArgument as annealed_smc
SmcStart smc_start(const Target& target, const Ladder& ladder, int chains, int sweeps,
                   StreamKey key);

}  // namespace boltzmark
