#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "experiments/calibration/support/zoo.hpp"
#include "experiments/kit/results.hpp"
#include "experiments/kit/statistics/bootstrap.hpp"
#include "experiments/kit/statistics/interval.hpp"

namespace boltzmark::experiments {

/// What a run of a method on a model of the zoo ended with.
struct ZooOutcome {
  const ZooModel* model = nullptr;
  std::string base = {};  ///< as --base takes it
  int seed = 0;
  std::string method = {};
  double error = 0;      ///< log Z estimated less the true one, in nats
  double std_error = 0;  ///< stated
  double sweeps = 0;     ///< of all attempts
  bool ok = false;
  bool covered = false;  ///< by the stated 95 % interval
  bool known = false;    ///< the bound that it was held to is log Z itself: it could not be false

  /// More than 5 standard errors and 0.5 nats off.
  bool wrong() const;
  /// Within 2 standard errors, and 0.5 nats.
  bool right() const;
};

/// Reads the outcome of one method of a trial.
ZooOutcome read_outcome(const Trial& trial, const std::string& method);
/// Reads the outcomes of all trials that are finished; runs without a number are refused ones.
std::vector<ZooOutcome> read_outcomes(const Results& results);

/// Keeps the outcomes of which something holds.
std::vector<ZooOutcome> keep(const std::vector<ZooOutcome>& outcomes,
                             const std::function<bool(const ZooOutcome&)>& holds);

/// Picks one outcome of each run that is independent of the others, one of which something holds if
/// there is any: methods that read the same chains of a model and seed, or move theirs by the same draws, are one run.
std::vector<ZooOutcome> independent_runs(const std::vector<ZooOutcome>& outcomes,
                                         const std::function<bool(const ZooOutcome&)>& holds);

/// Bootstraps a statistic over so many models, given by their numbers: a percentile interval of 95 %.
/// Randomness  a key of this name
Interval over_models(std::size_t models, const RowStatistic& statistic, const char* name);

/// The share of outcomes of which something holds, with a 95 % interval: the wider, on either side, of
/// the exact one of a proportion and of the bootstrap over models, whose runs share what is hard
/// about them. Undefined (NaN) without outcomes.
Interval share_of(const std::vector<ZooOutcome>& outcomes,
                  const std::function<bool(const ZooOutcome&)>& holds);

}  // namespace boltzmark::experiments
