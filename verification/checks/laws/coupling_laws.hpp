#pragma once

#include <Eigen/Core>

#include "verification/checks/laws/adaptive_pairs.hpp"

namespace boltzmark {

// What the readings of the swap in salakhutdinov2010, Sec. 6.1 and 8, hand to the slow chain while
// the weights g stand still: exact laws, of which `each` and `lag` give p and the others do not.

/// Computes the law of the fast chain's state when it arrives at b = 1, from its kernel.
/// Shapes  [states]
Eigen::VectorXd arrival_law(const AdaptivePairs& pairs);
/// Computes what it must be:  p(x) a(x) / sum, a(x) the probability of leaving b = 1 from x.
Eigen::VectorXd predicted_arrival_law(const AdaptivePairs& pairs);

/// Computes the law of the last state at b = 1, at a time that does not depend on the chain, from
/// the chain of (x, k, last state).
Eigen::VectorXd last_top_law(const AdaptivePairs& pairs);
/// Computes what it must be:  pi(x, 1) E_x[time of return to b = 1].
Eigen::VectorXd predicted_last_top_law(const AdaptivePairs& pairs);

/// Computes the law of the last state at b = 1 after so many sweeps from a state y there, y itself
/// counted: row y.  Shapes  [states x states]
Eigen::MatrixXd last_top_kernel(const AdaptivePairs& pairs, int lag);

/// Computes the slow chain's law under `last`: the mean over the sweeps of a lag, from the swap on.
/// What a swap hands over depends on the slow state of the swap before alone.
Eigen::VectorXd slow_law_of_last(const AdaptivePairs& pairs, int lag);
/// Computes the slow chain's law under `each` or `entry`, by iteration from p(x) pi(x, k).
Eigen::VectorXd slow_law(const AdaptivePairs& pairs, SwapRule rule);

/// Computes the total variation distance of two laws.
double total_variation(const Eigen::VectorXd& a, const Eigen::VectorXd& b);

}  // namespace boltzmark
