#include "boltzmark/estimate/held/rare_switches.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "boltzmark/core/numeric.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/estimate/places/unit_moves.hpp"
#include "boltzmark/exact/modes/fixed_points.hpp"
#include "boltzmark/exact/modes/unit_steps.hpp"

namespace boltzmark {

using Eigen::Index;
using Eigen::VectorXd;

RunSamples samples_of(const Layered& model, const VisitedStates& visited) {
  require_visits(visited.states, visited.visits);
  Index count = 0;
  for (const Chains& states : visited.states) count += states.chains();
  RunSamples samples{Eigen::MatrixXf(model.units(), count), VectorXd::Ones(count)};
  Index first = 0;
  for (const Chains& states : visited.states) {
    samples.values.middleCols(first, states.chains()) = all_values(states);
    first += states.chains();
  }
  if (!visited.visits.empty()) samples.weights = VectorXd::Map(visited.visits.data(), count);
  if (const double all = samples.weights.sum(); all > 0) samples.weights /= all;
  return samples;
}

VectorXd weights_at_home(const RareSwitch& rare, const RunSamples& samples) {
  VectorXd weights = samples.weights;
  for (std::size_t k = 0; k < rare.numbers.size(); ++k) {
    const Eigen::ArrayXd values = samples.values.row(rare.numbers[k]).transpose().cast<double>();
    weights =
        (values >= rare.homes[k].low && values <= rare.homes[k].high).select(weights.array(), 0.0);
  }
  return weights;
}

namespace {

constexpr double kOften = 0.2;

// The value that as much weight as the share is at or below.
double quantile(const Eigen::ArrayXd& values, const VectorXd& weights, double share) {
  std::vector<Index> order(static_cast<std::size_t>(values.size()));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](Index a, Index b) { return values[a] < values[b]; });
  double below = 0;
  for (const Index n : order)
    if ((below += weights[n]) >= share) return values[n];
  return values[order.back()];
}

// The value that most weight is at.
double most_often(Unit unit, const Eigen::ArrayXd& values, const VectorXd& weights) {
  std::vector<double> shares(static_cast<std::size_t>(unit.values()), 0);
  for (Index n = 0; n < weights.size(); ++n)
    shares[std::lround((values[n] - unit.lowest()) / unit.spacing())] += weights[n];
  return unit.value(
      static_cast<int>(std::max_element(shares.begin(), shares.end()) - shares.begin()));
}

// Half of what lies between two values.
double half_step(Unit unit) { return unit.is_discrete() ? unit.spacing() / 2 : 0; }

// One of few values has no width.
ValueRange range_between(Unit unit, double low, double high) {
  if (low == high && !is_range(unit)) return {low, high};
  return {low - half_step(unit), high + half_step(unit)};
}

// Where nearly all are that are not beyond the middle of the way.
ValueRange home_range(Unit unit, const Eigen::ArrayXd& values, VectorXd weights,
                      const UnitSwitch& of) {
  constexpr double kTail = 0.025;
  if (unit.is_discrete() && unit.values() == 2) {
    const auto stored = static_cast<double>(static_cast<float>(of.from));  // as samples are
    return {stored, stored};
  }
  for (Index n = 0; n < values.size(); ++n)
    if (is_far(values[n], of)) weights[n] = 0;
  const double all = weights.sum();
  return range_between(unit, quantile(values, weights, kTail * all),
                       quantile(values, weights, (1 - kTail) * all));
}

// The lowest first.
std::vector<double> far_values(Unit unit, const SwitchedUnit& of) {
  std::vector<double> far;
  for (int k = 0; k < unit.values(); ++k)
    if (is_far(unit.value(k), of)) far.push_back(unit.value(k));
  return far;
}

// What of the far half of a range of many values holds nearly all, by a unit's input there.
ValueRange end_range(Unit unit, double input, double from, double to) {
  constexpr double kNats = 8;
  const double half = std::abs(to - from) / 2, slope = to > from ? input : -input,
               width = slope * half > kNats ? kNats / slope : half;
  return to > from ? ValueRange{to - width, to + half_step(unit)}
                   : ValueRange{to - half_step(unit), to + width};
}

constexpr double kRarely = 0.03;

// How often a unit is far that may be so rarely with others: noise takes one of several values there by itself.
double most_met(Unit unit) { return unit.is_discrete() && unit.values() == 2 ? kRarely : 0.1; }

