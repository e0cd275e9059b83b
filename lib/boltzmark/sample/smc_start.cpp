#include "boltzmark/sample/smc_start.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "boltzmark/random/stream.hpp"
#include "boltzmark/sample/smc.hpp"

namespace boltzmark {
namespace {

void equalise_weights(const Eigen::VectorXd& log_weights, StreamKey key, Populations& populations) {
  Eigen::VectorXd weights = (log_weights.array() - log_weights.maxCoeff()).exp();
  weights /= weights.sum();
  std::vector<int> offspring(static_cast<std::size_t>(weights.size()));
  Stream stream(key, Purpose::start);
  systematic_offspring({weights.data(), offspring.size()}, stream.uniform(), offspring);
  populations.resample(offspring);
}

}  // namespace

int smc_start_sweeps(const Ladder& ladder, int chains, int sweeps) {
  return chains < 2 ? 0 : std::min(3 * (ladder.rungs() - 1), sweeps * 3 / 10);
}

SmcStart smc_start(const Target& target, const Ladder& ladder, int chains, int sweeps,
                   StreamKey key) {
  SmcResult smc = annealed_smc(
      target, {.annealing = {.ladder = ladder, .chains = chains, .sweeps = sweeps, .key = key},
               .islands = 2});
  equalise_weights(smc.log_weights, key, smc.populations);
  return {std::move(smc.estimate.log_z_rungs), std::move(smc.populations)};
}

}  // namespace boltzmark
