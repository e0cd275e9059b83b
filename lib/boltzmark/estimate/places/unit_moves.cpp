#include "boltzmark/estimate/places/unit_moves.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "boltzmark/exact/modes/fixed_points.hpp"
#include "boltzmark/random/draws.hpp"
#include "boltzmark/random/stream.hpp"

namespace boltzmark {

using Eigen::Index;

namespace {

/// A unit of many values on its way.
struct MovingRange {
  ValueRange from, to;

  ValueRange at(double share) const {
    return {from.low + (to.low - from.low) * share, from.high + (to.high - from.high) * share};
  }
};

/// A unit of few values on its way: every way from a value to a value.
struct Ways {
  std::vector<std::pair<double, double>> all = {};
  std::size_t taken = 0;

  double at(double share, std::size_t way) const {
    return all[way].first + (all[way].second - all[way].first) * share;
  }
  // By a law ~ e^{input x} of where it is then.
  void draw(double share, double input, Stream& stream) {
    Eigen::ArrayXd law(std::ssize(all));
    for (Index way = 0; way < law.size(); ++way)
      law[way] = input * at(share, static_cast<std::size_t>(way));
    law = (law - law.maxCoeff()).exp();
    double left = stream.uniform() * law.sum();
    taken = 0;
    while (taken + 1 < all.size() && (left -= law[static_cast<Index>(taken)]) > 0) ++taken;
  }
};

// The values of a unit in a range that may be rounded.
std::vector<double> values_in(Unit unit, ValueRange range) {
  const double room = unit.spacing() / 4;
  std::vector<double> values;
  for (int k = 0; k < unit.values(); ++k)
    if (const double x = unit.value(k); x >= range.low - room && x <= range.high + room)
      values.push_back(x);
  return values;
}

/// A unit of a chain on its way.
struct MovingUnit {
  UnitPlace place;
  double value;
  std::variant<MovingRange, Ways> law;

  // Takes it from one share of its way to another, and tells the log weight of that.
  double go(double here, double there, double input, Stream& stream) {
    if (Ways* ways = std::get_if<Ways>(&law)) {
      const double gained = (ways->at(there, ways->taken) - value) * input;
      if (ways->all.size() > 1) ways->draw(there, input, stream);
      value = ways->at(there, ways->taken);
      return gained;
    }
    const MovingRange& range = std::get<MovingRange>(law);
    const ValueRange old = range.at(here), now = range.at(there);
    const bool is_wide = now.width() > 0;
    const double next = now.low + (is_wide ? (value - old.low) / old.width() * now.width() : 0);
    const double gained = (next - value) * input;
    value = is_wide ? now.value_at(input, stream.uniform()) : next;
    return gained + (is_wide ? std::log(now.width() / old.width()) : 0);
  }
};

/// A unit where a move begins, and the log weight of that: each of several ways counts in `from` and in `to`.
struct Start {
  MovingUnit unit;
  double log_weight = 0;
};

Start start_of(UnitPlace place, Unit unit, double value, ValueRange from, ValueRange to,
               Stream& stream) {
  if (is_range(unit))
    return {{place, value, MovingRange{from.width() > 0 ? from : ValueRange{value, value}, to}}};
  const std::vector<double> starts =
      from.width() > 0 ? values_in(unit, from) : std::vector<double>{value};
  const std::vector<double> ends = to.width() > 0 ? values_in(unit, to) : std::vector{to.low};
  const auto own = std::min_element(starts.begin(), starts.end(), [&](double a, double b) {
    return std::abs(a - value) < std::abs(b - value);
  });
  Ways ways;
  for (const double start : starts)
    for (const double end : ends) ways.all.emplace_back(start, end);
  ways.taken = static_cast<std::size_t>(own - starts.begin()) * ends.size();
  if (ends.size() > 1) ways.taken += stream.below(static_cast<std::uint32_t>(ends.size()));
  const double log_weight =
      std::log(static_cast<double>(ends.size()) / static_cast<double>(starts.size()));
  return {{place, value, std::move(ways)}, log_weight};
}

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
  MovedUnits moved{Eigen::VectorXd::Zero(kMovedChains), {}};
  std::vector<Stream> streams;
  for (int c = 0; c < kMovedChains; ++c) {
    streams.emplace_back(key, Purpose::metropolis, static_cast<std::uint64_t>(c));
    const UnitMove& move = moves[moves.size() > 1 ? c : 0];
    for (std::size_t k = 0; k < move.units.size(); ++k) {
      const Index u = move.units[k];
      Start start = start_of(places_[u], model_->layer(places_[u].layer).unit, states(u, c),
                             move.from[k], move.to[k], streams[c]);
      moved.log_weights[c] += start.log_weight;
      moving[places_[u].layer % 2 != parity][c].push_back(std::move(start.unit));
    }
  }
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
