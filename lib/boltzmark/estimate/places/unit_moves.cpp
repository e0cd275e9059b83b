#include "boltzmark/estimate/places/unit_moves.hpp"

#include <algorithm>
#include <cmath>

#include "boltzmark/core/numeric.hpp"
#include "boltzmark/exact/modes/fixed_points.hpp"
#include "boltzmark/random/draws.hpp"

namespace boltzmark {

using Eigen::Index;

// Units on their way are at no value of theirs.
UnitMover::UnitMover(const Layered& model)
    : model_(&model), packed_(model, {.chains = kMovedChains, .values = false}) {
  for (int l = 0; l < model.layers(); ++l)
    for (int u = 0; u < model.size(l); ++u) places_.push_back({l, u});
}

MovedUnits UnitMover::move(const std::vector<UnitMove>& moves, int steps,
                           const Eigen::MatrixXf& states, StreamKey key) const {
  const int parity = places_[moves[0].units[0]].layer % 2;
  const PhiloxDraws draws(key);
  Chains chains(*model_, kMovedChains);
  for (Index u = 0; u < states.rows(); ++u)
    for (int c = 0; c < kMovedChains; ++c)
      chains.set(places_[u].layer, places_[u].unit, c, states(u, c));
  SideInputs inputs{.parity = parity};
  const auto input_of = [&](const UnitPlace& place, int c) {
    return static_cast<double>(inputs.layers[place.layer / 2][place.unit * kChainBlock + c]);
  };
  MovedUnits moved{Eigen::VectorXd::Zero(kMovedChains), {}};
  std::vector<LogSum> beyond(kMovedChains);
  const auto move_of = [&](int c) -> const UnitMove& { return moves[moves.size() > 1 ? c : 0]; };
  half_sweep(packed_, chains, draws, {}, 1 - parity);
  for (int t = 1; t <= steps; ++t) {
    const SweepOptions at{.first_sweep = static_cast<std::uint64_t>(t)};
    fill_inputs(packed_, chains, inputs);
    for (int l = parity; l < model_->layers(); l += 2)
      draw_layer(packed_, chains, draws, at, l, inputs.layers[l / 2]);
    for (int c = 0; c < kMovedChains; ++c) {
      const UnitMove& move = move_of(c);
      double gained = 0;
      for (const Index u : move.units) {
        const double from = states(u, c), way = move.to - from;
        gained += way / steps * input_of(places_[u], c);
        chains.set(places_[u].layer, places_[u].unit, c,
                   static_cast<float>(from + way * t / steps));
      }
      moved.log_weights[c] += gained;
      if (!move.beyond) continue;
      const double from = states(move.units[0], c), way = move.to - from;
      const double width = std::abs(way / steps);
      const double past = (from + way * t / steps - *move.beyond) * (way > 0 ? 1 : -1);
      // Of the step's surroundings, what is beyond and not past the end.
      if (const double part = std::min(width, past + width / 2) - (t < steps ? 0 : width / 2);
          part > 0)
        beyond[c].add(moved.log_weights[c] + std::log(part));
    }
    half_sweep(packed_, chains, draws, at, 1 - parity);
  }
  for (int c = 0; c < kMovedChains; ++c)
    if (move_of(c).beyond) moved.log_weights[c] = beyond[c].log();
  moved.values = all_values(chains);
  return moved;
}

}  // namespace boltzmark
