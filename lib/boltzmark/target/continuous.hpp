#pragma once

#include <Eigen/Core>

#include "boltzmark/random/stream.hpp"

namespace boltzmark {

/// A point of R^d, read and written in place.
using PointRef = Eigen::Ref<const Eigen::VectorXd>;
using PointOut = Eigen::Ref<Eigen::VectorXd>;

/// A distribution f / Z on R^d beside its base p1, which is normalised.
class ContinuousDensity {
 public:
  virtual ~ContinuousDensity() = default;
  virtual int dimension() const = 0;

  /// Draws a point from p1.
  virtual void draw_base(Stream& stream, PointOut x) const = 0;
  /// Computes log f(x), which is finite wherever p1 has mass: a wall is a large negative number, for no
  /// estimator reads a D of minus infinity. Minus infinity elsewhere only rejects proposals.
  virtual double log_f(const PointRef& x) const = 0;
  virtual double log_base(const PointRef& x) const = 0;
  /// Writes the gradient of log f_b = b log f + (1 - b) log p1.
  virtual void gradient(const PointRef& x, double b, PointOut out) const = 0;

  /// Computes log f_b(x).
  double log_density(const PointRef& x, double b) const {
    if (b == 0) return log_base(x);  // also where f is 0
    if (b == 1) return log_f(x);
    return b * log_f(x) + (1 - b) * log_base(x);
  }
  /// Computes D(x) = log f(x) - log p1(x).
  double log_ratio(const PointRef& x) const { return log_f(x) - log_base(x); }
};

/// A Metropolis kernel with one scale, its step size.
class ContinuousKernel {
 public:
  virtual ~ContinuousKernel() = default;
  /// Moves x once, leaving f_b unchanged, and returns the probability with which the proposal was
  /// to be accepted.
  /// Throws  InvalidArgument if step is not positive
  virtual double move(const ContinuousDensity& density, double b, double step, Stream& stream,
                      PointOut x) const = 0;
  /// The mean acceptance at which the kernel is most efficient.
  virtual double target_acceptance() const = 0;
};

/// Replaces x by a proposal with probability min(1, e^log_ratio), which it returns; a log ratio
/// that is not a number, as of a diverged trajectory, is never accepted.
double accept(double log_ratio, const PointRef& proposal, Stream& stream, PointOut x);

/// Random-walk Metropolis: proposes x + step n, n standard normal.     [carlson2016, Appendix E.1]
class RandomWalk final : public ContinuousKernel {
 public:
  double move(const ContinuousDensity& density, double b, double step, Stream& stream,
              PointOut x) const override;
  double target_acceptance() const override { return 0.234; }  // [Roberts, Gelman and Gilks 1997]
};

/// A position and its momentum, under the Hamiltonian H = -log f_b(x) + |p|^2 / 2.
struct Phase {
  Eigen::VectorXd position;
  Eigen::VectorXd momentum;
};

/// Integrates Hamilton's equations by leapfrog steps of the given size.  [Neal 2011, Sec. 5.2.3.3]
/// Invariant  volume; negating the momentum and integrating again returns to the start
/// Accuracy   H changes by O(step^2) over a fixed time
/// Throws     InvalidArgument if the gradient where it starts is not finite
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
