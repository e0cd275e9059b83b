#pragma once

#include <Eigen/Core>
#include <vector>

#include "boltzmark/exact/modes/state_list.hpp"

namespace boltzmark {

/// Which step is made next.
enum class StepOrder {
  gains,  ///< that which gains most, or loses least, with those before it
  shared  ///< that which gains most by those before it, whatever it loses by itself
};

/// The steps of every unit of a side from one state, once each: to the other end of its values, or the one
/// that is farther (the highest from the middle). Units that hold a pattern together may each lose what they
/// gain at once, so that no climb steps any of them.                        [Kernighan and Lin 1970]
class UnitSteps {
 public:
  /// The view must outlive it.
  /// Cost  n (n + 1) / 2 m log partitions and n (n + m) doubles, n units of the enumerated side and m of the other
  UnitSteps(const Bipartite& sides, ListedState from);

  /// Makes the step of one unit, and then all others in that order; returns the likeliest of the states on the
  /// way, that before the first step included, and then the states after each of so many equal parts of it.
  ///   A step is assumed to gain g_i + sum_k J_ik over the steps k before it: g_i alone from the first state,
  /// and J_ik what two of them gain more than each alone; `shared` leaves g out. What counts is the log
  /// weight that each state on the way has.
  /// Cost  n m log partitions and n^2 sums
  std::vector<ListedState> walk(int first, StepOrder order, int parts) const;

 private:
  ListedState after(int unit, ListedState state) const;

  const Bipartite& sides_;
  ListedState from_;
  std::u16string ends_;     // of every unit's step
  Eigen::VectorXd gains_;   // g [n]
  Eigen::MatrixXd shared_;  // J [n x n], of diagonal 0
};

}  // namespace boltzmark
