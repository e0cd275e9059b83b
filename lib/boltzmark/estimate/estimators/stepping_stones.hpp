#pragma once

#include "boltzmark/sample/estimate.hpp"
#include "boltzmark/sample/sample_store.hpp"

namespace boltzmark {

/// The two stepping-stone estimates and what they hold between them.
struct SteppingStones {
  Estimate forward;   ///< of Z: below log Z in the mean
  Estimate backward;  ///< of 1/Z: above
  Estimate joined;    ///< see sandwich
};

/// Estimates log Z of every rung from ratios of neighbours.    [Xie, Lewis, Fan, Kuo and Chen 2011]
///   forward   log Z_{k+1} / Z_k =  log mean_{x at k}   exp( (b_{k+1} - b_k) D(x))
///   backward  log Z_{k+1} / Z_k = -log mean_{x at k+1} exp(-(b_{k+1} - b_k) D(x))
/// Errors come from groups: the bundles of parallel tempering or the chains of simulated tempering,
/// cut into batches of sweeps as InfluenceSums are.
/// Status  unvisited_rung, without numbers, if a rung has no sample
/// Throws  InvalidArgument as SampleStore::check, or if the chains of parallel tempering are not
///   whole bundles
SteppingStones stepping_stones(const SampleStore& store);

}  // namespace boltzmark
