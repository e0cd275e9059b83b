#include "boltzmark/sample/annealing/base_choice.hpp"

#include <limits>

#include "boltzmark/core/error.hpp"
#include "boltzmark/sample/annealing/annealing.hpp"
#include "boltzmark/target/layered_target.hpp"

namespace boltzmark {

std::size_t choose_base(const Layered& model, std::span<const Base> bases,
                        const BaseChoice& choice) {
  if (bases.empty()) throw InvalidArgument("bases = none (must be one or more)");
  std::size_t best = 0;
  double greatest = -std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < bases.size(); ++k) {
    const LayeredTarget target(
        model, bases[k],
        {.chains = choice.chains, .sweeps = static_cast<std::uint64_t>(choice.sweeps)},
        choice.summed_side);
    const AnnealingResult run =
        annealed_importance_sampling(target, {.ladder = Ladder::linear(choice.sweeps + 1),
                                              .chains = choice.chains,
                                              .sweeps = choice.sweeps,
                                              .key = choice.key});
    if (!(run.mean_log_weight > greatest)) continue;
    greatest = run.mean_log_weight;
    best = k;
  }
  return best;
}

}  // namespace boltzmark
