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
/// Measures C41, one value a run: the mean |tracked - AIS| in nats over the checks at which AIS finds
/// a training likelihood in the range of the published curve. One run decides none of these claims.
void add_tracking_agreement(const std::vector<TrackingCurves>& runs, Summary& summary);
/// Tabulates the tracking error by alpha and measures C43, worst over best, over the same checks.
void add_tracking_alphas(const std::vector<TrackingCurves>& runs, Summary& summary);
/// Measures C42: what the log-likelihoods change, in nats, between the stretch (a twentieth of a run)
/// where validation is highest and the last one before that of training exceeds `ceiling`, minus the
/// entropy of the training cases, which no model's can. A run's stretch is chosen by the other runs.
void add_early_stopping(const std::vector<TrackingCurves>& runs, double ceiling, Summary& summary);

}  // namespace boltzmark::experiments
