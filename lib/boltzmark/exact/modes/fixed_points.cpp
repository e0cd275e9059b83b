#include "boltzmark/exact/modes/fixed_points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/model/sides.hpp"
#include "boltzmark/transition/kernels/panel.hpp"
#include "boltzmark/transition/sweep.hpp"

namespace boltzmark {

SideStates::SideStates(const Layered& model, int parity) : parity_(parity) {
  for (int l = parity; l < model.layers(); l += 2)
    if (!model.layer(l).unit.is_discrete())
      throw InvalidArgument(
          fmt::format("units of layer {} = {} (must be discrete for its states to be listed)", l,
                      model.layer(l).unit.name()));
}

int SideStates::add(const Chains& chains, int chain) {
  scratch_.clear();
  for (int l = parity_; l < chains.layers(); l += 2) {
    const Unit unit = chains.unit(l);
    const float* states = chains.block(l, chain / kChainBlock) + chain % kChainBlock;
    for (int u = 0; u < chains.size(l); ++u)
      scratch_.push_back(static_cast<char16_t>(unit.index(states[u * kChainBlock])));
  }
  const auto [place, added] = numbers_.try_emplace(scratch_, size());
  if (added) states_.push_back(&place->first);
  return place->second;
}

void SideStates::add(const Chains& chains) {
  for (int c = 0; c < chains.chains(); ++c) add(chains, c);
}

namespace {

void check(const Layered& model, const FixedPointSearch& search) {
  if (std::min(search.starts, search.max_sweeps) < 1 ||
      std::min(search.annealing_sweeps, search.further_starts) < 0)
    throw InvalidArgument(fmt::format(
        "starts, max_sweeps, annealing_sweeps, further_starts = {}, {}, {}, {} (must be at least 1, "
        "1, 0, 0)",
        search.starts, search.max_sweeps, search.annealing_sweeps, search.further_starts));
  if (search.cases.size() == 0) return;
  if (search.cases.rows() != model.size(0))
    throw InvalidArgument(
        fmt::format("cases = {} units (must be {})", search.cases.rows(), model.size(0)));
  require_states(model.layer(0).unit, search.cases);
}

/// Chains that climb together.
class Climbers {
 public:
  Climbers(const PackedModel& packed, Chains starts, StreamKey key)
      : packed_(packed), draws_(key), states_(std::move(starts)) {
    forget_moves();
  }

  Chains& states() { return states_; }

  /// Puts every unit of a side at its likeliest value given the other side.
  void maximise(int parity) {
    for (int l = parity; l < packed_.layers(); l += 2) maximise_layer(l);
  }
  /// Puts every unit of a side at its mean.
  void average(int parity) {
    for (int l = parity; l < packed_.layers(); l += 2) set_means(packed_, states_, l);
  }
  /// Makes steps until no chain's discrete states move.
  template <class Step>
  void climb(int max_steps, const Step& step) {
    for (int s = 0; s < max_steps; ++s, ++sweep_) {
      forget_moves();
      step();
      if (std::count(moved_.begin(), moved_.begin() + states_.chains(), 1) == 0) break;
    }
  }
  /// Sets the hidden layers from the visible one upwards, each given the layer below alone.
  void rise() {
    for (int l = 1; l < packed_.layers(); ++l)
      for (int b = 0; b < states_.blocks(); ++b)
        std::fill_n(states_.block(l, b), states_.size(l) * kChainBlock, 0.0F);
    for (int l = 1; l < packed_.layers(); ++l) maximise_layer(l);
  }

 private:
  void forget_moves() {
    moved_.assign(static_cast<std::size_t>(states_.blocks()) * kChainBlock, 0);
  }
  void maximise_layer(int layer) {
    fill_inputs(packed_, states_, layer, inputs_);
    const std::size_t size = static_cast<std::size_t>(panels_of(states_.size(layer))) * kPanelSize;
    parallel_for(static_cast<std::size_t>(states_.blocks()), [&](std::size_t b) {
      maximise_block(layer, static_cast<int>(b), inputs_.data() + b * size);
    });
  }

