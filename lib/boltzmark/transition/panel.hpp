#pragma once

#include "boltzmark/transition/chains.hpp"

namespace boltzmark {

/// Units are updated in panels of this many: a tile is kPanel units x kChainBlock chains.
inline constexpr int kPanel = 8;
inline constexpr int kTile = kPanel * kChainBlock;

}  // namespace boltzmark
