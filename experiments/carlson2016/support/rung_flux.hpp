#pragma once

#include <Eigen/Core>
#include <vector>

#include "boltzmark/sample/sample_store.hpp"

namespace boltzmark::experiments {

/// Counts the transitions from rung j to rung k within chains.  Shapes  result [rungs x rungs]
Eigen::MatrixXd count_transitions(const SampleStore& store);

/// Computes how freely rungs pass each cut of the ladder: the share of transitions from rungs 1..k
/// to those above, over what independent rungs with the same occupancies would make.
///   flux_k = sum_{i <= k < j} n_ij / N / (o_k (1 - o_k)),   o_k = sum_{i <= k} n_i / N
/// 1 if nothing holds the chain back, small at a bottleneck; 0 where no transition starts below the
/// cut, or none above.
/// Shapes  transitions [rungs x rungs], result [rungs - 1]
std::vector<double> relative_flux(const Eigen::MatrixXd& transitions);

}  // namespace boltzmark::experiments
