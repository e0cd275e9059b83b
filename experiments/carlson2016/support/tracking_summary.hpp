#pragma once

#include <vector>

#include "experiments/kit/experiment.hpp"
#include "experiments/kit/summary.hpp"

namespace boltzmark::experiments {

/// Partial updates that Fig. 5 compares, within .05 < alpha < .5.
inline constexpr double kTrackingAlphas[] = {0.06, 0.1, 0.2, 0.3, 0.45};

/// What a tracked training run recorded, as the summary uses it.
struct TrackingCurves {
  std::vector<double> update, train, valid;  ///< tracked, at every record
  std::vector<double> ais_update, ais_train, ais_valid, ais_std_error;
  std::vector<double> errors;               ///< |tracked - AIS| of log Z at each check
  std::vector<std::vector<double>> follow;  ///< the same of each alpha [alphas][checks]

  explicit TrackingCurves(const Json& outputs);
};

/// Draws both log-likelihoods with AIS's, and the published curves except at toy size.
void add_tracking_figure(const TrackingCurves& run, Profile profile, Summary& summary);
/// Lists tracked log-likelihoods beside AIS's.
void add_tracking_checks(const TrackingCurves& run, Summary& summary);
/// Measures C41: the mean |tracked - AIS|.
void add_tracking_agreement(const TrackingCurves& run, Summary& summary);
/// Tabulates the tracking error by alpha and measures C43, worst over best.
void add_tracking_alphas(const TrackingCurves& run, Summary& summary);
/// Measures C42, decidable if the run has at least `whole_run` updates: what the log-likelihoods
/// change between the stretch where validation is highest and the last one.
void add_early_stopping(const TrackingCurves& run, int whole_run, Summary& summary);

}  // namespace boltzmark::experiments
