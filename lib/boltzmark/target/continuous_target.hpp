#pragma once

#include <memory>

#include "boltzmark/target/continuous.hpp"
#include "boltzmark/target/step_sizes.hpp"
#include "boltzmark/target/target.hpp"

namespace boltzmark {

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
