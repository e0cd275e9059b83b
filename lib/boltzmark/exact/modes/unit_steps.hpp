#pragma once

#include <Eigen/Core>
#include <vector>

#include "boltzmark/exact/enumeration/enumeration.hpp"

namespace boltzmark {

/// Which step is made next.
enum class StepOrder {
  gains,  ///< that which gains most, or loses least, with those before it
  shared  ///< that which gains most by those before it, whatever it loses by itself
};

/// A step of one unit of the enumerated side.
struct UnitStep {
  Eigen::Index unit = 0;
  double change = 0;  ///< of its value
};

/// Steps in the order in which they were made, and where they led.
struct StepWalk {
  std::vector<int> order;           ///< their numbers
  std::vector<double> log_weights;  ///< after each
};

/// Steps of units of a side from one place, once each. Units that hold a pattern together may each lose
/// what they gain at once, so that no climb steps any of them.          [Kernighan and Lin 1970]
class UnitSteps {
 public:
  /// From the inputs [m] that a state, or means, of the enumerated side give the other one, and constant +
  /// sum_i bias_i e_i. The view must outlive it.
  /// Cost  s (s + 1) / 2 m log partitions and s (s + m) doubles, s steps and m units of the other side
  UnitSteps(const Bipartite& sides, const Eigen::VectorXd& inputs, double linear,
            std::vector<UnitStep> steps);

  /// Makes one step, and then the others in that order, so many at most.
  ///   A step is assumed to gain g_i + sum_k J_ik over the steps k before it: g_i alone from the first place,
  /// and J_ik what two of them gain more than each alone; `shared` leaves g out. What counts is the log
  /// weight that each place on the way has.
  /// Cost  m log partitions and s sums a step
  StepWalk walk(int first, StepOrder order, Eigen::Index most) const;

  Eigen::Index count() const { return gains_.size(); }
  /// Returns the log weight before any step.
  double start() const { return from_.log_weight; }

 private:
  struct Place {
    Eigen::VectorXd inputs;
    double linear = 0, log_weight = 0;
  };
  void make(const UnitStep& step, Place& place) const;

  const Bipartite& sides_;
  Place from_;
  std::vector<UnitStep> steps_;
  Eigen::VectorXd gains_;   // g [s]
  Eigen::MatrixXd shared_;  // J [s x s], of diagonal 0
};

}  // namespace boltzmark
