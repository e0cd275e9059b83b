#include "boltzmark/estimate/held/switches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>

#include "boltzmark/core/error.hpp"
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

// A unit that the samples hardly have at the end that is far from its mean, and often enough at one value.
std::optional<UnitSwitch> rare_switch(const Samples& samples, Unit unit, Index number) {
  constexpr double kRarely = 0.03, kOften = 0.2;
  if (!unit.is_discrete()) return {};
  std::vector<double> shares(static_cast<std::size_t>(unit.values()), 0);
  double mean = 0;
  for (Index n = 0; n < samples.weights.size(); ++n) {
    const auto value = static_cast<double>(samples.values(number, n));
    mean += samples.weights[n] * value;
    shares[std::lround((value - unit.lowest()) / unit.spacing())] += samples.weights[n];
  }
  const auto most = std::max_element(shares.begin(), shares.end());
  UnitSwitch found{.unit = static_cast<int>(number),
                   .from = unit.value(static_cast<int>(most - shares.begin())),
                   .to = 2 * mean > unit.lowest() + unit.highest() ? unit.lowest() : unit.highest(),
                   .share = *most};
  for (int k = 0; k < unit.values(); ++k)
    if (std::abs(unit.value(k) - found.to) < std::abs(unit.value(k) - found.from))
      found.met += shares[k];
  if (found.met > kRarely || found.share < kOften || found.from == found.to) return {};
  return found;
}

/// A switch, the place of its unit in its side, and what mean field tells of it.
struct Candidate {
  UnitSwitch of;
  const NumberedSides* side = nullptr;
  Index place = 0;
  double likely = 0;  // log ratio
  double change = 0;  // by which the unit's input moves on the way, in nats
};

void add_candidates(const NumberedSides& side, const Samples& samples,
                    std::vector<Candidate>& all) {
  constexpr double kNothing = -7, kWeights = 0x1p32, kProducts = 9;
  std::vector<Candidate> rare;
  for (Index i = 0; i < std::ssize(side.units); ++i)
    if (const auto of = rare_switch(samples, side.sides.enumerated[i], side.units[i]))
      rare.push_back({.of = *of, .side = &side, .place = i});
  const double most =
      kWeights / kProducts / std::max(1.0, static_cast<double>(side.sides.weights.size()));
  if (most < static_cast<double>(rare.size())) {  // evenly spaced ones
    const auto count = static_cast<std::size_t>(most);
    for (std::size_t k = 0; k < count; ++k) rare[k] = rare[k * rare.size() / count];
    rare.resize(count);
  }
  if (rare.empty()) return;
  const VectorXd means = (samples.values.cast<double>() * samples.weights)(side.units);
  std::vector<Index> places;
  std::vector<double> ends;
  for (const Candidate& candidate : rare) {
    places.push_back(candidate.place);
    ends.push_back(candidate.of.to);
  }
  const std::vector<HeldMeans> held = hold_each(side.sides, means, places, ends);
  for (std::size_t k = 0; k < rare.size(); ++k) {
    rare[k].likely = held[k].log_ratio;
    rare[k].change = std::abs((rare[k].of.to - rare[k].of.from) * held[k].change);
    if (rare[k].likely > kNothing) all.push_back(rare[k]);
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

// States of the side that have the unit at `from`, evenly spaced by their weights.
Eigen::MatrixXf starts_of(const Candidate& candidate, const Samples& samples) {
  const auto from = static_cast<float>(candidate.of.from);
  Eigen::MatrixXf states(std::ssize(candidate.side->units), kMovedChains);
  const VectorXd weights = (samples.values.row(candidate.of.unit).transpose().array() == from)
                               .select(samples.weights.array(), 0.0);
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
  const Eigen::ArrayXd row = values.row(of.unit).transpose().cast<double>();
  return (row - of.to).abs() < (row - of.from).abs();
}

// Writes what weights tell of those chains that count, none of which is 0.
void set_ratio(const VectorXd& log_weights, const Flags& count, double visits, UnitSwitch& of) {
  const double highest = log_weights.maxCoeff(), all = static_cast<double>(count.size());
  const Eigen::ArrayXd weights = count.select((log_weights.array() - highest).exp(), 0.0);
  const double mean = weights.mean();
  of.log_ratio = highest + std::log(mean);
  // That of the mean, and that of the share.
  of.error = std::sqrt((weights - mean).square().sum() / (all - 1) / all / (mean * mean) +
                       (1 - of.share) / (of.share * visits));
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
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.likely > b.likely; });
  const std::vector<int> steps =
      steps_of(candidates, static_cast<double>(even.sides.weights.size()));
  std::vector<MovedUnit> moved(steps.size());
  parallel_for(steps.size(), [&](std::size_t k) {
    const Candidate& candidate = candidates[k];
    moved[k] = move_unit(*candidate.side, candidate.place, candidate.of.from, candidate.of.to,
                         steps[k], starts_of(candidate, samples),
                         derive_key(key, std::to_string(candidate.of.unit)));
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

}  // namespace

void hold_to_switches(const Switches& switches, double told, Estimate& estimate) {
  constexpr double kErrors = 4, kMost = 0.1, kGreatest = 5;  // e^5 is as much as any more
  const double surely = std::log(1e-4);
  if (!std::isfinite(estimate.log_z)) return;
  double unmet = 0, chance = 0, variance = 0, nats = 0;
  std::vector<Chance> units;
  for (const UnitSwitch& of : switches.units) {
    const double mass = std::exp(std::min(std::log(of.share) + of.log_ratio, kGreatest));
    units.push_back({mass, std::pow(1 + mass, -switches.visits)});
    chance += mass * units.back().never;
    if (of.met * switches.visits > 0.5) continue;
    unmet += mass;
    variance += mass * mass * of.error * of.error;
    nats += std::log1p(mass);
  }
  const double least = unmet - kErrors * std::sqrt(variance);
  if (!(least > chance) || log_chance(units, least) > surely) return;
  const double missing = std::expm1(nats * (1 - chance / unmet));  // alone, and in any combination
  if (least - chance > kMost)
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
