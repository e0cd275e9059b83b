#include "boltzmark/exact/modes/modes.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "boltzmark/core/parallel.hpp"
#include "boltzmark/exact/enumeration/enumeration.hpp"
#include "boltzmark/exact/modes/fixed_points.hpp"
#include "boltzmark/exact/modes/state_list.hpp"
#include "boltzmark/exact/modes/unit_steps.hpp"
#include "boltzmark/model/sides.hpp"
#include "boltzmark/transition/sweep.hpp"

namespace boltzmark {
namespace {

constexpr int kMaxRounds = 20;  // of steps of single units, after which a climb ends wherever it is
// Single units are stepped from the likeliest fixed points alone, so that a round over all of them
// computes about as many log partitions, from 16 states at least, or fewer of large models.
constexpr int kRoundLogPartitions = 1 << 23;

// The order of values from the greatest down.
std::vector<std::size_t> descending(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return values[a] > values[b]; });
  return order;
}

std::size_t climbers(const Bipartite& sides, std::size_t fixed_points) {
  constexpr double kLeast = 16, kMostCost = 0x1p26;
  const double one = static_cast<double>(sides.weights.size());
  const double least = std::clamp(kMostCost / one, 1.0, kLeast);
  const double most = std::max(least, kRoundLogPartitions / one);
  return static_cast<std::size_t>(std::min(most, static_cast<double>(fixed_points)));
}

// Where the likeliest fixed points lead, and how many climbs each stands for.
struct Climbs {
  std::vector<ListedState> ends = {};
  std::vector<int> weights = {};
};

// So many of the fixed points: the likeliest ones, and as many distant ones, for units that hold no
// pattern may weigh more than those that do.
std::vector<std::size_t> worth_climbing(const std::vector<double>& log_f,
                                        const Eigen::MatrixXf& points, std::size_t most) {
  std::vector<std::size_t> order = descending(log_f);
  if (order.size() <= most) return order;
  Eigen::MatrixXf ordered(points.rows(), points.cols());
  for (std::size_t k = 0; k < order.size(); ++k)
    ordered.col(static_cast<Eigen::Index>(k)) = points.col(static_cast<Eigen::Index>(order[k]));
  std::vector<std::size_t> chosen(order.begin(),
                                  order.begin() + static_cast<std::ptrdiff_t>((most + 1) / 2));
  for (const int k : farthest_first(ordered, static_cast<int>(most)))
    if (static_cast<std::size_t>(k) >= (most + 1) / 2 && chosen.size() < most)
      chosen.push_back(order[static_cast<std::size_t>(k)]);
  return chosen;
}

Climbs climb_all(const Bipartite& sides, const FixedPoints& points, const SideStates& indices) {
  std::vector<ListedState> starts(static_cast<std::size_t>(indices.size()));
  parallel_for(starts.size(), [&](std::size_t k) {
    const auto state = indices[static_cast<int>(k)];
    starts[k] = weigh(sides, {state.begin(), state.end()});
  });
  std::vector<double> log_f;
  for (const ListedState& start : starts) log_f.push_back(start.log_weight);
  const std::vector<std::size_t> order =
      worth_climbing(log_f, all_values(points.states), climbers(sides, log_f.size()));
  Climbs climbs{.ends = std::vector<ListedState>(order.size())};
  parallel_for(order.size(), [&](std::size_t k) {
    climbs.ends[k] = climb(sides, std::move(starts[order[k]]), kMaxRounds);
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
  return climb(sides, weigh(sides, list.likeliest()), kMaxRounds);
}

bool is_below(const ListedState& a, const ListedState& b) { return a.log_weight < b.log_weight; }

// Of every unit the other end of its values, or the one that is farther (the highest from the middle).
std::u16string far_ends(const Bipartite& sides, const std::u16string& from) {
  std::u16string ends = from;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const int highest = sides.enumerated[i].values() - 1;
    ends[i] = static_cast<char16_t>(2 * from[i] > highest ? 0 : highest);
  }
  return ends;
}

std::vector<UnitStep> steps_to(const Bipartite& sides, const std::u16string& from,
                               const std::u16string& to) {
  std::vector<UnitStep> steps;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const Unit kind = sides.enumerated[i];
    steps.push_back({static_cast<Eigen::Index>(i), kind.value(to[i]) - kind.value(from[i])});
  }
  return steps;
}

