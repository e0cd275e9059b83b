#include "boltzmark/estimate/held/switches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/numeric.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/estimate/places/unit_moves.hpp"
#include "boltzmark/exact/modes/fixed_points.hpp"

namespace boltzmark {
namespace {

using Eigen::Index;
using Eigen::VectorXd;
using Flags = Eigen::Array<bool, Eigen::Dynamic, 1>;

/// The samples of a run at b = 1.
struct Samples {
  Eigen::MatrixXf values;  // [units x samples], the lowest layer first
  VectorXd weights;        // [samples], of sum 1
};

Samples samples_of(const Layered& model, const VisitedStates& visited) {
  Index count = 0;
  for (const Chains& states : visited.states) count += states.chains();
  Samples samples{Eigen::MatrixXf(model.units(), count), VectorXd::Ones(count)};
  Index first = 0;
  for (const Chains& states : visited.states) {
    samples.values.middleCols(first, states.chains()) = all_values(states);
    first += states.chains();
  }
  if (!visited.visits.empty() && std::ssize(visited.visits) != count)
    throw InvalidArgument(fmt::format("visits = {} (must be one for each of {} states)",
                                      visited.visits.size(), count));
  if (!visited.visits.empty()) samples.weights = VectorXd::Map(visited.visits.data(), count);
  if (const double all = samples.weights.sum(); all > 0) samples.weights /= all;
  return samples;
}

constexpr double kOften = 0.2;

/// A switch, the places of what moves in its side, its unit first, and what mean field tells of it.
struct Candidate {
  UnitSwitch of;
  double low = 0, high = 0;  // between which its unit is most often
  double width = 0;          // of these values; 0: there is one
  const NumberedSides* side = nullptr;
  UnitGroup units = {};
  double likely = 0;  // log ratio
  double change = 0;  // by which the units' inputs move on the way, in nats
};

// Whether values are nearer to the far end than to where the unit is most often.
auto are_far(const Eigen::ArrayXd& values, const UnitSwitch& of) {
  return ((values - of.to).abs() < (values - of.from).abs()).eval();
}

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

// The weights of those samples whose units are where they are most often.
VectorXd weights_at_home(const Candidate& candidate, const Samples& samples) {
  VectorXd weights = samples.weights;
  for (const Index place : candidate.units) {
    const Eigen::ArrayXd values =
        samples.values.row(candidate.side->units[place]).transpose().cast<double>();
    weights = (values >= candidate.low && values <= candidate.high).select(weights.array(), 0.0);
  }
  return weights;
}

// A unit that the samples hardly have at the end that is far from its mean, and often enough at one value or, of many
// values, between two.
std::optional<Candidate> rare_switch(const Samples& samples, const NumberedSides& side,
                                     Index place) {
  constexpr double kRarely = 0.03;
  constexpr int kFew = 16;
  const Unit unit = side.sides.enumerated[place];
  const Eigen::ArrayXd values = samples.values.row(side.units[place]).transpose().cast<double>();
  const VectorXd& weights = samples.weights;
  Candidate found;
  found.side = &side;
  found.units = {place};
  UnitSwitch& of = found.of;
  if (unit.is_discrete() && unit.values() <= kFew) {
    of.from = most_often(unit, values, weights);
    found.low = found.high = static_cast<float>(of.from);  // as samples are stored
  } else {
    found.low = quantile(values, weights, 0.25);
    found.high = quantile(values, weights, 0.75);
    of.from = (found.low + found.high) / 2;
    found.width = found.high - found.low + (unit.is_discrete() ? unit.spacing() : 0);
    if (!(found.width > 0)) return {};
  }
  const double mean = (values * weights.array()).sum();
  of.unit = static_cast<int>(side.units[place]);
  of.to = 2 * mean > unit.lowest() + unit.highest() ? unit.lowest() : unit.highest();
  of.share = weights_at_home(found, samples).sum();
  of.met = are_far(values, of).select(weights.array(), 0.0).sum();
  if (of.met > kRarely || of.share < kOften || of.from == of.to) return {};
  return found;
}

// Rare switches of units whose weights are all but parallel, as one each: what they hold together none need hold
// alone. None where the products of all pairs would take longer than mean field.
std::vector<Candidate> parallel_switches(const NumberedSides& side, const Samples& samples,
                                         const std::vector<Candidate>& rare) {
  constexpr double kParallel = 0.9, kWeights = 0x1p32;
  std::vector<Candidate> groups;
  const auto count = std::ssize(rare);
  const Eigen::MatrixXd& weights = side.sides.weights;
  if (count < 2 || static_cast<double>(count * count * weights.rows()) > kWeights) return groups;
  std::vector<Index> places;
  for (const Candidate& one : rare) places.push_back(one.units[0]);
  const Eigen::MatrixXf columns = weights(Eigen::all, places).colwise().normalized().cast<float>();
  std::vector<bool> grouped(rare.size(), false);
  for (Index k = 0; k < count; ++k) {
    if (grouped[k] || rare[k].width > 0) continue;
    Candidate group = rare[k];
    const Eigen::VectorXf cosines = columns.transpose() * columns.col(k);
    for (Index j = k + 1; j < count; ++j) {
      if (grouped[j] || cosines[j] < kParallel || rare[j].width > 0 ||
          rare[j].of.from != group.of.from || rare[j].of.to != group.of.to)
        continue;
      group.units.push_back(places[j]);
      grouped[j] = true;
    }
    group.of.share = weights_at_home(group, samples).sum();
    if (group.units.size() > 1 && group.of.share >= kOften) groups.push_back(group);
  }
  return groups;
}

void add_candidates(const NumberedSides& side, const Samples& samples,
                    std::vector<Candidate>& all) {
  constexpr double kWeights = 0x1p32, kProducts = 9;
  std::vector<Candidate> rare;
  for (Index i = 0; i < std::ssize(side.units); ++i)
    if (const auto candidate = rare_switch(samples, side, i)) rare.push_back(*candidate);
  for (const Candidate& group : parallel_switches(side, samples, rare)) rare.push_back(group);
  const double most =
      kWeights / kProducts / std::max(1.0, static_cast<double>(side.sides.weights.size()));
  if (most < static_cast<double>(rare.size())) {  // evenly spaced ones
    const auto count = static_cast<std::size_t>(most);
    for (std::size_t k = 0; k < count; ++k) rare[k] = rare[k * rare.size() / count];
    rare.resize(count);
  }
  if (rare.empty()) return;
  const VectorXd means = (samples.values.cast<double>() * samples.weights)(side.units);
  std::vector<UnitGroup> groups;
  std::vector<double> ends;
  for (const Candidate& candidate : rare) {
    groups.push_back(candidate.units);
    ends.push_back(candidate.of.to);
  }
  const std::vector<HeldMeans> held = hold_each(side.sides, means, groups, ends);
  for (std::size_t k = 0; k < rare.size(); ++k) {
    rare[k].likely = held[k].log_ratio;
    rare[k].change = std::abs((rare[k].of.to - rare[k].of.from) * held[k].change);
    all.push_back(rare[k]);
  }
}

// The likeliest first; none of those that all together are next to nothing by mean field.
void keep_likely(std::vector<Candidate>& candidates) {
  constexpr double kNothing = -5;
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.likely > b.likely; });
  LogSum left;
  while (!candidates.empty()) {
    left.add(candidates.back().likely);
    if (left.log() > kNothing) break;
    candidates.pop_back();
  }
}