  // The weight e^{input x} is largest at the least or the greatest value; of an input of 0 all values
  // are likeliest, and one of those two is drawn.
  void maximise_block(int layer, int block, const float* inputs) {
    constexpr int kDrawn = 4;  // units that are drawn at once
    const Unit unit = states_.unit(layer);
    const float low = unit.stored(static_cast<float>(unit.lowest()));
    const float high = unit.stored(static_cast<float>(unit.highest()));
    float* states = states_.block(layer, block);
    char* moved = moved_.data() + static_cast<std::size_t>(block) * kChainBlock;
    std::array<std::uint32_t, kDrawn * kChainBlock> draws;
    int drawn = -kDrawn;  // first unit of those that the draws are of
    for (int u = 0; u < states_.size(layer); ++u, inputs += kChainBlock, states += kChainBlock)
      for (int c = 0; c < kChainBlock; ++c) {
        bool up = inputs[c] > 0;
        if (inputs[c] == 0) {
          if (u >= drawn + kDrawn) {
            drawn = u / kDrawn * kDrawn;
            draws_.fill(draws.data(),
                        {.layer = static_cast<std::uint32_t>(layer),
                         .first_unit = static_cast<std::uint32_t>(drawn),
                         .units = kDrawn,
                         .first_chain = static_cast<std::uint32_t>(block * kChainBlock),
                         .chains = kChainBlock,
                         .sweep = sweep_});
          }
          up = draws[static_cast<std::size_t>((u - drawn) * kChainBlock + c)] < 0x80000000U;
        }
        const float value = up ? high : low;
        moved[c] |= static_cast<char>(states[c] != value);
        states[c] = value;
      }
  }

