#pragma once

#include <vector>

#include "experiments/kit/experiment.hpp"
#include "experiments/kit/results.hpp"
#include "experiments/kit/summary.hpp"

namespace boltzmark::experiments {

/// Trials of AIS and of RAISE from exact samples on small RBMs, whose biases are known.
std::vector<Json> annealing_bias_trials(Profile profile);

/// Runs both many times, and computes what the enumerated moments of a weight say of their biases.
Json run_annealing_bias(const Json& inputs, const TrialContext& context);

/// Adds the table that holds the one against the other.
void add_annealing_bias(const Results& results, Summary& summary);

}  // namespace boltzmark::experiments