// The steps in which each candidate's unit moves, none of those beyond 2^33 weights. What steps waste is about
// change / (2 steps) nats: a quarter of one, or one where there are many.
std::vector<int> steps_of(const std::vector<Candidate>& candidates, double weights) {
  constexpr double kMost = 0x1p33, kFewest = 32;
  std::vector<int> steps;
  for (const double a_nat : {2.0, 0.5}) {
    steps.clear();
    double left = kMost / (2 * kMovedChains * std::max(1.0, weights));
    for (const Candidate& candidate : candidates) {
      if (left < kFewest) break;
      const double wanted =
          std::min(std::clamp(a_nat * candidate.change, kFewest, 16 * kFewest), left);
      left -= wanted;
      steps.push_back(static_cast<int>(wanted));
    }
    if (steps.size() == candidates.size()) break;
  }
  return steps;
}

// States of the side whose units are where they are most often, evenly spaced by their weights.
Eigen::MatrixXf starts_of(const Candidate& candidate, const Samples& samples) {
  const VectorXd weights = weights_at_home(candidate, samples);
  Eigen::MatrixXf states(std::ssize(candidate.side->units), kMovedChains);
  const double all = weights.sum();
  Index n = 0;
  double sum = weights[0];
  for (int c = 0; c < kMovedChains; ++c) {
    while (n + 1 < weights.size() && sum * kMovedChains <= (c + 0.5) * all) sum += weights[++n];
    states.col(c) = samples.values.col(n)(candidate.side->units);
  }
  return states;
}

