#pragma once

#include "verification/checks/laws/partition.hpp"

namespace boltzmark {

/// Makes the two-spin example of the paper: an RBM 1-1 of spins with weight 5, every state a set,
///   X_1 = (1, 1), X_2 = (-1, 1), X_3 = (1, -1), X_4 = (-1, -1)       [salakhutdinov2010, Sec. 4.1]
Partition two_spin_partition();
/// The state in which its chains start, (-1, -1) in X_4, as the set of its data point, (1, 1).
inline constexpr std::size_t kTwoSpinStart = 0;
inline constexpr int kTwoSpinData = 0;

}  // namespace boltzmark
