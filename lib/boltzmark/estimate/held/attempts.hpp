#pragma once

#include <functional>
#include <optional>
#include <string>

#include "boltzmark/estimate/methods.hpp"
#include "boltzmark/sample/estimate.hpp"

namespace boltzmark {

/// Says why a run of so many sweeps is not to be started; none if it may be.
using Obstacle = std::function<std::optional<std::string>(int sweeps)>;

/// Says why no number of sweeps makes an estimate ok, but of weights that are all alike; none if some may.
/// Annealed chains are a sample each, or less, and kFewEffectiveSamples are too few.
std::optional<std::string> lasting_obstacle(const Method& method, int chains);

/// What reaching a standard error takes.
struct TargetErrorOptions {
  double std_error = 0.1;      ///< nats, wanted
  int sweeps = 10000;          ///< of the first run
  int most_sweeps = 10000000;  ///< of any run
  Obstacle obstacle = {};      ///< none: any run may be started; not asked about the first
};

/// Estimates log Z with a number of sweeps; each run's draws must be its own.
using EstimateRun = std::function<Estimate(int sweeps, int run)>;

/// Finds the sweeps that make the standard error small enough, and gives the estimate of one more
/// run with as many sweeps.
///   sweeps grow by 1.2 (SE / wanted)^2, from twofold to sixteenfold, until a run that can be
///   trusted is there
/// That run is not the estimate: it ended the search because its standard error was small, and so
/// would be taken for better than it is. The last run ends nothing; its error may be a little above
/// the one wanted, and a warning says so. An obstacle ends the search where it is, with a warning that names it.
/// Throws  InvalidArgument unless the error is positive and 1 <= sweeps <= most_sweeps
Estimate estimate_to_error(const TargetErrorOptions& options, const EstimateRun& run);

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
