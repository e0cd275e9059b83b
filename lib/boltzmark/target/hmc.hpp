#pragma once

#include "boltzmark/target/continuous.hpp"

namespace boltzmark {

/// A position and its momentum, under the Hamiltonian H = -log f_b(x) + |p|^2 / 2.
struct Phase {
  Eigen::VectorXd position;
  Eigen::VectorXd momentum;
};

/// Integrates Hamilton's equations by leapfrog steps of the given size.  [Neal 2011, Sec. 5.2.3.3]
/// Invariant  volume; negating the momentum and integrating again returns to the start
/// Accuracy   H changes by O(step^2) over a fixed time
void leapfrog(const ContinuousDensity& density, double b, double step, int steps, Phase& phase);

/// Hamiltonian Monte Carlo with unit mass; each move draws its number of leapfrog steps uniformly
/// from 1..longest, for a fixed one resonates with the periods of the target.
///                                                          [Mackenzie 1989; Neal 2011, Sec. 5.4.2]
class Hmc final : public ContinuousKernel {
 public:
  /// Throws  InvalidArgument if longest < 1
  explicit Hmc(int longest = 10);
  double move(const ContinuousDensity& density, double b, double step, Stream& stream,
              PointOut x) const override;
  double target_acceptance() const override { return 0.651; }  // [Neal 2011, Sec. 5.4.4]

 private:
  int longest_;
};

}  // namespace boltzmark