// Whether each column of values has a unit nearer to its far end.
Flags switched(const Eigen::MatrixXf& values, const UnitSwitch& of) {
  return are_far(values.row(of.unit).transpose().cast<double>().array(), of);
}

// Writes what weights tell of those chains that count, none of which is 0.
void set_ratio(const VectorXd& log_weights, const Flags& count, double visits, UnitSwitch& of) {
  const double highest = log_weights.maxCoeff(), all = static_cast<double>(count.size());
  const Eigen::ArrayXd weights = count.select((log_weights.array() - highest).exp(), 0.0);
  const double mean = weights.mean();
  of.log_ratio = highest + std::log(mean);
  // That of the mean, and that of the share.
  of.error = std::sqrt((weights - mean).square().sum() / (all - 1) / all / (mean * mean) +
                       std::max(0.0, 1 - of.share) / (of.share * visits));
}

}  // namespace

Switches switch_units(const Layered& model, const VisitedStates& visited, StreamKey key) {
  const Samples samples = samples_of(model, visited);
  Switches switches;
  if (!(samples.weights.sum() > 0)) return switches;
  switches.visits = 1 / samples.weights.squaredNorm();
  const NumberedSides even(model, 0), odd(model, 1);
  std::vector<Candidate> candidates;
  add_candidates(even, samples, candidates);
  add_candidates(odd, samples, candidates);
  keep_likely(candidates);
  const std::vector<int> steps =
      steps_of(candidates, static_cast<double>(even.sides.weights.size()));
  std::vector<MovedUnits> moved(steps.size());
  parallel_for(steps.size(), [&](std::size_t k) {
    const Candidate& candidate = candidates[k];
    UnitMove move{candidate.units, candidate.of.to};
    if (candidate.width > 0) move.beyond = (candidate.of.from + candidate.of.to) / 2;
    const std::string name =
        std::to_string(candidate.of.unit) + (candidate.units.size() > 1 ? " and others" : "");
    moved[k] = move_units(*candidate.side, move, steps[k], starts_of(candidate, samples),
                          derive_key(key, name));
    if (candidate.width > 0) moved[k].log_weights.array() -= std::log(candidate.width);
  });
  const Flags all_chains = Flags::Constant(kMovedChains, true);
  for (std::size_t k = 0; k < moved.size(); ++k)
    set_ratio(moved[k].log_weights, all_chains, switches.visits, candidates[k].of);
  std::vector<std::size_t> order(moved.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return candidates[a].of.log_ratio > candidates[b].of.log_ratio;
  });
  Flags left =
      Flags::Constant(samples.values.cols(), true);  // samples without a switch of those before
  for (const std::size_t k : order) {
    UnitSwitch of = candidates[k].of;
    Flags count = all_chains;
    for (const UnitSwitch& other : switches.units)
      count = count && !switched(moved[k].values, other);
    if (!count.any()) continue;
    set_ratio(moved[k].log_weights, count, switches.visits, of);
    const Flags here = left && switched(samples.values, of);
    of.met = here.select(samples.weights.array(), 0.0).sum();
    left = left && !here;
    switches.units.push_back(of);
  }
  return switches;
}