// A unit that the samples hardly have at the end that is far from its mean, and often enough at home.
std::optional<RareSwitch> rare_switch(const RunSamples& samples, const NumberedSides& side,
                                      Index place) {
  const Unit unit = side.sides.enumerated[place];
  const Eigen::ArrayXd values = samples.values.row(side.units[place]).transpose().cast<double>();
  const VectorXd& weights = samples.weights;
  RareSwitch found;
  found.side = &side;
  found.units = {place};
  found.numbers = {side.units[place]};
  UnitSwitch& of = found.of;
  const double mean = (values * weights.array()).sum();
  of.unit = static_cast<int>(side.units[place]);
  of.to = 2 * mean > unit.lowest() + unit.highest() ? unit.lowest() : unit.highest();
  of.from = is_range(unit) ? quantile(values, weights, 0.5) : most_often(unit, values, weights);
  for (Index n = 0; n < values.size(); ++n)
    if (is_far(values[n], of)) of.met += weights[n];
  if (of.from == of.to || of.met > most_met(unit)) return {};
  found.homes = {home_range(unit, values, weights, of)};
  if (is_range(unit) && !(found.homes[0].width() > 0)) return {};
  of.share = weights_at_home(found, samples).sum();
  if (of.share < kOften) return {};
  return found;
}

// Sets where its units move to by their inputs there, and makes a mass of what is a density until then.
void set_ends(const VectorXd& inputs, RareSwitch& rare) {
  rare.ends.clear();
  for (std::size_t k = 0; k < rare.units.size(); ++k) {
    const Unit unit = rare.side->sides.enumerated[rare.units[k]];
    const double input = inputs[static_cast<Index>(k)];
    const auto [number, from, to] = unit_of(rare.of, k);
    if (!is_range(unit)) {
      const std::vector<double> far = far_values(unit, {number, from, to});
      rare.ends.push_back(range_between(unit, far.front(), far.back()));
      const VectorXd gained = input * (VectorXd::Map(far.data(), std::ssize(far)).array() - to);
      rare.likely += log_sum_exp(gained);
      continue;
    }
    rare.ends.push_back(end_range(unit, input, from, to));
    rare.likely += rare.ends.back().log_integral(input) - input * to -
                   (unit.is_discrete() ? std::log(unit.spacing()) : 0);
  }
}

using Members = std::vector<Index>;  // of the rare switches of single units

/// Different groups of two members or more, in the order in which they were added.
class Groups {
 public:
  void add(Members group) {
    Members sorted = group;
    std::sort(sorted.begin(), sorted.end());
    if (group.size() > 1 && known_.insert(std::move(sorted)).second)
      groups_.push_back(std::move(group));
  }
  std::vector<Members> take() { return std::exchange(groups_, {}); }

 private:
  std::set<Members> known_;
  std::vector<Members> groups_;
};

// Adds each with those whose weights, as they move, have at least such a cosine with its own, more of them or fewer;
// none has one with no weights. None where the products of all pairs would take longer than mean field.
void add_alike(const Bipartite& sides, const std::vector<RareSwitch>& rare, Groups& groups) {
  constexpr double kWeights = 0x1p32;
  constexpr float kParallel = 0.9F;
  constexpr std::size_t kMost = 16;  // of those that are less than parallel
  const auto count = std::ssize(rare);
  if (static_cast<double>(count * count * sides.weights.rows()) > kWeights) return;
  Eigen::MatrixXf columns(sides.weights.rows(), count);
  for (Index k = 0; k < count; ++k) {
    const RareSwitch& one = rare[static_cast<std::size_t>(k)];
    columns.col(k) = (one.of.to > one.of.from ? 1.0F : -1.0F) *
                     sides.weights.col(one.units[0]).normalized().cast<float>();
  }
  const Eigen::MatrixXf cosines = columns.transpose() * columns;
  for (Index k = 0; k < count; ++k)
    for (const float least : {kParallel, 0.7F, 0.5F, 0.35F}) {
      Members group = {k};
      for (Index j = 0; j < count; ++j)
        if (j != k && cosines(j, k) >= least) group.push_back(j);
      if (least == kParallel || group.size() <= kMost) groups.add(std::move(group));
    }
}

