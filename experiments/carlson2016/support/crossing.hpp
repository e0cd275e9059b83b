#pragma once

#include <string>

#include "experiments/carlson2016/support/error_curves.hpp"

namespace boltzmark::experiments {

/// Who crosses what: AIS's RMSE that of RTS at 1,000 sweeps.
struct Crossing {
  std::string model;
  std::string title;
  std::vector<int> sweeps;  ///< that AIS is planned for, ascending
  int repeats = 0;          ///< that are planned of each
  Truth truth = {};
  std::string published = {};  ///< figure key of the published RMSEs
  std::string reason = {};     ///< the likely one, should the crossing come sooner
};

/// Measures C32: the sweeps at which AIS has the RMSE that RTS has at 1,000, by interpolation on
/// logarithmic scales.
///   limits: the crossings of AIS's lower limits with RTS's upper one, and the other way round, the
///   truth shifted to either end of its interval too. A curve that has not come down within the
///   runs is censored: it crosses beyond the longest run, and its upper limit is infinite; one that
///   is below at the first run has the lower limit 0.
/// Power  that of confirming, against a crossing at 40,000 sweeps with an RMSE that falls like the
///        square root of sweeps: 0 where no run has 10,000, so that the profile can only refute
void add_crossing(const Results& results, const Crossing& crossing, Summary& summary);

}  // namespace boltzmark::experiments
