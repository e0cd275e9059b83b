#pragma once

#include <functional>
#include <optional>
#include <string>

#include "boltzmark/estimate/held/target_error.hpp"

namespace boltzmark {

/// Says why an attempt of so many sweeps is not to be started; none if it may be.
using Obstacle = std::function<std::optional<std::string>(int sweeps)>;

/// How an estimate that is refused is tried again.
struct AttemptOptions {
  int sweeps = 10000;      ///< of the first attempt; each next one has twice as many
  int most = 4;            ///< attempts
  Obstacle obstacle = {};  ///< none: any attempt may be started; not asked about the first
};

/// Tries until an estimate is ok, the attempts are used up, or an obstacle is in the way, which a
/// warning then names; gives the last attempt's estimate.
///   Lengths are fixed beforehand and each attempt's draws are its own: what a refused attempt found
///   decides nothing but that there is another one. The last one was still chosen by its status, so
///   that false oks are to be counted over the whole procedure: at most so many times one run's.
/// Throws  InvalidArgument unless sweeps and most are at least 1
Estimate estimate_until_ok(const AttemptOptions& options, const EstimateRun& run);

}  // namespace boltzmark
