#include "boltzmark/sample/adaptive_ladder.hpp"

#include <cmath>

#include "boltzmark/sample/simulated_tempering.hpp"

namespace boltzmark {

Ladder adaptive_ladder(const Target& target, const AdaptiveLadderOptions& options) {
  const Ladder linear = Ladder::linear(options.rungs);
  if (options.rungs == 2) return linear;
  const TemperedRun pilot = simulated_tempering(target, {.chains = options.chains,
                                                         .sweeps = options.sweeps,
                                                         .ladder = linear,
                                                         .key = options.key,
                                                         .progress = options.progress});
  const Eigen::ArrayXd weight = pilot.sums.weight.rowwise().sum().array().max(1e-300);
  const Eigen::ArrayXd mean = pilot.sums.first.rowwise().sum().array() / weight;
  const Eigen::ArrayXd square = pilot.sums.second.rowwise().sum().array() / weight;
  const Eigen::VectorXd deviation = (square - mean.square()).max(0.0).sqrt();
  // A model equal to its base has D constant: any ladder is as good.
  return deviation.maxCoeff() > 0 ? equalise(linear, deviation, options.rungs) : linear;
}

}  // namespace boltzmark
