#include "boltzmark/estimate/places/unit_moves.hpp"

#include <array>
#include <cmath>

#include "boltzmark/exact/modes/fixed_points.hpp"
#include "boltzmark/random/draws.hpp"
#include "boltzmark/random/stream.hpp"

namespace boltzmark {

using Eigen::Index;

namespace {

/// A unit of a chain on its way.
struct MovingUnit {
  UnitPlace place;
  ValueRange from, to;
  double value;

  ValueRange range_at(double share) const {
    return {from.low + (to.low - from.low) * share, from.high + (to.high - from.high) * share};
  }

  // Takes it from one share of its way to another, and tells the log weight of that.
  double go(double here, double there, double input, Stream& stream) {
    const ValueRange old = range_at(here), now = range_at(there);
    const bool is_range = now.width() > 0;
    const double next = now.low + (is_range ? (value - old.low) / old.width() * now.width() : 0);
    const double gained = (next - value) * input;
    value = is_range ? now.value_at(input, stream.uniform()) : next;
    return gained + (is_range ? std::log(now.width() / old.width()) : 0);
  }
};

}  // namespace

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
  std::array<SideInputs, 2> inputs = {SideInputs{.parity = parity}, {.parity = 1 - parity}};
  std::array<std::vector<std::vector<MovingUnit>>, 2> moving;  // those of the first side, others
  for (auto& side : moving) side.resize(kMovedChains);
  std::vector<Stream> streams;
  for (int c = 0; c < kMovedChains; ++c) {
    streams.emplace_back(key, Purpose::metropolis, static_cast<std::uint64_t>(c));
    const UnitMove& move = moves[moves.size() > 1 ? c : 0];
    for (std::size_t k = 0; k < move.units.size(); ++k) {
      const Index u = move.units[k];
      const double value = states(u, c);
      const ValueRange from = move.from[k].width() > 0 ? move.from[k] : ValueRange{value, value};
      moving[places_[u].layer % 2 != parity][c].push_back({places_[u], from, move.to[k], value});
    }
  }
  MovedUnits moved{Eigen::VectorXd::Zero(kMovedChains), {}};
  half_sweep(packed_, chains, draws, {}, 1 - parity);
  for (int c = 0; c < kMovedChains; ++c)
    for (const MovingUnit& one : moving[1][c])
      chains.set(one.place.layer, one.place.unit, c, static_cast<float>(one.value));
  for (int t = 1; t <= steps; ++t) {
    const SweepOptions at{.first_sweep = static_cast<std::uint64_t>(t)};
    const double here = (t - 1.0) / steps, there = static_cast<double>(t) / steps;
    for (const int side : {0, 1}) {
      fill_inputs(packed_, chains, inputs[side]);
      for (int l = inputs[side].parity; l < model_->layers(); l += 2)
        draw_layer(packed_, chains, draws, at, l, inputs[side].layers[l / 2]);
      for (int c = 0; c < kMovedChains; ++c)
        for (MovingUnit& one : moving[side][c]) {
          const auto [layer, unit] = one.place;
          const double input = inputs[side].layers[layer / 2][unit * kChainBlock + c];
          moved.log_weights[c] += one.go(here, there, input, streams[c]);
          chains.set(layer, unit, c, static_cast<float>(one.value));
        }
    }
  }
  moved.values = all_values(chains);
  return moved;
}

}  // namespace boltzmark
