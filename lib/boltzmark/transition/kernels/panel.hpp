#pragma once

#include "boltzmark/transition/chains.hpp"

namespace boltzmark {

/// Units are updated in panels of this many; one has kPanelSize states of a block of chains.
inline constexpr int kPanel = 8;
inline constexpr int kPanelSize = kPanel * kChainBlock;
constexpr int panels_of(int units) { return (units + kPanel - 1) / kPanel; }

/// A table of sums of weights serves this many two-valued neighbours at once, one entry for each of
/// their joint states.
inline constexpr int kTableUnits = 4;
inline constexpr int kTableEntries = 1 << kTableUnits;
constexpr int table_groups(int units) { return (units + kTableUnits - 1) / kTableUnits; }

/// Rows of weights are padded to a multiple of this many units.
inline constexpr int kRowStep = 16;
constexpr int row_stride(int units) { return (units + kRowStep - 1) / kRowStep * kRowStep; }

}  // namespace boltzmark