// Adds the switches that walks over all of them made where they were the likeliest, if those hold more than the first
// alone: pairs tell which belong together, however far apart their weights point. None where pairs are too many.
void add_grown(const Bipartite& sides, const VectorXd& means, const std::vector<RareSwitch>& rare,
               Groups& groups) {
  constexpr double kMostOfPairs = 0x1p27, kMostOfWalks = 0x1p26;  // log partitions
  constexpr double kFewest = 16, kNats = 12;  // e^-12 is next to nothing for any number
  const auto count = static_cast<double>(rare.size());
  // A step also takes as many sums as there are steps, each about a quarter of a log partition.
  const double one = count * std::max(static_cast<double>(sides.weights.rows()), count / 4);
  if ((count + 1) / 2 * one > kMostOfPairs) return;
  std::vector<UnitStep> steps;
  for (const RareSwitch& of : rare) steps.push_back({of.units[0], of.of.to - means[of.units[0]]});
  const UnitSteps walks(sides, sides.weights * means + sides.other_input, sides.bias.dot(means),
                        std::move(steps));
  const auto most = static_cast<Index>(std::max(kFewest, kMostOfWalks / (2 * std::max(1.0, one))));
  std::vector<std::array<Members, 2>> found(2 * rare.size());
  parallel_for(found.size(), [&](std::size_t k) {
    const StepWalk walk = walks.walk(static_cast<int>(k / 2),
                                     k % 2 == 0 ? StepOrder::gains : StepOrder::shared, most);
    const auto& reached = walk.log_weights;
    const double least = std::max(reached[0], walks.start() - kNats);
    const auto take = [&](std::size_t best, Members& group) {
      if (reached[best] > least)
        group.assign(walk.order.begin(),
                     walk.order.begin() + static_cast<std::ptrdiff_t>(best) + 1);
    };
    // What several groups hold together hides the first of them.
    std::size_t first = 1;
    while (first + 1 < reached.size() &&
           !(reached[first] > least && reached[first + 1] < reached[first]))
      ++first;
    take(static_cast<std::size_t>(std::max_element(reached.begin() + 1, reached.end()) -
                                  reached.begin()),
         found[k][0]);
    if (first < reached.size()) take(first, found[k][1]);
  });
  for (auto& groups_of_walk : found)
    for (Members& group : groups_of_walk) groups.add(std::move(group));
}

RareSwitch group_of(const Members& members, const std::vector<RareSwitch>& rare) {
  RareSwitch group = rare[members[0]];
  for (std::size_t k = 1; k < members.size(); ++k) {
    const RareSwitch& other = rare[members[k]];
    group.units.push_back(other.units[0]);
    group.numbers.push_back(other.numbers[0]);
    group.homes.push_back(other.homes[0]);
    group.of.others.push_back({other.of.unit, other.of.from, other.of.to});
  }
  return group;
}

// Of more than so many, evenly spaced ones.
template <class One>
void thin_out(std::vector<One>& all, double most) {
  if (static_cast<double>(all.size()) <= most) return;
  const auto count = static_cast<std::size_t>(std::max(0.0, most));
  for (std::size_t k = 0; k < count; ++k) all[k] = all[k * all.size() / count];
  all.resize(count);
}

// Rare switches as one each, so many at most: what they hold together none need hold alone.
std::vector<RareSwitch> joint_switches(const Bipartite& sides, const VectorXd& means,
                                       const RunSamples& samples,
                                       const std::vector<RareSwitch>& rare, double most) {
  if (rare.size() < 2 || most < 1) return {};
  Groups all;
  add_alike(sides, rare, all);
  std::vector<Members> alike = all.take();
  add_grown(sides, means, rare, all);
  std::vector<Members> grown = all.take();
  thin_out(alike, std::max(most / 2, most - static_cast<double>(grown.size())));
  thin_out(grown, most - static_cast<double>(alike.size()));
  std::move(grown.begin(), grown.end(), std::back_inserter(alike));
  std::vector<RareSwitch> groups;
  for (const Members& members : alike) {
    RareSwitch group = group_of(members, rare);
    group.of.share = weights_at_home(group, samples).sum();
    if (group.of.share >= kOften) groups.push_back(std::move(group));
  }
  return groups;
}

// By which inputs move while the units do.
double change_of(const UnitSwitch& of, const VectorXd& changes) {
  double change = 0;
  for (Index k = 0; k < changes.size(); ++k) {
    const auto [number, from, to] = unit_of(of, static_cast<std::size_t>(k));
    change += (to - from) * changes[k];
  }
  return std::abs(change);
}

