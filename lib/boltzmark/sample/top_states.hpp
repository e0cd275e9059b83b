#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "boltzmark/random/key.hpp"
#include "boltzmark/random/stream.hpp"
#include "boltzmark/target/target.hpp"

namespace boltzmark {

/// One state at b = 1 of every chain of a run. Weighted by their visits, the states are samples of
/// the target.
///   Tempered chains: drawn evenly from the states in which kept sweeps left the chain at b = 1, with
/// their number. The last visit of every chain would be none: a chain is found at b = 1 long before
/// it leaves where it leaves seldom.
///   Annealed ones: the state at the end, with the chain's importance weight up to a constant. Where
/// they were resampled, one state of each family that has one ancestor in the base, with its weight.
struct TopStates {
  Populations states;
  std::vector<double> visits;  ///< [chains]; where 0 the state is none
  TopStates(const Target& target, int chains, StreamKey key)
      : states(target, chains, key), visits(static_cast<std::size_t>(chains), 0) {}

  /// Counts a visit of the chain in a place of the population that begins with first_chain, and keeps its
  /// state: the n-th replaces the one kept with probability 1/n, so that each is kept as often.
  void offer(const Population& population, int first_chain, int place, Stream& choices) {
    const double count = ++visits[static_cast<std::size_t>(first_chain + place)];
    if (choices.below(static_cast<std::uint64_t>(count)) == 0)
      states.at(first_chain).copy_chain(place, population, place);
  }
};

}  // namespace boltzmark