// Where steps of all units of the side, once each, lead from the likeliest mode, another unit first each
// time: of large models evenly spread ones, and none of the largest.
std::vector<ListedState> step_from(const Bipartite& sides, const ListedState& likeliest) {
  constexpr double kMostOfPairs = 0x1p27, kMostOfAll = 0x1p26,
                   kMostOfMended = 0x1p25;  // log partitions
  const auto units = static_cast<double>(sides.enumerated.size());
  // A walk of n units also takes n^2 sums, each about a quarter of a log partition.
  const double one = units * std::max(static_cast<double>(sides.other.size()), units / 4);
  if ((units + 1) / 2 * one > kMostOfPairs) return {};
  const std::u16string far = far_ends(sides, likeliest.indices);
  const UnitSteps steps(sides, likeliest.inputs, likeliest.linear,
                        steps_to(sides, likeliest.indices, far));
  const auto firsts = static_cast<std::size_t>(std::clamp(kMostOfAll / (2 * one), 1.0, units));
  // Of the first walks also from where they are after each part: units that only hide a pattern go first.
  constexpr int kParts = 4;
  const double mended = kMostOfMended / (2 * kParts * units * one);
  std::vector<ListedState> ends(2 * firsts);
  parallel_for(ends.size(), [&](std::size_t k) {
    const std::size_t first = k / 2 * sides.enumerated.size() / firsts;
    const StepOrder order = k % 2 == 0 ? StepOrder::gains : StepOrder::shared;
    const bool mends = static_cast<double>(k / 2) < std::floor(mended);
    const StepWalk walk = steps.walk(static_cast<int>(first), order, steps.count());
    const auto after = [&](std::ptrdiff_t made) {
      std::u16string indices = likeliest.indices;
      for (std::ptrdiff_t s = 0; s < made; ++s) indices[walk.order[s]] = far[walk.order[s]];
      return weigh(sides, std::move(indices));
    };
    const auto best = std::max_element(walk.log_weights.begin(), walk.log_weights.end());
    std::vector<ListedState> found = {likeliest};
    if (*best > likeliest.log_weight)
      found.push_back(climb(sides, after(best - walk.log_weights.begin() + 1), kMaxRounds));
    for (int part = 1; mends && part <= kParts; ++part)
      found.push_back(climb_steepest(sides, after((part * steps.count() + kParts - 1) / kParts),
                                     static_cast<int>(units)));
    ends[k] = *std::max_element(found.begin(), found.end(), is_below);
  });
  return ends;
}

// Adds where such steps lead, as far as that is likelier than all that was found.
void add_steps(const Bipartite& sides, Climbs& climbs) {
  const ListedState likeliest = *std::max_element(climbs.ends.begin(), climbs.ends.end(), is_below);
  for (ListedState& end : step_from(sides, likeliest)) {
    if (!(end.log_weight > likeliest.log_weight)) continue;
    climbs.ends.push_back(std::move(end));
    climbs.weights.push_back(0);
  }
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

// The model whose listed side has the two ends alone of its continuous units, X(1) of the same measure:
// log f is convex in each, so that its modes are there. Where no side is discrete that of fewer units.
Layered with_listed_side(const Layered& model) {
  if (std::isfinite(log2_states(model, smaller_side(model)))) return model;
  const int listed = side_of_fewer_units(model);
  std::vector<Layer> layers;
  for (int l = 0; l < model.layers(); ++l) {
    layers.push_back(model.layer(l));
    if (l % 2 == listed && layers.back().unit == Unit::continuous())
      layers.back().unit = Unit::multivalued(1);
  }
  return {std::move(layers), model.weights()};
}

}  // namespace

Modes find_modes(const Layered& model, const Base& base, const ModeSearch& search) {
  const Layered listed = with_listed_side(model);
  FixedPointSearch climbs_from = search.climbs;
  if (listed.layer(0).unit != model.layer(0).unit)
    climbs_from.cases =
        climbs_from.cases.unaryExpr([](float x) { return x < 0 ? -1.0F : 1.0F; }).eval();
  const FixedPoints points = find_fixed_points(listed, base, climbs_from);
  const Bipartite sides = list_side(listed, points.parity);
  check_magnitude(sides);
  SideStates indices(listed, points.parity);
  indices.add(points.states);
  Climbs climbs = distinct(climb_all(sides, points, indices));
  climbs.ends.push_back(escape(sides, climbs, search));
  climbs.weights.push_back(0);
  add_steps(sides, climbs);
  climbs = distinct(std::move(climbs));
  std::vector<double> log_f;
  for (const ListedState& end : climbs.ends) log_f.push_back(end.log_weight);
  Modes modes{.parity = points.parity,
              .states = Chains(model, static_cast<int>(climbs.ends.size())),
              .climbs = std::accumulate(points.basins.begin(), points.basins.end(), 0),
              .others = points.others};
  for (const std::size_t k : descending(log_f)) {
    set_chain(sides, climbs.ends[k], static_cast<int>(modes.log_f.size()), modes.states);
    modes.log_f.push_back(log_f[k]);
    modes.basins.push_back(climbs.weights[k]);
  }
  return modes;
}