// E[e^(way input)] <= e^(way greatest input) for each value that is far.
double greatest_of(const Bipartite& sides, const RareSwitch& one) {
  const Index unit = one.units[0];
  const auto [number, from, to] = unit_of(one.of, 0);
  const double sign = to > from ? 1 : -1;
  double input = sign * sides.bias[unit];
  for (Index i = 0; i < sides.weights.rows(); ++i) {
    const double each = sign * sides.weights(i, unit);
    input += each * (each > 0 ? sides.other[i].highest() : sides.other[i].lowest());
  }
  const double farthest = input * std::abs(to - from);
  if (is_range(sides.enumerated[unit])) return farthest;
  const std::vector<double> far = far_values(sides.enumerated[unit], {number, from, to});
  const double nearest = input * std::abs((to > from ? far.front() : far.back()) - from);
  return std::max(nearest, farthest) + std::log(static_cast<double>(far.size()));
}

void add_candidates(const NumberedSides& side, const RunSamples& samples,
                    std::vector<RareSwitch>& all) {
  constexpr double kWeights = 0x1p32, kProducts = 9, kFewest = 500;
  std::vector<RareSwitch> rare;
  for (Index i = 0; i < std::ssize(side.units); ++i)
    if (const auto candidate = rare_switch(samples, side, i)) rare.push_back(*candidate);
  const VectorXd means = (samples.values.cast<double>() * samples.weights)(side.units);
  const double most =
      std::max(kFewest, kWeights / kProducts /
                            std::max(1.0, static_cast<double>(side.sides.weights.size())));
  std::vector<RareSwitch> joint =
      joint_switches(side.sides, means, samples, rare, most - static_cast<double>(rare.size()));
  std::erase_if(rare, [](const RareSwitch& one) { return one.of.met > kRarely; });
  thin_out(rare, most);
  std::move(joint.begin(), joint.end(), std::back_inserter(rare));
  if (rare.empty()) return;
  std::vector<HeldGroup> groups;
  for (const RareSwitch& candidate : rare) {
    HeldGroup& group = groups.emplace_back(candidate.units, std::vector<double>{});
    for (std::size_t k = 0; k < candidate.units.size(); ++k)
      group.values.push_back(unit_of(candidate.of, k).to);
  }
  std::vector<HeldMeans> held = hold_each(side, means, groups);
  for (std::size_t k = 0; k < rare.size(); ++k) {
    rare[k].likely = held[k].log_ratio;
    set_ends(held[k].inputs, rare[k]);
    rare[k].change = change_of(rare[k].of, held[k].changes);
    rare[k].greatest = greatest_of(side.sides, rare[k]);
    rare[k].means = std::move(held[k].ends);
    all.push_back(std::move(rare[k]));
  }
}

// Of two groups of both sides that lead to each other one is enough: that of fewer units, which hold the others.
void drop_told_twice(std::vector<RareSwitch>& all) {
  const auto is_told = [&](const RareSwitch& one) {
    return one.units.size() > 1 &&
           std::any_of(all.begin(), all.end(), [&](const RareSwitch& other) {
             return other.side != one.side && other.units.size() > 1 &&
                    other.units.size() < one.units.size() && is_switched(one.means, other.of) &&
                    is_switched(other.means, one.of);
           });
  };
  std::vector<RareSwitch> kept;
  std::copy_if(all.begin(), all.end(), std::back_inserter(kept),
               [&](const RareSwitch& one) { return !is_told(one); });
  all = std::move(kept);
}

// What each moves by, of units of few values. A column of no shift: it moves others.
// Shapes  index [units of all layers]: of each of `count`
Eigen::MatrixXf shifts_of(const std::vector<RareSwitch>& rare, const std::vector<Index>& index,
                          Index count) {
  Eigen::MatrixXf shifts = Eigen::MatrixXf::Zero(count, std::ssize(rare));
  for (std::size_t c = 0; c < rare.size(); ++c) {
    const RareSwitch& one = rare[c];
    if (std::any_of(one.units.begin(), one.units.end(),
                    [&](Index unit) { return is_range(one.side->sides.enumerated[unit]); }))
      continue;
    for (std::size_t k = 0; k < one.numbers.size(); ++k) {
      const auto [number, from, to] = unit_of(one.of, k);
      shifts(index[number], static_cast<Index>(c)) = static_cast<float>(to - from);
    }
  }
  return shifts;
}

// Two of both sides as one.
RareSwitch both_of(RareSwitch one, const RareSwitch& other, double joined) {
  one.numbers.insert(one.numbers.end(), other.numbers.begin(), other.numbers.end());
  one.homes.insert(one.homes.end(), other.homes.begin(), other.homes.end());
  one.ends.insert(one.ends.end(), other.ends.begin(), other.ends.end());
  one.of.others.push_back({other.of.unit, other.of.from, other.of.to});
  one.of.others.insert(one.of.others.end(), other.of.others.begin(), other.of.others.end());
  one.likely += other.likely + joined;
  one.change += other.change + std::abs(joined);
  return one;
}

