#pragma once

#include <map>
#include <string>
#include <vector>

#include "experiments/kit/claims.hpp"
#include "experiments/kit/experiment.hpp"
#include "experiments/kit/summary.hpp"

namespace boltzmark::experiments {

/// Digests what a claim says is judged: its kind, statement and statistic, and its parts with their
/// tests.  Returns  8 hexadecimal digits
std::string text_digest(const Claim& claim);

/// Measures what an experiment's statistics make of trials, as of profile paper.
std::vector<Measure> measures_of_trials(const Experiment& experiment,
                                        const std::map<std::string, Trial>& trials);

/// Digests each claim's measures to six digits, without powers, notes and reasons. Texts can stay
/// while the code behind them changes; the trials of a fixture stay too.
/// Returns  id of a claim -> 8 hexadecimal digits
std::map<std::string, std::string> measure_digests(const std::vector<Measure>& measures);

/// Digests which exact check gives the measure of each part of a claim, and its bound: most values
/// of checks are 0 but for rounding, and those of two checks have one digest.
/// Returns  id of a claim that a check decides -> 8 hexadecimal digits
std::map<std::string, std::string> check_digests(const std::vector<Measure>& measures);

}  // namespace boltzmark::experiments
