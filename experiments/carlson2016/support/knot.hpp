#pragma once

#include "experiments/kit/results.hpp"
#include "experiments/kit/summary.hpp"

namespace boltzmark::experiments {

/// Draws the matrix of transitions between rungs with base rates and with a uniform p1.
void add_transition_figure(const Results& results, Summary& summary);
/// Draws the relative flux across each cut of it.
void add_flux_figure(const Results& results, Summary& summary);

}  // namespace boltzmark::experiments
