#include "boltzmark/transition/fixed_points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

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
  if (std::min(search.starts, search.max_sweeps) < 1 || search.annealing_sweeps < 0)
    throw InvalidArgument(
        fmt::format("starts, max_sweeps, annealing_sweeps = {}, {}, {} (must be at least 1, 1, 0)",
                    search.starts, search.max_sweeps, search.annealing_sweeps));
  if (search.cases.size() == 0) return;
  if (search.cases.rows() != model.size(0))
    throw InvalidArgument(
        fmt::format("cases = {} units (must be {})", search.cases.rows(), model.size(0)));
  require_states(model.layer(0).unit, search.cases);
}

/// Chains that climb together.
class Climbers {
 public:
  Climbers(const Layered& model, const PackedModel& packed, int chains, StreamKey key)
      : packed_(packed), draws_(key), states_(model, chains) {}

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
      moved_.assign(static_cast<std::size_t>(states_.blocks()) * kChainBlock, 0);
      step();
      if (std::count(moved_.begin(), moved_.begin() + states_.chains(), 1) == 0) break;
    }
  }
  /// Sets the hidden layers from the visible one upwards, each given the layer below alone.
  void rise() {
    for (int l = 1; l < packed_.layers(); ++l)
      for (int b = 0; b < states_.blocks(); ++b)
        std::fill_n(states_.block(l, b), states_.size(l) * kChainBlock, 0.0F);
    moved_.assign(static_cast<std::size_t>(states_.blocks()) * kChainBlock, 0);
    for (int l = 1; l < packed_.layers(); ++l) maximise_layer(l);
  }

 private:
  void maximise_layer(int layer);
  void maximise_block(int layer, int block, const float* inputs);

  const PackedModel& packed_;
  PhiloxDraws draws_;
  Chains states_;
  std::uint64_t sweep_ = 0;
  std::vector<char> moved_;  // padded to whole blocks
  std::vector<float> inputs_;
};

void Climbers::maximise_layer(int layer) {
  fill_inputs(packed_, states_, layer, inputs_);
  const std::size_t size = static_cast<std::size_t>(panels_of(states_.size(layer))) * kPanelSize;
  parallel_for(static_cast<std::size_t>(states_.blocks()), [&](std::size_t b) {
    maximise_block(layer, static_cast<int>(b), inputs_.data() + b * size);
  });
}

// The weight e^{input x} is largest at the least or the greatest value; of an input of 0 all values
// are likeliest, and one of those two is drawn.
void Climbers::maximise_block(int layer, int block, const float* inputs) {
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
          draws_.fill(draws.data(), {.layer = static_cast<std::uint32_t>(layer),
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
Climbers make_starts(const Layered& model, const PackedModel& packed,
                     const FixedPointSearch& search) {
  const int cases = static_cast<int>(search.cases.cols()), annealed = search.starts / 2;
  Climbers climbers(model, packed, search.starts + cases, derive_key(search.key, "climb"));
  climbers.states().randomise(derive_key(search.key, "starts"));
  if (annealed > 0) {
    Chains chains(model, annealed);
    anneal(packed, chains, search.annealing_sweeps, derive_key(search.key, "annealing"));
    copy_chains(chains, climbers.states(), search.starts - annealed);
  }
  if (cases > 0) {
    Climbers risers(model, packed, cases, derive_key(search.key, "cases"));
    risers.states().set_layer(0, search.cases);
    risers.rise();
    copy_chains(risers.states(), climbers.states(), search.starts);
  }
  return climbers;
}

/// Which of some chains differ on a side, and how many climbs ended in each.
struct Distinct {
  std::vector<int> chains, weights;
};

Distinct distinct_of(const Layered& model, int parity, const Chains& chains,
                     const std::vector<int>& weights) {
  SideStates states(model, parity);
  Distinct found;
  for (int c = 0; c < chains.chains(); ++c) {
    const auto k = static_cast<std::size_t>(states.add(chains, c));
    if (k == found.chains.size()) {
      found.chains.push_back(c);
      found.weights.push_back(0);
    }
    found.weights[k] += weights[static_cast<std::size_t>(c)];
  }
  return found;
}

void take(const Distinct& distinct, const Chains& from, Chains& to) {
  for (std::size_t k = 0; k < distinct.chains.size(); ++k)
    to.copy_chain(static_cast<int>(k), from, distinct.chains[k]);
}

}  // namespace

FixedPoints find_fixed_points(const Layered& model, const Base& base,
                              const FixedPointSearch& search) {
  check(model, search);
  const int side = smaller_side(model), other = 1 - side;
  const PackedModel packed(model, base,
                           {.chains = search.starts,
                            .sweeps = static_cast<std::uint64_t>(search.max_sweeps),
                            .values = false});
  Climbers starts = make_starts(model, packed, search);
  starts.climb(search.max_sweeps, [&] {
    starts.maximise(other);
    starts.maximise(side);
  });
  const std::vector<int> ones(static_cast<std::size_t>(starts.states().chains()), 1);
  const Distinct joint = distinct_of(model, side, starts.states(), ones);
  Climbers climbers(model, packed, static_cast<int>(joint.chains.size()),
                    derive_key(search.key, "marginal"));
  take(joint, starts.states(), climbers.states());
  climbers.climb(search.max_sweeps, [&] {
    climbers.average(other);
    climbers.maximise(side);
  });
  climbers.maximise(other);
  const Distinct found = distinct_of(model, side, climbers.states(), joint.weights);
  Chains states(model, static_cast<int>(found.chains.size()));
  take(found, climbers.states(), states);
  return {.parity = side, .states = std::move(states), .basins = found.weights};
}

}  // namespace boltzmark
