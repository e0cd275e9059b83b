#pragma once

#include <functional>
#include <span>
#include <string>

#include "experiments/kit/results.hpp"
#include "experiments/kit/summary.hpp"

namespace boltzmark::experiments {

/// The log Z that errors are taken against, and how well it is known.
struct Truth {
  double log_z = 0;
  double std_error = 0;   ///< 0: exact
  double half_width = 0;  ///< of its 95 % interval
  int runs = 0;
  int refused = 0;  ///< runs with a status other than ok

  bool exact() const { return std_error == 0; }
};

/// Takes the mean of runs as the truth, with Student's interval; NaN if there are fewer than two.
Truth mean_truth(std::span<const double> log_z);
/// Tells whether trials of "cd25" ran on the published RBM: their inputs name its file.
bool ran_on_published_cd25(const Results& results);
/// Takes the published RBM's log Z where its trials ran on that, and otherwise the long RTS runs with
/// method "truth". Their inputs, and so their seeds, are none of those that are judged.
Truth carlson_truth(const Results& results, const std::string& model, const std::string& base);

/// Carries the truth's error into a measure.
///   shifted(d) is the statistic if the truth lies d higher; its extremes over the 95 % interval of
///   the truth are added to the measure's own limits by their squares. The interval then decides,
///   and its power is that against an effect of `distance`.
/// Undecidable if the truth's standard error exceeds a third of the RMSE that is compared, or if a
/// run behind it was refused.
Measure with_truth_error(Measure measure, const Truth& truth, double compared_rmse, double distance,
                         const std::function<double(double)>& shifted);

}  // namespace boltzmark::experiments
