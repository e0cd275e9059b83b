#pragma once

#include <map>
#include <string>
#include <vector>

#include "experiments/calibration/support/held_runs.hpp"

namespace boltzmark::experiments {

/// A number that a run shows which may tell that its estimate is wrong: the larger, the more suspicious.
struct Predictor {
  std::string key;      ///< in the trials
  std::string title;    ///< in the report
  bool needed = false;  ///< a run without such a number is suspected most, of others least
};

/// Lists all predictors; a method's runs show some of them.
const std::vector<Predictor>& predictors();

/// A reason for which a status refuses an estimate.
struct StatusRule {
  std::string key;
  std::string title;
  bool count = false;       ///< a count held against a number that is the same for all models
  bool on_request = false;  ///< of --both-ways alone
};

/// Lists all rules.
const std::vector<StatusRule>& status_rules();

/// What one run shows of its estimate.
struct RunEvidence {
  Estimate estimate;  ///< as `boltzmark estimate` tells it, without attempts and --both-ways
  double lowest = 0;  ///< what log Z is certainly not below
  std::map<std::string, double> numbers = {};  ///< by predictors' keys; NaN: there is none
  std::map<std::string, bool> refused =
      {};  ///< by rules' keys, each by itself, in the order of hold_to_found
};

/// Lists the methods whose evidence is taken, one a sampler: rts of simulated tempering, bar of parallel
/// tempering, ais of annealing.
const std::vector<std::string>& evidence_methods();

/// Runs a method once, and once more from the other end of the ladder with as many sweeps, and tells what either shows.
/// Randomness  seed, as the command line's
/// Throws      InvalidArgument if the method is none of evidence_methods, or as estimate_log_z
RunEvidence find_evidence(const Ground& ground, const std::string& method, int chains, int sweeps,
                          std::uint64_t seed);

}  // namespace boltzmark::experiments
