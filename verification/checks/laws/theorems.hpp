#pragma once

#include <cstddef>
#include <vector>

#include "boltzmark/exact/spectrum/operator.hpp"

namespace boltzmark {

/// Finds v_max(h) (parity 0) or h_max(v) (parity 1): the state that maximises p with the other side
/// fixed; among ties the one with the greatest index (the total order of the proof).
///   [bruegge2013, Eqs. 3, 4]
std::size_t most_probable(const StateSpace& space, std::size_t state, int parity);

/// Lists M, the states that neither side alone can improve, ascending.  [bruegge2013, Eq. 5]
std::vector<std::size_t> local_modes(const StateSpace& space);

/// Computes log T_side(x, y): minus infinity exactly when the law forbids it.
double log_side_transition(const StateSpace& space, const Rule& rule, std::size_t from,
                           std::size_t to, int parity);

/// What the statements of bruegge2013, Sec. 3.3, come to on one model. Logs, so that products of
/// tiny probabilities do not vanish; minus infinity: the statement fails.
struct TheoremReport {
  double lemma1 = 0;          ///< min log entry of Lemma 1's four statements
  std::size_t unreached = 0;  ///< states whose climb, step (i), does not end in M by possible steps
  std::size_t unreaching = 0;  ///< states not reached from M by the climb of step (ii)
  double modes_joined = 0;     ///< step (iii), B05: min log T(x, y) over x, y in M
  double modes_stay = 0;       ///< Theorem 2, B06: min log T(x, x) over M
  std::size_t modes = 0;       ///< size of M
  bool lemma1_holds() const;
  bool theorem1_holds() const;
  bool theorem2_holds() const;
};

/// Checks Lemma 1 and the steps of both theorems state by state, ties included.
///   Cost  states + |M|^2, each times the units
TheoremReport check_theorems(const StateSpace& space, const Rule& rule);

}  // namespace boltzmark
