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

/// Lists one trial a piece of evidence, each on that many random models.
std::vector<Json> evidence_trials(std::span<const Evidence> all, int cases);

/// Runs the check of one trial.  Throws  InvalidArgument if there is no such check
Json run_evidence(const Json& inputs, const TrialContext& context);

/// Adds the table of all checks, "checks", and a measure a piece of evidence.
void summarise_evidence(std::span<const Evidence> all, const std::string& caption,
                        const Results& results, Summary& summary);

}  // namespace boltzmark::experiments