namespace {

/// A mass, and how likely right samples never meet it.
struct Chance {
  double mass = 0, never = 0;
};

// Bounds the probability that chance leaves out so much or more, by Chernoff's inequality:
//   P(S >= s) <= e^{-t s} prod_u (1 + never_u (e^{t mass_u} - 1)), t > 0.
double log_chance(const std::vector<Chance>& units, double left_out) {
  double greatest = 0, least = 0;
  for (const Chance& of : units) greatest = std::max(greatest, of.mass);
  for (double steep = 0.125; steep <= 64; steep *= 2) {
    const double t = steep / greatest;
    double bound = -t * left_out;
    for (const Chance& of : units) bound += std::log1p(of.never * std::expm1(t * of.mass));
    least = std::min(least, bound);
  }
  return least;
}

constexpr double kErrors = 4;
const double kSurely = std::log(1e-4);

/// What a run misses, as shares of such a Z.
struct UnmetMass {
  double missing = 0;  // as far as is known
  double surely = 0;   // four errors less, and less what chance leaves out
};

double mass_of(const UnitSwitch& of) {
  constexpr double kGreatest = 5;  // e^5 is as much as any more
  return std::exp(std::min(std::log(of.share) + of.log_ratio, kGreatest));
}

// Each by itself is met or not.
UnmetMass never_met(const Switches& switches) {
  double unmet = 0, chance = 0, variance = 0, nats = 0;
  std::vector<Chance> units;
  for (const UnitSwitch& of : switches.units) {
    const double mass = mass_of(of);
    units.push_back({mass, std::pow(1 + mass, -switches.visits)});
    chance += mass * units.back().never;
    if (of.met * switches.visits > 0.5) continue;
    unmet += mass;
    variance += mass * mass * of.error * of.error;
    nats += std::log1p(mass);
  }
  const double least = unmet - kErrors * std::sqrt(variance);
  if (!(least > chance) || log_chance(units, least) > kSurely) return {};
  return {std::expm1(nats * (1 - chance / unmet)), least - chance};  // alone, in any combination
}

// Those of which a run's samples in the mean meet no more than so many, as one mass: of n right samples as few are there by
// chance with probability e^{-n KL} at most [Chernoff 1952].
UnmetMass met_too_seldom(const Switches& switches, double most) {
  double mass = 0, met = 0, variance = 0;
  for (const UnitSwitch& of : switches.units) {
    const double one = mass_of(of);
    if (one * switches.visits > most) continue;
    mass += one;
    met += of.met;
    variance += one * one * of.error * of.error;
  }
  const double least = mass - kErrors * std::sqrt(variance), share = least / (1 + least);
  if (!(least > 0 && share > met)) return {};
  const double apart =
      (met > 0 ? met * std::log(met / share) : 0) + (1 - met) * std::log((1 - met) / (1 - share));
  if (-switches.visits * apart > kSurely) return {};
  return {(1 - met) * (1 + mass) - 1, (1 - met) * (1 + least) - 1};
}

}  // namespace

void hold_to_switches(const Switches& switches, double told, Estimate& estimate) {
  constexpr double kMost = 0.1;
  if (!std::isfinite(estimate.log_z)) return;
  UnmetMass unmet = never_met(switches);
  for (const double most : {0.5, 2.0, 8.0})
    if (const UnmetMass together = met_too_seldom(switches, most); together.surely > unmet.surely)
      unmet = together;
  const auto [missing, surely] = unmet;
  if (!(surely > 0)) return;
  if (surely > kMost)
    return estimate.refuse(
        Status::not_converged,
        fmt::format("units that the run never switched, each by itself, hold {} % of such a Z: run "
                    "more sweeps, or use a base that is closer to the model",
                    missing < 10 ? fmt::format("{:.0f}", 100 * missing) : "more than 1000"));
  if (missing > told && estimate.add_missing(missing - told))
    estimate.warnings.push_back(
        fmt::format("units that the run never switched hold {:.2g} % of such a Z: the standard "
                    "error has it, and so has the upper limit",
                    100 * missing));
}

}  // namespace boltzmark
