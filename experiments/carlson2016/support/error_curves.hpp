#pragma once

#include <string>
#include <vector>

#include "experiments/carlson2016/support/truth.hpp"
#include "experiments/kit/errors.hpp"
#include "experiments/kit/results.hpp"
#include "experiments/kit/summary.hpp"

namespace boltzmark::experiments {

/// One method on one model at one number of sweeps, repeated: a point of Figs. 3 and 7.
struct ErrorPoint {
  std::string model;  ///< as carlson_target takes it
  std::string base;   ///< "rates" or "uniform"
  /// "rts", "ais", "raise"; "rts-joint": RTS on joint states; "rts-paper": the ten initial rounds
  /// of Sec. 4.2, from Zhat = 1; "rts-settled": rounds until the stop rule, at most half of the
  /// sweeps; "truth": RTS with seeds of its own, which errors are taken against
  std::string method;
  int sweeps = 0;
};

/// Lists the trials of a point: one a repeat.
std::vector<Json> error_trials(const ErrorPoint& point, int repeats);

/// Tells what one costs, relative to others; without a method it is a run of RTS.
double error_trial_cost(const Json& inputs);
/// Runs one: log_z, std_error, status; mean_r for RAISE, the average of R.
Json run_error_trial(const Json& inputs, const TrialContext& context);

/// Sums up the errors of one point; "raise-mean" stands for the average of R in RAISE's trials.
ErrorCell error_cell(const Results& results, const ErrorPoint& point, double truth);

/// What is shown and judged of one model.
struct ErrorPanel {
  std::string model;
  std::string title;  ///< "784-500"
  std::string base;
  std::vector<int> sweeps;
  std::vector<std::string> methods;
  Truth truth = {};
  std::string published_file = {};
  std::string published_mean = {};  ///< figure keys of the published curves; empty: none
  std::string published_rmse = {};
  std::string remark = {};  ///< of the figure's caption, after a blank
};

/// Adds the table alone; returns whether there was anything to show.
bool add_error_table(const Results& results, const ErrorPanel& panel, const std::string& name,
                     Summary& summary);
/// Adds the table and the two graphs, mean and RMSE against sweeps, published curves beside ours.
void add_error_panel(const Results& results, const ErrorPanel& panel, const std::string& name,
                     Summary& summary);

/// Fewest repeats that decide a claim about RMSE: with 12 a ratio of 1.9 is seen in two of three
/// cases.
inline constexpr int kEnoughRepeats = 12;

/// Makes a measure of log(RMSE of a / RMSE of b) with its F interval, p for "below zero", and its
/// post hoc power against a ratio of `seen`; undecidable with fewer than kEnoughRepeats. The truth's error
/// is carried.
Measure rmse_ratio(const std::string& claim, const std::string& part, const ErrorCell& a,
                   const ErrorCell& b, const Truth& truth, double seen = 1.9);

/// Makes a measure of |mean error of a| - |mean error of b|, with Welch's interval of the means'
/// difference and its power against a difference of `seen` nats. The truth's error is carried.
Measure bias_difference(const std::string& claim, const std::string& part, const ErrorCell& a,
                        const ErrorCell& b, const Truth& truth, double seen = 0.5);

}  // namespace boltzmark::experiments
