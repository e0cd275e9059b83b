#pragma once

#include <map>
#include <string>

#include "experiments/kit/claims.hpp"
#include "experiments/kit/experiment.hpp"

namespace boltzmark::experiments {

/// Digests what a claim says is judged: its kind, statement and statistic, and its parts with their
/// tests.  Returns  8 hexadecimal digits
std::string text_digest(const Claim& claim);

/// Digests what an experiment's statistics make of trials: each claim's measures to six digits,
/// without powers, notes and reasons. Texts can stay while the code behind them changes; the
/// trials of a fixture stay too.
/// Returns  id of a claim -> 8 hexadecimal digits
std::map<std::string, std::string> measure_digests(const Experiment& experiment,
                                                   const std::map<std::string, Trial>& trials);

}  // namespace boltzmark::experiments