// Pairs of both sides that hold more than either does, by the weights between what they move, where neither leads to the
// other. None where the products would take longer than mean field.
std::vector<RareSwitch> pairs_across(const NumberedSides& even, const std::vector<RareSwitch>& ones,
                                     const std::vector<RareSwitch>& others,
                                     const RunSamples& samples) {
  constexpr double kWeights = 0x1p32, kNats = 12;  // e^-12 is next to nothing for any number
  constexpr std::size_t kMost = 500;
  struct Pair {
    double likely;
    Index other, one;
  };
  const auto products =
      static_cast<double>(even.sides.weights.size()) * static_cast<double>(ones.size());
  if (ones.empty() || others.empty() || products > kWeights) return {};
  const Eigen::MatrixXf weights = even.sides.weights.cast<float>();
  std::vector<Index> index(samples.values.rows());
  for (Index i = 0; i < std::ssize(even.units); ++i) index[even.units[i]] = i;
  for (Index i = 0; i < std::ssize(even.others); ++i) index[even.others[i]] = i;
  const Eigen::MatrixXf joined = shifts_of(others, index, weights.rows()).transpose() *
                                 (weights * shifts_of(ones, index, weights.cols()));
  std::vector<Pair> found;
  for (Index c = 0; c < joined.cols(); ++c)
    for (Index r = 0; r < joined.rows(); ++r) {
      const RareSwitch &one = ones[c], &other = others[r];
      const double both = one.likely + other.likely + joined(r, c);
      if (!(both > std::max({one.likely, other.likely, -kNats}))) continue;
      if (is_switched(one.means, other.of) || is_switched(other.means, one.of)) continue;
      found.push_back({both, r, c});
    }
  std::stable_sort(found.begin(), found.end(),
                   [](const Pair& a, const Pair& b) { return a.likely > b.likely; });
  if (found.size() > kMost) found.resize(kMost);
  std::vector<RareSwitch> pairs;
  for (const auto& [likely, r, c] : found) {
    RareSwitch pair = both_of(ones[c], others[r], joined(r, c));
    pair.of.share = weights_at_home(pair, samples).sum();
    if (pair.of.share >= kOften) pairs.push_back(std::move(pair));
  }
  return pairs;
}

// Apart, of those that all together are next to nothing by mean field, the single units.
RareSwitches told_apart(std::vector<RareSwitch> candidates) {
  RareSwitches apart;
  std::erase_if(candidates, [](const RareSwitch& one) { return std::isnan(one.likely); });
  std::stable_sort(
      candidates.begin(), candidates.end(),
      [](const RareSwitch& a, const RareSwitch& b) { return a.expected(1) > b.expected(1); });
  double left = 0;
  while (!candidates.empty()) {
    left += candidates.back().expected(1);
    if (left > kNextToNothing) break;
    if (candidates.back().numbers.size() == 1)
      apart.unlikely.push_back(std::move(candidates.back()));
    candidates.pop_back();
  }
  const auto at_most = [](const RareSwitch& one) { return std::log(one.of.share) + one.greatest; };
  const double next_to_nothing =
      std::log(kNextToNothing / static_cast<double>(apart.unlikely.size()));
  std::erase_if(apart.unlikely,
                [&](const RareSwitch& one) { return at_most(one) < next_to_nothing; });
  std::stable_sort(
      apart.unlikely.begin(), apart.unlikely.end(),
      [&](const RareSwitch& a, const RareSwitch& b) { return at_most(a) > at_most(b); });
  apart.likely = std::move(candidates);
  return apart;
}

}  // namespace

RareSwitches rare_switches(const NumberedSides& even, const NumberedSides& odd,
                           const RunSamples& samples) {
  std::vector<RareSwitch> all, of_odd;
  add_candidates(even, samples, all);
  add_candidates(odd, samples, of_odd);
  std::vector<RareSwitch> pairs = pairs_across(even, all, of_odd, samples);
  std::move(of_odd.begin(), of_odd.end(), std::back_inserter(all));
  drop_told_twice(all);
  std::move(pairs.begin(), pairs.end(), std::back_inserter(all));
  return told_apart(std::move(all));
}

}  // namespace boltzmark
