#include "boltzmark/exact/modes/modes.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "boltzmark/core/parallel.hpp"
#include "boltzmark/exact/enumeration/enumeration.hpp"
#include "boltzmark/exact/enumeration/state_list.hpp"
#include "boltzmark/transition/sweep.hpp"

namespace boltzmark {
namespace {

// The order of values from the greatest down.
std::vector<std::size_t> descending(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return values[a] > values[b]; });
  return order;
}

std::size_t climbers(const Bipartite& sides, const ModeSearch& search, std::size_t fixed_points) {
  constexpr double kLeast = 16, kMostCost = 0x1p26;
  const double one = static_cast<double>(sides.weights.size());
  const double least = std::clamp(kMostCost / one, 1.0, kLeast);
  const double most = std::max(least, search.round_log_partitions / one);
  return static_cast<std::size_t>(std::min(most, static_cast<double>(fixed_points)));
}

// Where the likeliest fixed points lead, and how many climbs each stands for.
struct Climbs {
  std::vector<ListedState> ends = {};
  std::vector<int> weights = {};
};

Climbs climb_all(const Bipartite& sides, const FixedPoints& points, const SideStates& indices,
                 const ModeSearch& search) {
  std::vector<ListedState> starts(static_cast<std::size_t>(indices.size()));
  parallel_for(starts.size(), [&](std::size_t k) {
    const auto state = indices[static_cast<int>(k)];
    starts[k] = weigh(sides, {state.begin(), state.end()});
  });
  std::vector<double> log_f;
  for (const ListedState& start : starts) log_f.push_back(start.log_weight);
  std::vector<std::size_t> order = descending(log_f);
  order.resize(climbers(sides, search, order.size()));
  Climbs climbs{.ends = std::vector<ListedState>(order.size())};
  parallel_for(order.size(), [&](std::size_t k) {
    climbs.ends[k] = climb(sides, std::move(starts[order[k]]), search.max_rounds);
  });
  for (const std::size_t k : order) climbs.weights.push_back(points.basins[k]);
  return climbs;
}

// One of equal ends, with the climbs of all.
Climbs distinct(Climbs climbs) {
  std::map<std::u16string, std::size_t> places;
  Climbs found;
  for (std::size_t k = 0; k < climbs.ends.size(); ++k) {
    const auto [place, added] = places.try_emplace(climbs.ends[k].indices, found.ends.size());
    if (added) {
      found.ends.push_back(std::move(climbs.ends[k]));
      found.weights.push_back(0);
    }
    found.weights[place->second] += climbs.weights[k];
  }
  return found;
}

// Leaves the modes by way of their neighbours, from the likeliest on, and climbs from the likeliest
// state that this meets.
ListedState escape(const Bipartite& sides, const Climbs& climbs, const ModeSearch& search) {
  StateList list(sides);
  for (const ListedState& end : climbs.ends) list.add(end);
  list.grow(static_cast<std::size_t>(search.escape_states));
  return climb(sides, weigh(sides, list.likeliest()), search.max_rounds);
}

// Sets a chain to a state of a side and to the other side's means.
void set_chain(const Bipartite& sides, const ListedState& state, int chain, Chains& chains) {
  for (std::size_t i = 0; i < sides.places.size(); ++i)
    chains.set(sides.places[i].layer, sides.places[i].unit, chain,
               static_cast<float>(sides.enumerated[i].value(state.indices[i])));
  for (std::size_t j = 0; j < sides.other_places.size(); ++j)
    chains.set(
        sides.other_places[j].layer, sides.other_places[j].unit, chain,
        static_cast<float>(mean_value(sides.other[j], state.inputs[static_cast<Eigen::Index>(j)])));
}

}  // namespace

Modes find_modes(const Layered& model, const Base& base, const ModeSearch& search) {
  const FixedPoints points = find_fixed_points(model, base, search.climbs);
  const Bipartite sides = list_side(model, points.parity);
  check_magnitude(sides);
  SideStates indices(model, points.parity);
  indices.add(points.states);
  Climbs climbs = distinct(climb_all(sides, points, indices, search));
  climbs.ends.push_back(escape(sides, climbs, search));
  climbs.weights.push_back(0);
  climbs = distinct(std::move(climbs));
  std::vector<double> log_f;
  for (const ListedState& end : climbs.ends) log_f.push_back(end.log_weight);
  Modes modes{.parity = points.parity,
              .states = Chains(model, static_cast<int>(climbs.ends.size())),
              .climbs = std::accumulate(points.basins.begin(), points.basins.end(), 0)};
  for (const std::size_t k : descending(log_f)) {
    set_chain(sides, climbs.ends[k], static_cast<int>(modes.log_f.size()), modes.states);
    modes.log_f.push_back(log_f[k]);
    modes.basins.push_back(climbs.weights[k]);
  }
  return modes;
}

void sweep_from_modes(const Layered& model, const Modes& modes, int chains, int sweeps,
                      StreamKey key, const std::function<void(const Chains&)>& show) {
  Chains states(model, chains);
  for (int c = 0; c < chains; ++c) states.copy_chain(c, modes.states, c % modes.count());
  const PackedModel packed(model, {.chains = chains, .sweeps = static_cast<std::uint64_t>(sweeps)});
  const PhiloxDraws draws(key);
  for (int s = 0; s < sweeps; ++s) {
    const SweepOptions number{.first_sweep = static_cast<std::uint64_t>(s)};
    half_sweep(packed, states, draws, number, 1 - modes.parity);
    half_sweep(packed, states, draws, number, modes.parity);
    show(states);
  }
}

Base base_of_modes(const Layered& model, const Modes& modes, StreamKey key) {
  constexpr int kChains = 64, kSweeps = 20;
  constexpr double kSmoothing = 0.05;
  if (!model.layer(0).unit.is_bernoulli()) return Base::uniform(model);
  Eigen::MatrixXf states(model.size(0), kChains * kSweeps);
  Eigen::Index first = 0;
  sweep_from_modes(model, modes, kChains, kSweeps, key, [&](const Chains& chains) {
    states.middleCols(first, kChains) = chains.get_layer(0);
    first += kChains;
  });
  return Base::from_data(model, states, kSmoothing * static_cast<double>(states.cols()));
}

}  // namespace boltzmark
