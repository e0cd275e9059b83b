#pragma once

#include "experiments/kit/results.hpp"
#include "experiments/kit/summary.hpp"

namespace boltzmark::experiments {

/// Measures C35 from the longest runs of RTS and AIS on "cd25": the variance over repeats with its
/// chi-squared limits; undecidable with fewer than kEnoughRepeats, or if runs shorter than the
/// paper's 1,000,000 sweeps do not show it to be small.
void add_truth_variance(const Results& results, int sweeps, Summary& summary);
/// Measures C33 and C34 on the published RBM from the runs of RTS and AIS of so many sweeps.
void add_published_values(const Results& results, int sweeps, Summary& summary);
/// Tabulates what was asked of RTS and AIS on the published RBM at 10,000 sweeps, with a note on
/// the size of RTS's error.
void add_acceptance(const Results& results, Summary& summary);

}  // namespace boltzmark::experiments
