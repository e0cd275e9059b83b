#pragma once

#include <span>
#include <vector>

namespace boltzmark::experiments {

/// Counts the steps of chains on a ladder, each proposed as Algorithm 1 of salakhutdinov2010 does.
class RungSteps {
 public:
  explicit RungSteps(int rungs);

  /// Takes a step of a chain, which may stay where it is.
  /// Throws  InvalidArgument unless the rungs are the same or neighbours
  void see(int from, int to);
  /// Returns the share of the proposals between rungs k and k + 1, either way, that were accepted:
  /// accepted ones over the expected number of proposals, 1 at most; 0 without any.
  /// Shapes  [rungs - 1]
  std::vector<double> acceptance() const;

 private:
  std::vector<double> visits_, moves_;  ///< [rungs]; between k and k + 1
};

/// Computes the expected number of round trips, as TripCounter counts them, of a walk that goes
/// nowhere in particular: it proposes as Algorithm 1 does, the only neighbour of an end always, and
/// accepts either way between rungs k and k + 1 with the same probability.
/// Propagates the law of the rung and of the part of the trip that is done.
/// Shapes  acceptance [rungs - 1]
/// Throws  InvalidArgument unless start is a rung
double expected_round_trips(std::span<const double> acceptance, int start, int steps);

}  // namespace boltzmark::experiments
