#include "boltzmark/exact/modes/lower_bound.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/exact/modes/mean_field.hpp"
#include "boltzmark/exact/modes/state_list.hpp"
#include "boltzmark/model/sides.hpp"
#include "boltzmark/transition/sweep.hpp"

namespace boltzmark {
namespace {

constexpr int kChains = 64, kMeanFieldUpdates = 30;

Chains random_starts(const Layered& model, const LowerBoundOptions& options) {
  Chains starts(model, kChains);
  starts.randomise(derive_key(options.search.climbs.key, "mean field"));
  return starts;
}

// Has half of the chains start from modes.
void start_from(const Modes& modes, Chains& starts) {
  for (int c = 0; c < std::min(modes.count(), kChains / 2); ++c)
    starts.copy_chain(c, modes.states, c);
}

// Tells whether every unit of a side has one of its values in every chain.
bool are_states(const Chains& chains, int parity) {
  constexpr double kRounding = 0x1p-23;
  for (int l = parity; l < chains.layers(); l += 2) {
    const Unit unit = chains.unit(l);
    const Eigen::MatrixXf values = chains.get_layer(l);
    if (!std::all_of(values.data(), values.data() + values.size(),
                     [&](float x) { return unit.holds(static_cast<double>(x), kRounding); }))
      return false;
  }
  return true;
}

// What is no state of the model, of the listed side, would prove what is false.
void require_states_of(const Layered& model, int parity, std::span<const Chains> groups,
                       const char* name) {
  for (const Chains& chains : groups)
    if (!chains.fit(model) || !are_states(chains, parity))
      throw InvalidArgument(fmt::format("{} (must be states of the model)", name));
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
  require_states_of(model, modes.parity, options.found, "found");
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
  require_states_of(model, result.parity, visited, "visited");
  require_visits(visited, visits);
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

// The best bound of mean field from these states, which become its means.
MeanFieldBound best_mean_field(const Layered& model, const Bipartite& sides, int parity,
                               Chains& chains) {
  const std::vector<MeanFieldBound> bounds =
      mean_field(model, sides, parity, kMeanFieldUpdates, chains);
  return *std::max_element(bounds.begin(), bounds.end(),
                           [](const MeanFieldBound& a, const MeanFieldBound& b) {
                             return a.log_z - a.error_bound < b.log_z - b.error_bound;
                           });
}

// The inputs that samplers would draw by, less those in double precision: of many terms, many roundings.
// log f has those of the odd layers, every weight once, and the other layers' biases.
void set_rounding(const Layered& model, const Chains& states, LowerBound& result) {
  const PackedModel packed(model, {.chains = states.chains()});
  double largest = input_rounding(model);  // other states than these are met on the way
  Eigen::VectorXd log_f = Eigen::VectorXd::Zero(states.chains());
  for (int l = 0; l < model.layers(); ++l) {
    const Eigen::MatrixXd values = states.get_layer(l).cast<double>();
    Eigen::MatrixXd inputs = model.bias(l).replicate(1, states.chains());
    if (l > 0) inputs += model.weights(l - 1).transpose() * states.get_layer(l - 1).cast<double>();
    if (l + 1 < model.layers()) inputs += model.weights(l) * states.get_layer(l + 1).cast<double>();
    const Eigen::MatrixXd off = layer_inputs(packed, states, l) - inputs;
    largest = std::max(largest, off.cwiseAbs().maxCoeff());
    const Eigen::VectorXd bias_off = model.bias(l).cast<float>().cast<double>() - model.bias(l);
    log_f += l % 2 == 1 ? Eigen::VectorXd(values.cwiseProduct(off).colwise().sum().transpose())
                        : Eigen::VectorXd(values.transpose() * bias_off);
  }
  result.input_rounding = largest;
  result.log_f_rounding = log_f.cwiseAbs().maxCoeff();
}

void take(const MeanFieldBound& bound, LowerBound& result) {
  if (!std::isfinite(bound.log_z - bound.error_bound) ||
      bound.log_z - bound.error_bound < result.log_z - result.error_bound)
    return;
  result.log_z = bound.log_z;
  result.error_bound = bound.error_bound;
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
    set_rounding(model, starts, result);
    list.add(count_visits(model, list, options.visited, options.visits, result));
    list.grow(static_cast<std::size_t>(options.most_states));
    result.modes = modes.count();
    result.states = list.states();
    result.all_states =
        list.is_closed() || std::log2(static_cast<double>(list.states())) >=
                                log2_states(model, result.parity) - 1e-9;  // of 2^40 and fewer
    result.listed = list.log_sum();
    take({result.listed, list.error_bound()}, result);
    start_from(modes, starts);
  } else {
    set_rounding(model, starts, result);
    if (options.modes != nullptr) start_from(*options.modes, starts);
  }
  const MeanFieldBound bound = best_mean_field(model, sides, result.parity, starts);
  result.mean_field = bound.log_z;
  take(bound, result);
  const MeanFieldBound orthants = bound_by_orthants(model, starts);
  result.mean_field = std::fmax(result.mean_field, orthants.log_z);
  take(orthants, result);
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
