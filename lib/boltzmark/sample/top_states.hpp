#pragma once

#include <cstddef>
#include <vector>

#include "boltzmark/random/key.hpp"
#include "boltzmark/target/target.hpp"

namespace boltzmark {

/// One state at b = 1 of every chain of a run. Weighted by their visits, the states are samples of
/// the target.
///   Tempered chains: drawn evenly from the states in which kept sweeps left the chain at b = 1, with
/// their number. The last visit of every chain would be none: a chain is found at b = 1 long before
/// it leaves where it leaves seldom.
///   Annealed ones: the state at the end, with the chain's importance weight up to a constant.
struct TopStates {
  Populations states;
  std::vector<double> visits;  ///< [chains]; where 0 the state is none
  TopStates(const Target& target, int chains, StreamKey key)
      : states(target, chains, key), visits(static_cast<std::size_t>(chains), 0) {}
};

}  // namespace boltzmark
