#pragma once

#include <functional>
#include <string>
#include <vector>

#include "estimate_options.hpp"
#include "experiments/kit/summary.hpp"

namespace boltzmark::cli {

/// What is compared.
struct ComparisonPlan {
  std::vector<std::string> methods;
  std::vector<int> sweeps;
  int repeats = 10;
  double truth = 0;
  EstimateArguments shared;
};

/// One estimate.
struct ComparisonTrial {
  std::string method;
  int sweeps = 0;
  int repeat = 0;
  Estimate estimate = {};
  double seconds = 0;  ///< its own; of methods that share a run, the run included
};

/// The errors of one method at one number of sweeps, over the repeats that have a number.
struct ComparisonCell {
  std::string method;
  int sweeps = 0;
  int repeats = 0;  ///< with a number
  int refused = 0;  ///< with a status other than ok
  int covered = 0;  ///< of those that are ok: truth within [lower, upper]
  double mean = 0;
  double std_dev = 0;
  double bias = 0;
  double rmse = 0;
  double rmse_lower = 0, rmse_upper = 0;  ///< 95 %, for normal errors
  double mean_std_error = 0;
  double unit_updates = 0;
  double seconds = 0;  ///< mean
  int ok() const { return repeats_in_all - refused; }
  int repeats_in_all = 0;
};

/// Runs every method at every number of sweeps `repeats` times; methods that read samples share a
/// run. `report` hears the sweeps done.
std::vector<ComparisonTrial> run_comparison(const ComparisonPlan& plan, const Layered& model,
                                            const LayeredTarget& target,
                                            const std::function<void(double)>& report);

/// Counts the sweeps that run_comparison will make.
double planned_sweeps(const ComparisonPlan& plan);

/// Sums the trials up, one cell a method and number of sweeps.
std::vector<ComparisonCell> sum_up(const ComparisonPlan& plan, const Layered& model,
                                   const std::vector<ComparisonTrial>& trials);

/// Lays the cells out as a table for CSV, without times.
experiments::Table comparison_table(const std::vector<ComparisonCell>& cells);
/// Lists every estimate, for CSV.
experiments::Table trials_table(const std::vector<ComparisonTrial>& trials);
/// Draws RMSE and bias against sweeps, a figure each.
std::vector<experiments::Figure> comparison_figures(const ComparisonPlan& plan,
                                                    const std::string& model,
                                                    const std::vector<ComparisonCell>& cells);

}  // namespace boltzmark::cli
