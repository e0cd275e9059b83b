#include "boltzmark/estimate/both_ways.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

namespace boltzmark {
namespace {

// States of chains that start from modes, one sweep on: of the modes one side is at its means.
Chains near_modes(const Layered& model, const Modes& modes, const AnnealingOptions& options) {
  Chains states(model, options.chains);
  sweep_from_modes(model, modes, share_modes(modes, ModeShares::weighted, options.chains), 1,
                   derive_key(options.key, "modes"), [&](const Chains& moved) { states = moved; });
  return states;
}

}  // namespace

double BothWays::gap_error() const { return std::hypot(forward.std_error, reverse.std_error); }

AnnealingResult anneal_from_modes(const LayeredTarget& target, const Modes& modes,
                                  AnnealingOptions options) {
  options.check();
  const Chains starts = near_modes(target.tempered_model().model, modes, options);
  const std::int64_t at_top = options.sweeps / 2;
  const StreamKey key = derive_key(options.key, "equilibrate");
  options.sweeps -= at_top;
  return reverse_annealing(target, options, [&](Population& population, int first_chain) {
    const int count = population.chains();
    const std::unique_ptr<LayeredPopulation> states = target.chains(first_chain, count, key);
    for (int layer = 0; layer < starts.layers(); ++layer)
      states->set_layer(layer, starts.get_layer(layer).middleCols(first_chain, count));
    const std::vector<float> betas(static_cast<std::size_t>(count), 1.0F);
    for (std::int64_t s = 0; s < at_top; ++s) states->move(betas);
    for (int c = 0; c < count; ++c) population.copy_chain(c, *states, c);
  });
}

void hold_to_gap(const BothWays& ways, Estimate& estimate) {
  constexpr double kErrors = 3, kNats = 0.1;  // less than a tenth of the mass
  if (std::abs(ways.gap()) <= std::max(kErrors * ways.gap_error(), kNats)) return;
  estimate.refuse(
      Status::not_converged,
      fmt::format("chains from b = 1 downwards find {:.4f} +- {:.4f}, chains from the base {:.4f} "
                  "+- {:.4f}: these never met those, or hardly; run more sweeps",
                  ways.reverse.log_z, ways.reverse.std_error, ways.forward.log_z,
                  ways.forward.std_error));
}

}  // namespace boltzmark
