#pragma once

#include <functional>

#include "boltzmark/sample/estimate.hpp"

namespace boltzmark {

/// What reaching a standard error takes.
struct TargetErrorOptions {
  double std_error = 0.1;      ///< nats, wanted
  int sweeps = 10000;          ///< of the first run
  int most_sweeps = 10000000;  ///< of any run
};

/// Estimates log Z with a number of sweeps; each run's draws must be its own.
using EstimateRun = std::function<Estimate(int sweeps, int run)>;

/// Finds the sweeps that make the standard error small enough, and gives the estimate of one more
/// run with as many sweeps.
///   sweeps grow by 1.2 (SE / wanted)^2, from twofold to sixteenfold, until a run that can be
///   trusted is there
/// That run is not the estimate: it ended the search because its standard error was small, and so
/// would be taken for better than it is. The last run ends nothing; its error may be a little above
/// the one wanted, and a warning says so.
/// Throws  InvalidArgument unless the error is positive and 1 <= sweeps <= most_sweeps
Estimate estimate_to_error(const TargetErrorOptions& options, const EstimateRun& run);

}  // namespace boltzmark
