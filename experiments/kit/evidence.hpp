#pragma once

#include <span>
#include <string>

#include "experiments/kit/results.hpp"
#include "experiments/kit/summary.hpp"

namespace boltzmark::experiments {

/// What interval a check's value has as a measure.
enum class Spread {
  none,   ///< none: a claim of kind E needs none
  point,  ///< the value itself: exact evidence for a part of a claim of another kind
  share   ///< that of a proportion over random models: the value is a share of the cases
};

/// The registered check behind a claim, or behind one of its parts: what an experiment on a paper's
/// theory runs.
struct Evidence {
  const char* claim;
  const char* part;
  const char* check;
  const char* subject;
  Spread spread = Spread::none;
};

/// What an experiment runs that checks a paper's theory: every piece of evidence on so many random
/// models.
struct EvidenceRun {
  std::span<const Evidence> all;
  PerProfile<int> models;
  std::string caption;  ///< of the table of all checks
};

/// Completes the description of such an experiment: its claims, trials, run and summary.
/// Shapes  run.all outlives the experiment
Experiment evidence_experiment(Experiment description, const EvidenceRun& run);

}  // namespace boltzmark::experiments
