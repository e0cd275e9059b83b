#pragma once

#include <string>
#include <vector>

#include "experiments/kit/claims.hpp"
#include "experiments/kit/plan.hpp"

namespace boltzmark::experiments {

/// `reproduce` on given experiments and claims, so that tests can bring their own.
ReproduceResult reproduce(const ReproduceOptions& options, const std::vector<Experiment>& all,
                          const std::vector<ClaimFile>& claims);

/// Writes the report of everything that a folder holds at one profile: each experiment's CSV and
/// SVG files, manifest.json, report/index.html, report/report.md and report/claims.json.
///   plans are experiments planned already; the others are planned from the folder if they have one
void write_report(const ReproduceOptions& options, std::vector<PlannedExperiment> plans,
                  const std::vector<Experiment>& all, const std::vector<ClaimFile>& claims,
                  ReproduceResult& result);

}  // namespace boltzmark::experiments
