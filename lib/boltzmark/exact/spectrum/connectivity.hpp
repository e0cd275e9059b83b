#pragma once

#include <cstddef>

#include "boltzmark/exact/spectrum/operator.hpp"
#include "boltzmark/exact/spectrum/spectrum.hpp"

namespace boltzmark {

/// What the support of a kernel says: which transitions are possible at all, however improbable.
struct Connectivity {
  std::size_t components = 0;  ///< strongly connected components
  bool irreducible = false;    ///< one component
  int period = 0;              ///< of the chain if irreducible, else of state 0's component; 0 if
                               ///< that is never returned to
  bool aperiodic = false;      ///< irreducible with period 1
};

/// Tells whether a unit can go from one of its values to another, or stay, under a rule. The law's
/// support depends on the sign of the input alone, so it is judged at inputs of moderate size,
/// where nothing underflows.
bool can_move(const Rule& rule, Unit unit, double input, int from, int to);

/// Judges strong connectivity and period of a scan's kernel on the support of the double-precision
/// law, without products of probabilities. All ranks of the space must call it.
/// Cost  a few passes over the states a unit; the number of components of a reducible kernel is
/// exact up to kMaxDenseStates states on one rank, beyond that 2 stands for "more than one"
Connectivity connectivity(const StateSpace& space, const Rule& rule, Scan scan = Scan::periodic);

}  // namespace boltzmark
