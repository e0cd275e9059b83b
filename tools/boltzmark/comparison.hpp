#pragma once

#include <functional>
#include <string>
#include <vector>

#include "estimate_options.hpp"
#include "experiments/kit/errors.hpp"
#include "experiments/kit/summary.hpp"

namespace boltzmark::cli {

/// What is compared.
struct ComparisonPlan {
  std::vector<std::string> methods;
  std::vector<int> sweeps;
  int repeats = 10;
  double truth = 0;
  double lowest = Estimate::kNone;  ///< what log Z is certainly not below, if that is known
  EstimateArguments shared;
};

/// One estimate.
struct ComparisonTrial {
  std::string method;
  int sweeps = 0;
  int repeat = 0;
  Estimate estimate = {};
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

/// Runs every method at every number of sweeps `repeats` times; methods that read samples share a
/// run. `report` hears the sweeps done.
std::vector<ComparisonTrial> run_comparison(const ComparisonPlan& plan, const Layered& model,
                                            const LayeredTarget& target,
                                            const std::function<void(double)>& report);

/// Counts the sweeps that run_comparison will make.
double planned_sweeps(const ComparisonPlan& plan);

/// Sums the trials up, one cell a method and number of sweeps, and ranks those that are not refused.
std::vector<ComparisonCell> sum_up(const ComparisonPlan& plan, const Layered& model,
                                   const std::vector<ComparisonTrial>& trials);

/// Lays the cells out as a table for CSV, without times.
experiments::Table comparison_table(const ComparisonPlan& plan,
                                    const std::vector<ComparisonCell>& cells);
/// Lists every estimate, for CSV.
experiments::Table trials_table(const std::vector<ComparisonTrial>& trials);
/// Draws RMSE and bias against sweeps, a figure each; refused points are ringed.
std::vector<experiments::Figure> comparison_figures(const ComparisonPlan& plan,
                                                    const std::string& model,
                                                    const std::vector<ComparisonCell>& cells);

}  // namespace boltzmark::cli