  const PackedModel& packed_;
  PhiloxDraws draws_;
  Chains states_;
  std::uint64_t sweep_ = 0;
  std::vector<char> moved_;  // padded to whole blocks
  std::vector<float> inputs_;
};

// b rises from 0, where a sweep draws from the base, to 1.
void anneal(const PackedModel& packed, Chains& chains, int sweeps, StreamKey key) {
  const PhiloxDraws draws(key);
  for (int s = 0; s <= sweeps; ++s) {
    const float b = sweeps == 0 ? 0 : static_cast<float>(s) / static_cast<float>(sweeps);
    const std::vector<float> betas(static_cast<std::size_t>(chains.chains()), b);
    sweep(packed, chains, draws,
          {.inverse_temperatures = betas, .first_sweep = static_cast<std::uint64_t>(s)});
  }
}

void copy_chains(const Chains& from, Chains& to, int first) {
  for (int c = 0; c < from.chains(); ++c) to.copy_chain(first + c, from, c);
}

// The starts: even draws, then annealed states, then cases with the hidden layers that they lead to.
Chains make_starts(const Layered& model, const PackedModel& packed,
                   const FixedPointSearch& search) {
  const int cases = static_cast<int>(search.cases.cols()), annealed = search.starts / 2;
  Chains starts(model, search.starts + cases);
  starts.randomise(derive_key(search.key, "starts"));
  if (annealed > 0) {
    Chains chains(model, annealed);
    anneal(packed, chains, search.annealing_sweeps, derive_key(search.key, "annealing"));
    copy_chains(chains, starts, search.starts - annealed);
  }
  if (cases > 0) {
    Climbers risers(packed, Chains(model, cases), derive_key(search.key, "cases"));
    risers.states().set_layer(0, search.cases);
    risers.rise();
    copy_chains(risers.states(), starts, search.starts);
  }
  return starts;
}

/// Where climbs ended, distinct on one side, and how many did in each.
struct Ends {
  int parity;
  Chains states;
  std::vector<int> weights;
};

Ends distinct_ends(const Layered& model, int parity, const Chains& states,
                   const std::vector<int>& weights) {
  SideStates known(model, parity);
  std::vector<int> chains, sums;
  for (int c = 0; c < states.chains(); ++c) {
    const auto k = static_cast<std::size_t>(known.add(states, c));
    if (k == chains.size()) {
      chains.push_back(c);
      sums.push_back(0);
    }
    sums[k] += weights[static_cast<std::size_t>(c)];
  }
  Chains taken(model, static_cast<int>(chains.size()));
  for (std::size_t k = 0; k < chains.size(); ++k)
    taken.copy_chain(static_cast<int>(k), states, chains[k]);
  return {parity, std::move(taken), std::move(sums)};
}

Ends each_once(const Layered& model, int parity, const Chains& states) {
  return distinct_ends(model, parity, states,
                       std::vector<int>(static_cast<std::size_t>(states.chains()), 1));
}

// Climbs on the marginal law of a side.
Ends climb_marginal(const Layered& model, const PackedModel& packed, const FixedPointSearch& search,
                    int side, const Ends& from, StreamKey key) {
  const int other = 1 - side;
  Climbers climbers(packed, from.states, derive_key(key, "marginal"));
  climbers.climb(search.max_sweeps, [&] {
    climbers.average(other);
    climbers.maximise(side);
  });
  if (side == smaller_side(model))
    climbers.average(other);
  else
    climbers.maximise(other);  // chains start from states of the smaller side
  return distinct_ends(model, side, climbers.states(), from.weights);
}

// Climbs on the joint law, of which `first` is the parity to move first.
Ends climb_joint(const Layered& model, const PackedModel& packed, const FixedPointSearch& search,
                 Chains starts, int first, StreamKey key) {
  const int side = smaller_side(model), other = 1 - side;
  Climbers joint(packed, std::move(starts), derive_key(key, "climb"));
  if (first == side) joint.maximise(side);
  joint.climb(search.max_sweeps, [&] {
    joint.maximise(other);
    joint.maximise(side);
  });
  return each_once(model, side, joint.states());
}

// What even draws of a side's other one lead to: where many units hold no pattern, the joint law's climb
// would take the signs of inputs that mean nothing for one.
Ends follow_other_side(const Layered& model, const PackedModel& packed,
                       const FixedPointSearch& search, int side) {
  const StreamKey key = derive_key(search.key, "other side");
  Chains starts(model, std::max(1, search.starts / 4));
  starts.randomise(derive_key(key, "starts"));
  Climbers followers(packed, std::move(starts), derive_key(key, "followers"));
  followers.maximise(side);
  return each_once(model, side, followers.states());
}

Ends merge(const Layered& model, const Ends& a, const Ends& b) {
  Chains all(model, a.states.chains() + b.states.chains());
  copy_chains(a.states, all, 0);
  copy_chains(b.states, all, a.states.chains());
  std::vector<int> weights = a.weights;
  weights.insert(weights.end(), b.weights.begin(), b.weights.end());
  return distinct_ends(model, a.parity, all, weights);
}

constexpr int kSteppedFrom = 4;

// Of large models fewer, so that their states take no more than 64 MiB, and 2^29 weights are passed at a
// time.
int further_starts(const Layered& model, const FixedPointSearch& search) {
  constexpr double kStates = 1 << 24, kWeights = 1 << 29, kLeast = 64;
  double weights = 1;
  for (const Eigen::MatrixXd& w : model.weights()) weights += static_cast<double>(w.size());
  const double most = std::max(kLeast, std::min(kStates / model.units(), kWeights / weights));
  return static_cast<int>(std::min<double>(search.further_starts, most));
}

// The values by which a unit's weights alone pull its neighbours, a chain a unit of a side, evenly spread,
// and of either sign: the other units are as they were drawn.
Chains by_signs(const Layered& model, int parity, int most, StreamKey key) {
  std::vector<std::pair<int, int>> units;
  for (int l = parity; l < model.layers(); l += 2)
    for (int u = 0; u < model.size(l); ++u) units.emplace_back(l, u);
  const auto count = std::min<std::size_t>(static_cast<std::size_t>(most), 2 * units.size());
  Chains starts(model, static_cast<int>(count));
  starts.randomise(key);
  for (std::size_t c = 0; c < count; ++c) {
    const auto [layer, unit] = units[c / 2 * units.size() / ((count + 1) / 2)];
    const double sign = c % 2 == 0 ? 1 : -1;
    const auto pull = [&](int l, const Eigen::VectorXd& weights) {
      const Unit of = starts.unit(l);
      for (int k = 0; k < starts.size(l); ++k)
        starts.set(l, k, static_cast<int>(c),
                   static_cast<float>(sign * weights[k] > 0 ? of.highest() : of.lowest()));
    };
    if (layer > 0) pull(layer - 1, model.weights(layer - 1).col(unit));
    if (layer + 1 < model.layers()) pull(layer + 1, model.weights(layer).row(unit).transpose());
  }
  return starts;
}

// Steps one unit of a side away from its value or mean: to the end that is farther.
void step_away(Chains& chains, int parity, int number, int chain) {
  int layer = parity;
  for (; number >= chains.size(layer); layer += 2) number -= chains.size(layer);
  const Unit unit = chains.unit(layer);
  const auto low = static_cast<float>(unit.lowest()), high = static_cast<float>(unit.highest());
  const bool is_high = 2 * chains.get(layer, number, chain) > low + high;
  chains.set(layer, number, chain, is_high ? low : high);
}

// Distant ends in turn, each chain with another unit of a side stepped away, evenly spread.
Chains stepped(const Layered& model, const Ends& ends, int parity, int most) {
  const std::vector<int> points = farthest_first(all_values(ends.states), kSteppedFrom);
  int units = 0;
  for (int l = parity; l < model.layers(); l += 2) units += model.size(l);
  const auto count = static_cast<int>(
      std::min<std::int64_t>(most, static_cast<std::int64_t>(units) * std::ssize(points)));
  const int each = (count + static_cast<int>(points.size()) - 1) / static_cast<int>(points.size());
  Chains starts(model, count);
  for (int c = 0; c < count; ++c) {
    const int of_point = c / static_cast<int>(points.size());
    starts.copy_chain(c, ends.states, points[static_cast<std::size_t>(c) % points.size()]);
    step_away(starts, parity, static_cast<int>(static_cast<std::int64_t>(units) * of_point / each),
              c);
  }
  return starts;
}

}  // namespace

Eigen::MatrixXf all_values(const Chains& chains) {
  Eigen::Index units = 0;
  for (int l = 0; l < chains.layers(); ++l) units += chains.size(l);
  Eigen::MatrixXf values(units, chains.chains());
  for (int l = 0; l < chains.layers(); units -= chains.size(l++))
    values.middleRows(values.rows() - units, chains.size(l)) = chains.get_layer(l);
  return values;
}

std::vector<int> farthest_first(const Eigen::Ref<const Eigen::MatrixXf>& points, int most) {
  Eigen::VectorXf nearest =
      Eigen::VectorXf::Constant(points.cols(), std::numeric_limits<float>::infinity());
  std::vector<int> taken;
  Eigen::Index next = 0;
  while (std::ssize(taken) < std::min<Eigen::Index>(points.cols(), most) && nearest[next] > 0) {
    taken.push_back(static_cast<int>(next));
    nearest =
        nearest.cwiseMin((points.colwise() - points.col(next)).colwise().squaredNorm().transpose());
    nearest.maxCoeff(&next);
  }
  return taken;
}

FixedPoints find_fixed_points(const Layered& model, const Base& base,
                              const FixedPointSearch& search) {
  check(model, search);
  const int side = smaller_side(model);
  const PackedModel packed(model, base,
                           {.chains = search.starts,
                            .sweeps = static_cast<std::uint64_t>(search.max_sweeps),
                            .values = false});
  std::vector<std::pair<Ends, StreamKey>> joint;  // where climbs on the joint law ended
  const auto climb = [&](Chains starts, int first, StreamKey key) {
    joint.emplace_back(climb_joint(model, packed, search, std::move(starts), first, key), key);
    return climb_marginal(model, packed, search, side, joint.back().first, key);
  };
  const Ends first = merge(
      model, climb(make_starts(model, packed, search), 1 - side, search.key),
      climb_marginal(model, packed, search, side, follow_other_side(model, packed, search, side),
                     derive_key(search.key, "other side")));
  Ends found = first;
  const int each = further_starts(model, search) / 4;
  for (const int parity : {side, 1 - side}) {
    if (each < 1) break;
    const char* of = parity == side ? "" : "other ";
    found = merge(model, found,
                  climb(stepped(model, first, parity, each), 1 - parity,
                        derive_key(search.key, fmt::format("{}stepped", of))));
    const StreamKey signs = derive_key(search.key, fmt::format("{}signs", of));
    found = merge(model, found,
                  climb(by_signs(model, parity, each, signs), parity, derive_key(signs, "climbs")));
  }
  FixedPoints points{
      .parity = side, .states = std::move(found.states), .basins = std::move(found.weights)};
  if (!std::isfinite(log2_states(model, 1 - side))) return points;
  std::optional<Ends> others;
  for (const auto& [ends, key] : joint) {
    const Ends led =
        climb_marginal(model, packed, search, 1 - side, ends, derive_key(key, "other"));
    others = others ? merge(model, *others, led) : led;
  }
  points.others = std::move(others->states);
  return points;
}

}  // namespace boltzmark
