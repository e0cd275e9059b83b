#include "boltzmark/sample/annealing/base_choice.hpp"

#include <limits>

#include "boltzmark/core/error.hpp"

namespace boltzmark {

LayeredTarget pilot_target(const Layered& model, const Base& base, const BaseChoice& choice) {
  return {model,
          base,
          {.chains = choice.chains, .sweeps = static_cast<std::uint64_t>(choice.sweeps)},
          choice.summed_side};
}

AnnealingResult pilot(const LayeredTarget& target, const BaseChoice& choice,
                      TopStates* top_states) {
  return annealed_importance_sampling(target, {.ladder = Ladder::linear(choice.sweeps + 1),
                                               .chains = choice.chains,
                                               .sweeps = choice.sweeps,
                                               .key = choice.key,
                                               .top_states = top_states});
}

std::size_t choose_base(std::span<const double> mean_log_weights) {
  if (mean_log_weights.empty()) throw InvalidArgument("bases = none (must be one or more)");
  constexpr double kWorthIt = 0.1;
  std::size_t best = 0;
  double greatest = -std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < mean_log_weights.size(); ++k) {
    if (!(mean_log_weights[k] > greatest + kWorthIt)) continue;
    greatest = mean_log_weights[k];
    best = k;
  }
  return best;
}

}  // namespace boltzmark
