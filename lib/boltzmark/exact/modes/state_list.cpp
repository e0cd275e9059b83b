#include "boltzmark/exact/modes/state_list.hpp"

#include <algorithm>
#include <limits>

#include "boltzmark/core/parallel.hpp"
#include "boltzmark/exact/enumeration/plain.hpp"
#include "boltzmark/random/stream.hpp"

namespace boltzmark {
namespace {

// States whose neighbours are weighed together, whatever the threads.
constexpr std::size_t kTogether = 16;
// Log partitions that states taken together, and all that are taken, may cost: seconds of a core.
constexpr double kTogetherCost = 0x1p24, kMostCost = 0x1p28;

// A state's hash is the exclusive or of these numbers [Zobrist 1970].
std::uint64_t mark(int unit, char16_t index) {
  const auto words = philox({}, {static_cast<std::uint32_t>(unit), index, 0, 0});
  return (std::uint64_t{words[0]} << 32) | words[1];
}

}  // namespace

ListedState weigh(const Bipartite& sides, std::u16string indices) {
  Eigen::VectorXd values(sides.bias.size());
  for (Eigen::Index i = 0; i < values.size(); ++i)
    values[i] = sides.enumerated[i].value(indices[static_cast<std::size_t>(i)]);
  ListedState state{.indices = std::move(indices),
                    .inputs = sides.other_input,
                    .linear = sides.constant + sides.bias.dot(values)};
  state.inputs.noalias() += sides.weights * values;
  state.log_weight = log_weight(sides, state.inputs, state.linear);
  return state;
}

double log_weight_beside(const Bipartite& sides, const ListedState& state, int unit, int index,
                         Eigen::VectorXd& scratch) {
  const Unit kind = sides.enumerated[unit];
  const double change =
      kind.value(index) - kind.value(state.indices[static_cast<std::size_t>(unit)]);
  scratch = state.inputs + change * sides.weights.col(unit);
  return log_weight(sides, scratch, state.linear + change * sides.bias[unit]);
}

namespace {

// Moves one unit as long as that goes up.
bool climb_by(const Bipartite& sides, int unit, ListedState& state, Eigen::VectorXd& scratch) {
  bool moved = false;
  for (const int step : {-1, 1})
    for (;;) {
      const int index = state.indices[static_cast<std::size_t>(unit)] + step;
      if (index < 0 || index >= sides.enumerated[unit].values() ||
          log_weight_beside(sides, state, unit, index, scratch) <= state.log_weight)
        break;
      state.indices[static_cast<std::size_t>(unit)] = static_cast<char16_t>(index);
      state = weigh(sides, std::move(state.indices));
      moved = true;
    }
  return moved;
}

}  // namespace

ListedState climb(const Bipartite& sides, ListedState state, int max_rounds) {
  Eigen::VectorXd scratch;
  const int units = static_cast<int>(sides.enumerated.size());
  // A round ends where the last move was made: then no unit can go up.
  for (int still = 0, u = 0, tries = 0; still < units && tries < max_rounds * units; ++tries) {
    still = climb_by(sides, u, state, scratch) ? 0 : still + 1;
    u = (u + 1) % units;
  }
  return state;
}

ListedState climb_steepest(const Bipartite& sides, ListedState state, int most_steps) {
  Eigen::VectorXd scratch;
  for (int made = 0; made < most_steps; ++made) {
    double highest = state.log_weight;
    int unit = -1, index = 0;
    for (int u = 0; u < static_cast<int>(sides.enumerated.size()); ++u)
      for (const int step : {-1, 1}) {
        const int to = state.indices[static_cast<std::size_t>(u)] + step;
        if (to < 0 || to >= sides.enumerated[static_cast<std::size_t>(u)].values()) continue;
        const double there = log_weight_beside(sides, state, u, to, scratch);
        if (!(there > highest)) continue;
        highest = there;
        unit = u;
        index = to;
      }
    if (unit < 0) break;
    state.indices[static_cast<std::size_t>(unit)] = static_cast<char16_t>(index);
    state = weigh(sides, std::move(state.indices));
  }
  return state;
}

StateList::StateList(const Bipartite& sides) : sides_(sides) { check_magnitude(sides); }

std::uint64_t StateList::hash_of(std::span<const char16_t> state) const {
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < state.size(); ++i) hash ^= mark(static_cast<int>(i), state[i]);
  return hash;
}

