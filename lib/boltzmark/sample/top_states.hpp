#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "boltzmark/random/key.hpp"
#include "boltzmark/random/stream.hpp"
#include "boltzmark/target/target.hpp"
#include "boltzmark/transition/chains.hpp"

namespace boltzmark {

/// One state at b = 1 of every chain of a run. Weighted by their visits, the states are samples of
/// the target.
///   Tempered chains: drawn evenly from the states in which kept sweeps left the chain at b = 1, with
/// their number. The last visit of every chain would be none: a chain is found at b = 1 long before
/// it leaves where it leaves seldom.
///   Of chains whose b is drawn from [0, 1], which are never just there: states drawn by the density of
/// b = 1 given the state, with the sum of these densities.
///   Annealed ones: the state at the end, with the chain's importance weight up to a constant. Where
/// they were resampled, one state of each family that has one ancestor in the base, with its weight.
///   Reverse annealing from cases: these, a sweep on, each with the number of chains that began in it.
struct TopStates {
  Populations states;
  std::vector<double> visits;  ///< [chains]; where 0 the state is none
  TopStates(const Target& target, int chains, StreamKey key)
      : states(target, chains, key), visits(static_cast<std::size_t>(chains), 0) {}

  /// Counts a visit of the chain in a place of the population that begins with first_chain, and keeps its
  /// state: the n-th replaces the one kept with probability 1/n, so that each is kept as often.
  void offer(const Population& population, int first_chain, int place, Stream& choices) {
    const double count = ++visits[first_chain + place];
    if (choices.below(static_cast<std::uint64_t>(count)) == 0)
      states.take_chain(first_chain + place, population, place);
  }
  /// Does so with a weight that is not negative: each state is kept in proportion to its own.
  void offer(const Population& population, int first_chain, int place, double weight,
             Stream& choices) {
    const double sum = visits[first_chain + place] += weight;
    if (choices.uniform() * sum < weight) states.take_chain(first_chain + place, population, place);
  }
};

/// Throws  InvalidArgument if a run of so many chains is to tell its states at b = 1 and they are of other numbers
void require_chains(const TopStates* top, int chains);

/// States of layers that a run met at b = 1, and how often each chain was there, or its weight.
struct VisitedStates {
  std::vector<Chains> states = {};
  std::vector<double> visits = {};  ///< [chains], in the order of the states; empty: one each
};

/// Returns them, weights whose squares would be 0 as shares of the greatest.
/// Throws  InvalidArgument if the run's target is no network of layers
VisitedStates visited_states(TopStates& top);

}  // namespace boltzmark
