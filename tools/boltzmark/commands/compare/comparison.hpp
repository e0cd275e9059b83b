#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/kit/errors.hpp"
#include "experiments/kit/summary.hpp"
#include "tools/boltzmark/commands/estimate/estimate_options.hpp"

namespace boltzmark::cli {

/// What is compared.
struct ComparisonPlan {
  std::vector<std::string> methods;
  std::vector<int> sweeps;
  int repeats = 10;
  EstimateArguments shared;
};

/// One estimate.
struct ComparisonTrial {
  std::string method;
  int sweeps = 0;
  int repeat = 0;
  experiments::Outcome outcome = {};
  double effective_samples = 0;
  std::string status = {};
  double moves = 0;    ///< sweeps of single chains, a ladder's pilot included
  double seconds = 0;  ///< its own; of methods that share a run, the run included
};

/// The errors of one method at one number of sweeps.
struct ComparisonCell {
  std::string method;
  int sweeps = 0;
  experiments::ErrorCell errors = {};
  double unit_updates = 0;  ///< that were made
  double seconds = 0;       ///< mean
  int rank = 0;             ///< by RMSE at this number of sweeps; 0: refused, or without a number

  /// At least half of the repeats were refused: a point to be marked, and not to be ranked.
  bool refused() const { return 2 * errors.refused >= errors.estimates; }
};

/// What came out of a model.
struct Comparison {
  std::string model;  ///< as it is named in tables and figures
  double truth = 0;
  std::optional<std::string> summed = {};  ///< the layers that any method's weights sum out
  std::vector<ComparisonTrial> trials = {};
  std::vector<ComparisonCell> cells = {};  ///< the trials summed up, those not refused ranked
};

/// Tells whether a method reads samples that others read too.
bool shares_run(const std::string& method);
/// Sums up the trials of a model of so many units.
void sum_up_cells(const ComparisonPlan& plan, int units, Comparison& comparison);

/// Counts the sweeps of all runs of a model, methods that read samples in one run.
double planned_sweeps(const ComparisonPlan& plan);

/// Lays the cells of all models out as a table for CSV, without times.
experiments::Table comparison_table(const std::vector<Comparison>& comparisons);
/// Lists every estimate, for CSV.
experiments::Table trials_table(const std::vector<Comparison>& comparisons);
/// Draws RMSE and bias against sweeps, a figure each with a panel a model; and of several models RMSE
/// against the model, at the most sweeps. Refused points are ringed.
std::vector<experiments::Figure> comparison_figures(const ComparisonPlan& plan,
                                                    const std::vector<Comparison>& comparisons);

}  // namespace boltzmark::cli
