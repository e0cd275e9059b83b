#include "boltzmark/exact/modes/lower_bound.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "boltzmark/core/parallel.hpp"
#include "boltzmark/exact/enumeration/plain.hpp"
#include "boltzmark/exact/enumeration/state_list.hpp"
#include "boltzmark/model/sides.hpp"
#include "boltzmark/transition/kernels/panel.hpp"
#include "boltzmark/transition/sweep.hpp"

namespace boltzmark {
namespace {

constexpr int kChains = 64, kMeanFieldUpdates = 30;

Chains random_starts(const Layered& model, const LowerBoundOptions& options) {
  Chains starts(model, kChains);
  starts.randomise(derive_key(options.search.climbs.key, "mean field"));
  return starts;
}

// The modes and the states of their side that Gibbs sweeps of some chains from them visit.
SideStates searched_states(const Layered& model, const Modes& modes,
                           const LowerBoundOptions& options, Chains& last) {
  SideStates states(model, modes.parity);
  states.add(modes.states);
  sweep_from_modes(model, modes, share_modes(modes, ModeShares::equal, last.chains()),
                   options.gibbs_sweeps, derive_key(options.search.climbs.key, "gibbs"),
                   [&](const Chains& chains) {
                     states.add(chains);
                     last = chains;
                   });
  return states;
}

// Lists the states around the modes, to half the length; the sweeps from these end in `starts`.
Modes list_around_modes(const Layered& model, const Base& base, const LowerBoundOptions& options,
                        StateList& list, Chains& starts) {
  Modes modes = options.modes != nullptr ? *options.modes : find_modes(model, base, options.search);
  SideStates states = searched_states(model, modes, options, starts);
  for (const Chains& chains : options.found) states.add(chains);
  list.add(states);
  list.grow(static_cast<std::size_t>(options.most_states) / 2);
  return modes;
}

// Tells how often a run was in the states listed so far; returns all that it met.
SideStates count_visits(const Layered& model, const StateList& list,
                        std::span<const Chains> visited, std::span<const double> visits,
                        LowerBound& result) {
  result.error_bound = list.error_bound();
  result.searched = list.log_sum() - result.error_bound;
  SideStates states(model, result.parity);
  double all = 0, squares = 0, met = 0;
  std::size_t next = 0;
  for (const Chains& chains : visited)
    for (int c = 0; c < chains.chains(); ++c, ++next) {
      const double weight = visits.empty() ? 1 : visits[next];
      if (weight == 0) continue;  // where it is no state that was met
      all += weight;
      squares += weight * weight;
      if (list.contains(states[states.add(chains, c)])) met += weight;
    }
  if (all > 0) {
    result.met = met / all;
    result.visits = all * all / squares;
  }
  return states;
}

/// A product law over a side: each unit's law is proportional to e^{input x}.
struct ProductLaw {
  Eigen::VectorXd means;
  double entropy = 0;  // to the reference measure
  double size = 0;     // of the terms of the entropy
};

ProductLaw product_law(const Bipartite& sides, const Eigen::VectorXd& inputs) {
  ProductLaw law{.means = Eigen::VectorXd(inputs.size())};
  for (Eigen::Index i = 0; i < inputs.size(); ++i) {
    law.means[i] = mean_value(sides.enumerated[i], inputs[i]);
    law.entropy += log_partition(sides.enumerated[i], inputs[i]) - inputs[i] * law.means[i];
    law.size += std::abs(inputs[i]) + 2;
  }
  return law;
}

/// A lower bound and how wrong rounding may make it.
struct FieldBound {
  double value = LowerBound::kNone, error = LowerBound::kNone;
};

// Given the listed side's law q, E_q[log f] >= log f at q's means, for log f is convex: what the
// best product law over both sides gives. Means are off by 4 ulp, 8 u of values of at most 1; each
// entropy term by 4 ulp of the log partition and of the mean, and by its own roundings and sum's.
FieldBound mean_field_bound(const Bipartite& sides, const Eigen::VectorXd& inputs) {
  const ProductLaw law = product_law(sides, inputs);
  const double u = std::numeric_limits<double>::epsilon() / 2;
  const Eigen::VectorXd other = sides.other_input + sides.weights * law.means;
  const double linear = sides.bias.dot(law.means);
  const auto terms = static_cast<double>(inputs.size());
  return {.value = log_weight(sides, other, linear) + law.entropy,
          .error = 1.01 * u * (log_weight_roundings(sides, 8) + (terms + 24) * law.size)};
}

// The inputs of a side's units of every chain.  Shapes  [units x chains]
Eigen::MatrixXd side_inputs(const PackedModel& packed, const Chains& chains, int parity) {
  std::vector<Eigen::MatrixXd> layers;
  Eigen::Index units = 0;
  std::vector<float> inputs;
  for (int l = parity; l < packed.layers(); l += 2) {
    fill_inputs(packed, chains, l, inputs);
    const Eigen::Index padded = static_cast<Eigen::Index>(panels_of(chains.size(l))) * kPanel;
    Eigen::MatrixXd& layer = layers.emplace_back(chains.size(l), chains.chains());
    for (int c = 0; c < chains.chains(); ++c)
      for (int j = 0; j < chains.size(l); ++j)
        layer(j, c) = inputs[static_cast<std::size_t>((c / kChainBlock * padded + j) * kChainBlock +
                                                      c % kChainBlock)];
    units += layer.rows();
  }
  Eigen::MatrixXd all(units, chains.chains());
  Eigen::Index first = 0;
  for (const Eigen::MatrixXd& layer : layers) {
    all.middleRows(first, layer.rows()) = layer;
    first += layer.rows();
  }
  return all;
}

// The best bound of mean field from these states, side by side until it hardly moves.
FieldBound mean_field_bound(const Layered& model, const Bipartite& sides, int parity,
                            Chains chains) {
  const PackedModel packed(
      model, {.chains = chains.chains(), .sweeps = kMeanFieldUpdates, .values = false});
  const auto average = [&](int side) {
    for (int l = side; l < model.layers(); l += 2) set_means(packed, chains, l);
  };
  for (int s = 0; s < kMeanFieldUpdates; ++s) {
    average(1 - parity);
    average(parity);
  }
  average(1 - parity);
  const Eigen::MatrixXd inputs = side_inputs(packed, chains, parity);
  std::vector<FieldBound> bounds(static_cast<std::size_t>(chains.chains()));
  parallel_for(bounds.size(), [&](std::size_t c) {
    bounds[c] = mean_field_bound(sides, inputs.col(static_cast<Eigen::Index>(c)));
  });
  return *std::max_element(bounds.begin(), bounds.end(),
                           [](const FieldBound& a, const FieldBound& b) {
                             return a.value - a.error < b.value - b.error;
                           });
}

void take(const FieldBound& bound, LowerBound& result) {
  if (!std::isfinite(bound.value - bound.error) ||
      bound.value - bound.error < result.log_z - result.error_bound)
    return;
  result.log_z = bound.value;
  result.error_bound = bound.error;
}

}  // namespace

LowerBound lower_bound(const Layered& model, const Base& base, const LowerBoundOptions& options) {
  LowerBound result{.parity = smaller_side(model)};
  const Bipartite sides = list_side(model, result.parity);
  if (!(magnitude(sides) < kUnresolved)) return result;
  Chains starts = random_starts(model, options);
  if (std::isfinite(log2_states(model, result.parity))) {
    StateList list(sides);
    const Modes modes = list_around_modes(model, base, options, list, starts);
    list.add(count_visits(model, list, options.visited, options.visits, result));
    list.grow(static_cast<std::size_t>(options.most_states));
    result.modes = modes.count();
    result.states = list.states();
    result.all_states =
        list.is_closed() || std::log2(static_cast<double>(list.states())) >=
                                log2_states(model, result.parity) - 1e-9;  // of 2^40 and fewer
    result.listed = list.log_sum();
    take({result.listed, list.error_bound()}, result);
    for (int c = 0; c < std::min(modes.count(), kChains / 2); ++c)
      starts.copy_chain(c, modes.states, c);
  }
  const FieldBound bound = mean_field_bound(model, sides, result.parity, std::move(starts));
  result.mean_field = bound.value;
  take(bound, result);
  return result;
}

struct SearchedStates::List {
  List(const Layered& of, Bipartite listed) : model(of), sides(std::move(listed)) {}
  // `states` looks at `sides`.
  List(const List&) = delete;
  List& operator=(const List&) = delete;

  Layered model;
  Bipartite sides;
  StateList states{sides};
};

SearchedStates::SearchedStates(const Layered& model, const Base& base,
                               const LowerBoundOptions& options) {
  const int parity = smaller_side(model);
  Bipartite sides = list_side(model, parity);
  if (!(magnitude(sides) < kUnresolved) || !std::isfinite(log2_states(model, parity))) return;
  list_ = std::make_unique<List>(model, std::move(sides));
  Chains starts = random_starts(model, options);
  list_around_modes(model, base, options, list_->states, starts);
}

SearchedStates::SearchedStates(SearchedStates&&) noexcept = default;
SearchedStates::~SearchedStates() = default;

void SearchedStates::count(std::span<const Chains> states, std::span<const double> visits,
                           LowerBound& bound) const {
  if (!list_) return;
  bound.parity = smaller_side(list_->model);
  count_visits(list_->model, list_->states, states, visits, bound);
}

}  // namespace boltzmark