StateList::Indices StateList::state_of(const Candidate& candidate) const {
  Indices state = origins_[candidate.origin];
  if (candidate.unit >= 0) state[static_cast<std::size_t>(candidate.unit)] = candidate.index;
  return state;
}

void StateList::add(const Candidate& candidate) {
  if (!listed_.insert(candidate.hash).second) return;
  sum_.add(exp_scaled(candidate.log_weight));
  growing_.emplace(candidate.log_weight, candidates_.size());
  candidates_.push_back(candidate);
}

void StateList::add(const ListedState& state) {
  add({.log_weight = state.log_weight, .hash = hash_of(state.indices), .origin = origins_.size()});
  origins_.push_back(state.indices);
}

std::u16string StateList::likeliest() const {
  return state_of(*std::max_element(
      candidates_.begin(), candidates_.end(),
      [](const Candidate& a, const Candidate& b) { return a.log_weight < b.log_weight; }));
}

void StateList::add(const SideStates& states) {
  const std::size_t first = origins_.size();
  std::vector<double> log_weights(static_cast<std::size_t>(states.size()));
  for (int k = 0; k < states.size(); ++k) origins_.emplace_back(states[k].begin(), states[k].end());
  parallel_for(log_weights.size(), [&](std::size_t k) {
    log_weights[k] = weigh(sides_, origins_[first + k]).log_weight;
  });
  for (std::size_t k = 0; k < log_weights.size(); ++k)
    add({.log_weight = log_weights[k], .hash = hash_of(origins_[first + k]), .origin = first + k});
}

std::vector<StateList::Candidate> StateList::neighbours(std::size_t origin) const {
  const ListedState state = weigh(sides_, origins_[origin]);
  const std::uint64_t hash = hash_of(state.indices);
  Eigen::VectorXd scratch;
  std::vector<Candidate> found;
  for (int i = 0; i < static_cast<int>(state.indices.size()); ++i)
    for (const int step : {-1, 1}) {
      const char16_t now = state.indices[static_cast<std::size_t>(i)];
      const int index = now + step;
      if (index < 0 || index >= sides_.enumerated[i].values()) continue;
      Candidate next{.origin = origin, .unit = i, .index = static_cast<char16_t>(index)};
      next.hash = hash ^ mark(i, now) ^ mark(i, next.index);
      if (listed_.contains(next.hash)) continue;
      next.log_weight = log_weight_beside(sides_, state, i, index, scratch);
      found.push_back(next);
    }
  return found;
}

void StateList::grow(std::size_t most_states) {
  const double one = static_cast<double>(sides_.enumerated.size() * sides_.other.size());
  const std::size_t together =
      std::clamp(static_cast<std::size_t>(kTogetherCost / one), std::size_t{1}, kTogether);
  double cost = 0;
  while (!growing_.empty() && states() < most_states && cost < kMostCost) {
    const std::size_t first = origins_.size();
    for (std::size_t k = 0; k < together && !growing_.empty(); ++k, growing_.pop())
      origins_.push_back(state_of(candidates_[growing_.top().second]));
    std::vector<std::vector<Candidate>> found(origins_.size() - first);
    cost += one * static_cast<double>(found.size());
    parallel_for(found.size(), [&](std::size_t k) { found[k] = neighbours(first + k); });
    for (const std::vector<Candidate>& all : found)
      for (const Candidate& candidate : all) add(candidate);
  }
}

// A neighbour's inputs and linear term take two roundings more than sums: of a product, and of a
// difference of at most 2 X_j to what is at most X_j, so of sizes up to 3 X_j. Values of X(s) and
// their differences are off by 2 u each, which changes an input by 4 u X_j at most.
double StateList::error_bound() const {
  constexpr double kMore = 12;
  const double u = std::numeric_limits<double>::epsilon() / 2;
  return 1.01 * u * (log_weight_roundings(sides_, kMore) + 3 + static_cast<double>(states())) +
         sum_.log_error();
}

}  // namespace boltzmark