std::vector<int> share_modes(const Modes& modes, ModeShares shares, int chains) {
  std::vector<int> starts(static_cast<std::size_t>(chains));
  for (int c = 0; c < chains; ++c) starts[static_cast<std::size_t>(c)] = c % modes.count();
  if (shares == ModeShares::equal) return starts;
  std::vector<double> sums;  // of f from the likeliest mode on, in units of its f
  for (const double log_f : modes.log_f)
    sums.push_back((sums.empty() ? 0 : sums.back()) + std::exp(log_f - modes.log_f.front()));
  int mode = 0;
  for (int c = 0; c < chains; ++c) {
    while (sums[static_cast<std::size_t>(mode)] * chains < (c + 0.5) * sums.back()) ++mode;
    starts[static_cast<std::size_t>(c)] = mode;
  }
  return starts;
}

namespace {

void sweep_from(const Layered& model, int parity, Chains& states, int sweeps, StreamKey key,
                const std::function<void(const Chains&)>& show) {
  const PackedModel packed(
      model, {.chains = states.chains(), .sweeps = static_cast<std::uint64_t>(sweeps)});
  const PhiloxDraws draws(key);
  for (int s = 0; s < sweeps; ++s) {
    const SweepOptions number{.first_sweep = static_cast<std::uint64_t>(s)};
    half_sweep(packed, states, draws, number, 1 - parity);
    half_sweep(packed, states, draws, number, parity);
    show(states);
  }
}

}  // namespace

void sweep_from_modes(const Layered& model, const Modes& modes, std::span<const int> starts,
                      int sweeps, StreamKey key, const std::function<void(const Chains&)>& show) {
  Chains states(model, static_cast<int>(starts.size()));
  for (int c = 0; c < states.chains(); ++c)
    states.copy_chain(c, modes.states, starts[static_cast<std::size_t>(c)]);
  sweep_from(model, modes.parity, states, sweeps, key, show);
}

Base base_of_modes(const Layered& model, const Modes& modes, std::span<const int> starts,
                   StreamKey key) {
  constexpr int kSweeps = 20;
  constexpr double kSmoothing = 0.05;
  if (!model.layer(0).unit.is_bernoulli()) return Base::uniform(model);
  const auto chains = static_cast<Eigen::Index>(starts.size());
  Eigen::MatrixXf states(model.size(0), chains * kSweeps);
  Eigen::Index first = 0;
  sweep_from_modes(model, modes, starts, kSweeps, key, [&](const Chains& moved) {
    states.middleCols(first, chains) = moved.get_layer(0);
    first += chains;
  });
  return Base::from_data(model, states, kSmoothing * static_cast<double>(states.cols()));
}

Base base_near(const Layered& model, int parity, Chains starts, double smoothing, StreamKey key) {
  constexpr int kSweeps = 20;
  std::vector<Eigen::VectorXd> means;
  for (int l = 0; l < model.layers(); ++l) {
    const Unit unit = model.layer(l).unit;
    means.emplace_back(
        Eigen::VectorXd::Constant(model.size(l), (unit.lowest() + unit.highest()) / 2));
  }
  const double share = 1 / (kSweeps * (1 + 2 * smoothing));
  sweep_from(model, parity, starts, kSweeps, key, [&](const Chains& moved) {
    for (int l = 0; l < model.layers(); ++l) {
      const Unit unit = model.layer(l).unit;
      const double middle = (unit.lowest() + unit.highest()) / 2;
      means[l].array() +=
          share * (moved.get_layer(l).cast<double>().rowwise().mean().array() - middle);
    }
  });
  return Base::of_means(model, means);
}

}  // namespace boltzmark
