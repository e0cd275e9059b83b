#pragma once

#include <limits>

#include "boltzmark/sample/estimate.hpp"

namespace boltzmark {

/// The range of the D that were sampled; unbounded if there are none.
struct RatioRange {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};

/// Returns the range of sampled D.
inline RatioRange range_of(const Eigen::MatrixXd& log_ratio) {
  if (log_ratio.size() == 0) return {};
  return {log_ratio.minCoeff(), log_ratio.maxCoeff()};
}

/// Closes an estimate: the one place through which the registered methods' numbers leave the
/// library, and where what cannot be right loses its ok.
///   log Z lies between the means of D at b = 0 and at b = 1 (Gibbs and Bogoliubov), so an estimate
///   ten standard errors and more beyond D's range is none. An error above the largest |D|, and
///   above a nat, says nothing.
/// Numbers that are not finite become NaN. The reason comes first among the warnings of an estimate
/// without log Z, which thus always has one.
/// Status  not_converged unless log_z is finite; also if the estimate was ok and its error, limits
///   or effective samples are not finite or impossible (a negative error, limits not around log Z,
///   fewer samples than none), or it is beyond the range
Estimate closed(Estimate estimate, const RatioRange& range = {});

/// Refuses an estimate whose upper limit lies below a number that log Z certainly is not below, such
/// as exact/modes/lower_bound.hpp finds, less its error bound; or that lies itself five standard errors
/// and half a nat below it, for the limits of thermodynamic integration are those of sums that
/// bracket the integral. NaN: there is no such number. Of several estimates that are told together the limits are
/// those of 95 % for all.
/// Status  below_bound     Invariant  together > 0
void refuse_below(Estimate& estimate, double lowest, int together = 1);

/// Refuses an estimate whose lower limit is, by more than 0.001 nats, above what log Z certainly is not above, which
/// is known where all states are. Of several that are told together as refuse_below does.
/// Status  not_converged     Invariant  together > 0
void refuse_above(Estimate& estimate, double highest, int together = 1);

}  // namespace boltzmark
