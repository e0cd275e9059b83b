#pragma once

#include <Eigen/Core>
#include <memory>
#include <span>
#include <vector>

#include "boltzmark/random/key.hpp"
#include "boltzmark/target/continuous.hpp"
#include "boltzmark/target/ladder.hpp"
#include "boltzmark/target/target.hpp"

namespace boltzmark {

/// A step size for every inverse temperature. It never depends on the state, so that a kernel that
/// uses it leaves f_b unchanged.
class StepSizes {
 public:
  /// The same step everywhere.  Throws  InvalidArgument if it is not positive and finite
  static StepSizes fixed(double step);
  /// Interpolates log steps linearly in b between the rungs of a ladder.
  /// Shapes  steps [ladder.rungs()]
  /// Throws  InvalidArgument if sizes differ or a step is not positive and finite
  StepSizes(const Ladder& ladder, const Eigen::VectorXd& steps);

  double operator()(double b) const;
  const Ladder& ladder() const { return ladder_; }
  const Eigen::VectorXd& log_steps() const { return log_steps_; }
  /// Computes the mean step over the rungs: the best fixed step one could guess from them.
  double mean() const;

 private:
  Ladder ladder_;
  Eigen::VectorXd log_steps_;
};

/// A logistic model of acceptance against the log of the step size.  [carlson2016, Appendix E]
///   P(accept | step) = 1 / (1 + e^{slope (log step - log_half)})
struct AcceptanceCurve {
  double log_half = 0;  ///< log of the step that is accepted half of the time
  double slope = 0;     ///< positive where acceptance falls with the step

  double operator()(double step) const;
  /// Computes the log of the step whose acceptance is the given one.
  double log_step(double acceptance) const;
};

/// Fits an acceptance curve to acceptance probabilities by maximum likelihood. A weak normal prior
/// (standard deviation 10) about slope 4 and acceptance 1/2 keeps the fit finite when all or none
/// are accepted.  Accuracy  the maximum to 1e-9, by the bound of Boehning and Lindsay 1988
/// Shapes  equal sizes
/// Throws  InvalidArgument if sizes differ, there is no value, or one is not finite or no probability
AcceptanceCurve fit_acceptance(std::span<const double> log_steps,
                               std::span<const double> acceptance);

/// Replaces values by the nearest ones, in the sum of squares, that never rise.
Eigen::VectorXd antitonic(const Eigen::VectorXd& values);

/// How steps are tuned.
struct TuningOptions {
  int chains = 64;
  int moves = 25;         ///< of each chain and rung, for the fit
  double first_step = 1;  ///< where the search at b = 0 starts
};

/// Step sizes tuned to a kernel's target acceptance, and the models that they come from.
struct TunedSteps {
  StepSizes steps;
  std::vector<AcceptanceCurve> curves;  ///< one a rung
};

/// Tunes a kernel's step size at every rung, then makes the sizes fall with b, clipped between
/// those found at b = 0 and at b = 1.                                 [carlson2016, Appendix E]
/// Chains start from p1 and climb the ladder. At each rung they try steps drawn about a guess until
/// the fitted one stays; then the curve is fitted close about it. Tuning ends before sampling
/// begins, so that sampling is of a fixed Markov chain.
/// Randomness  chain c, move t = 1, 2, ..: Stream(key, Purpose::step_size, 2^32 t + c); t = 0 draws
/// its start
/// Throws  InvalidArgument if chains < 2, moves < 1 or first_step is not positive and finite
TunedSteps tune_steps(const ContinuousDensity& density, const ContinuousKernel& kernel,
                      const Ladder& ladder, const TuningOptions& options, StreamKey key);

/// A continuous density moved by a Metropolis kernel whose step size depends on b. It has no latent
/// variables: the marginal state is the joint one.
class ContinuousTarget final : public Target {
 public:
  ContinuousTarget(std::shared_ptr<const ContinuousDensity> density,
                   std::shared_ptr<const ContinuousKernel> kernel, StepSizes steps);
  /// Randomness  chain c, sweep t: Stream(key, Purpose::metropolis, 2^32 t + c)
  std::unique_ptr<Population> populate(int first_chain, int chains, StreamKey key) const override;

  const ContinuousDensity& density() const { return *density_; }
  const StepSizes& steps() const { return steps_; }

 private:
  std::shared_ptr<const ContinuousDensity> density_;
  std::shared_ptr<const ContinuousKernel> kernel_;
  StepSizes steps_;
};

}  // namespace boltzmark
