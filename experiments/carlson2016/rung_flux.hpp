#pragma once

#include <vector>

#include "boltzmark/estimate/sample_store.hpp"

namespace boltzmark::experiments {

/// Computes how freely rungs pass each cut of the ladder: the share of transitions from rungs 1..k
/// to those above, over what independent rungs with the same occupancies would make.
///   flux_k = sum_{i <= k < j} n_ij / N / (o_k (1 - o_k)),   o_k = sum_{i <= k} n_i / N
/// 1 if nothing holds the chain back, small at a bottleneck; 0 where no transition starts below the
/// cut, or none above.
/// Shapes  result [rungs - 1]
std::vector<double> relative_flux(const SampleStore& store);

}  // namespace boltzmark::experiments
