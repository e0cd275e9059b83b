#include "boltzmark/estimate/held/switches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "boltzmark/core/parallel.hpp"
#include "boltzmark/estimate/held/rare_switches.hpp"
#include "boltzmark/estimate/places/unit_moves.hpp"
#include "boltzmark/random/stream.hpp"

namespace boltzmark {
namespace {

using Eigen::Index;
using Eigen::VectorXd;
using Flags = Eigen::Array<bool, Eigen::Dynamic, 1>;

constexpr double kFewestSteps = 32, kMostSteps = 512;

/// Steps of kMovedChains chains: those in which the likeliest units move, and what is left for the others.
struct Steps {
  std::vector<int> of = {};
  double left = 0;
};

// As many as all moves of a model may take together.
double all_steps(const Bipartite& sides) {
  constexpr double kWeights = 0x1p34, kSweeps = 20000;
  const auto weights = static_cast<double>(sides.weights.size());
  return std::max(kSweeps, kWeights / std::max(1.0, weights)) / kMovedChains;
}

double steps_for(double nats, double a_nat) {
  return std::clamp(a_nat * nats, kFewestSteps, kMostSteps);
}

// What steps waste is about change / (2 steps) nats: a quarter of one, or one where there are many. Where not all can be
// moved, those are that are met so often that they are not held together.
Steps steps_of(const std::vector<RareSwitch>& candidates, double all, double visits) {
  Steps steps;
  const auto move_each = [&](std::size_t count, double a_nat) {
    steps = {{}, all};
    for (std::size_t k = 0; k < count && steps.left >= kFewestSteps; ++k) {
      const double wanted = steps_for(candidates[k].change, a_nat);
      steps.of.push_back(static_cast<int>(std::min(wanted, steps.left)));
      steps.left -= steps.of.back();
    }
    return steps.of.size() == count;
  };
  if (move_each(candidates.size(), 2) || move_each(candidates.size(), 0.5)) return steps;
  const auto often = std::find_if(candidates.begin(), candidates.end(), [&](const RareSwitch& of) {
    return of.expected(visits) <= kMeetings.back();
  });
  move_each(static_cast<std::size_t>(often - candidates.begin()), 2);
  return steps;
}

// In an eighth of all steps, of large models in 2,000, as far as the likely ones leave so many: as many of the others as these
// allow, in few steps each.
void add_unlikely(std::vector<RareSwitch> unlikely, double all, std::vector<RareSwitch>& candidates,
                  Steps& steps) {
  constexpr double kShare = 0.125, kFewest = 2000;
  if (steps.of.size() < candidates.size()) return;
  double left = std::min(steps.left, std::max(kShare * all, kFewest));
  for (RareSwitch& one : unlikely) {
    const auto wanted = static_cast<int>(steps_for(one.greatest, 0.5));
    if (wanted > left) return;
    steps.of.push_back(wanted);
    left -= wanted;
    candidates.push_back(std::move(one));
  }
}

// States whose units are where they are most often, each the first below which weights have so large a share.
Eigen::MatrixXf starts_of(const RareSwitch& candidate, const RunSamples& samples,
                          const std::vector<double>& shares) {
  const VectorXd weights = weights_at_home(candidate, samples);
  Eigen::MatrixXf states(samples.values.rows(), std::ssize(shares));
  const double all = weights.sum();
  Index n = 0;
  double sum = weights[0];
  for (std::size_t c = 0; c < shares.size(); ++c) {
    while (n + 1 < weights.size() && sum <= shares[c] * all) sum += weights[++n];
    states.col(static_cast<Index>(c)) = samples.values.col(n);
  }
  return states;
}

UnitMove move_of(const RareSwitch& candidate) {
  return {candidate.numbers, candidate.homes, candidate.ends};
}

// What a switch may hold, where its chains' weights leave that open: by a normal law of their logs, of a variance that is
// twice as large as theirs with a chance of 5 %. Else 0.
double unsure_mass(const VectorXd& log_weights, double share) {
  constexpr double kSure = 0.25, kGreatest = 50;  // relative error; e^50 is as much as any more
  constexpr double kVariances = 2;
  const Eigen::ArrayXd weights = (log_weights.array() - log_weights.maxCoeff()).exp();
  const double count = static_cast<double>(weights.size()), mean = weights.mean();
  const double error = std::sqrt((weights - mean).square().sum() / (count - 1) / count) / mean;
  if (!(error > kSure)) return 0;
  const double log_mean = log_weights.mean(),
               variance = (log_weights.array() - log_mean).square().sum() / (count - 1);
  return share * std::exp(std::min(log_mean + kVariances * variance / 2, kGreatest));
}

// Whether each column of values has the switch.
Flags switched(const Eigen::MatrixXf& values, const UnitSwitch& of) {
  Flags all(values.cols());
  for (Index c = 0; c < values.cols(); ++c) all[c] = is_switched(values.col(c), of);
  return all;
}

// What the mean of those log weights that count surely is, of all: in the others the weight counts for nothing.
double log_least(const VectorXd& log_weights, const Flags& count) {
  constexpr double kErrors = 4;
  const auto all = static_cast<double>(count.size()), counted = static_cast<double>(count.count());
  if (counted < 2) return -std::numeric_limits<double>::infinity();
  const double mean = count.select(log_weights.array(), 0.0).sum() / counted;
  const double squares = count.select((log_weights.array() - mean).square(), 0.0).sum();
  return mean + std::log(counted / all) -
         kErrors * std::sqrt(squares / (counted - 1) / counted + (all - counted) / (all * counted));
}

// Writes what weights tell of those chains that count, of which there is one at least.
void set_ratio(const VectorXd& log_weights, const Flags& count, double visits, UnitSwitch& of) {
  of.log_least = log_least(log_weights, count);
  const Eigen::ArrayXd counted =
      count.select(log_weights.array(), -std::numeric_limits<double>::infinity());
  const double highest = counted.maxCoeff(), all = static_cast<double>(count.size());
  const Eigen::ArrayXd weights = (counted - highest).exp();
  const double mean = weights.mean();
  of.log_ratio = highest + std::log(mean);
  // That of the mean, and that of the share.
  of.error = std::sqrt((weights - mean).square().sum() / (all - 1) / all / (mean * mean) +
                       std::max(0.0, 1 - of.share) / (of.share * visits));
}

/// Rare switches that were not all moved, those that no sample has before those that were met, those of more units
/// before those of fewer and the rarest first: a state counts for the first that it has.
class UnmovedRest {
 public:
  // Of those left, none that is met too often to be held together.
  UnmovedRest(std::vector<RareSwitch> left, const RunSamples& samples, double visits)
      : rest_(std::move(left)), visits_(visits) {
    std::reverse(rest_.begin(), rest_.end());
    while (!rest_.empty() && rest_.back().expected(visits) > kMeetings.back()) rest_.pop_back();
    std::stable_sort(rest_.begin(), rest_.end(), [](const RareSwitch& a, const RareSwitch& b) {
      return a.numbers.size() > b.numbers.size();
    });
    const auto met = std::stable_partition(rest_.begin(), rest_.end(), [&](const RareSwitch& one) {
      return !is_met(share_of(one, samples), visits);
    });
    unmet_ = static_cast<std::size_t>(met - rest_.begin());
    for (const RareSwitch& one : rest_) expected_ += one.expected(visits);
  }

  std::size_t size() const { return rest_.size(); }
  const RareSwitch& operator[](std::size_t k) const { return rest_[k]; }
  bool is_unmet(std::size_t k) const { return k < unmet_; }
  bool is_nothing() const { return !(expected_ > kNextToNothing * visits_); }

  // That it is drawn: by what mean field tells of it, which may take none for impossible.
  double probability(std::size_t k) const {
    constexpr double kEvenly = 0.1;
    return (1 - kEvenly) * rest_[k].expected(visits_) / expected_ +
           kEvenly / static_cast<double>(size());
  }

  // Which of kMeetings it is met up to.
  std::size_t meetings(std::size_t k) const {
    return static_cast<std::size_t>(
        std::lower_bound(kMeetings.begin(), kMeetings.end(), rest_[k].expected(visits_)) -
        kMeetings.begin());
  }

  // The first that a state has; none: their number.
  std::size_t first_in(const Eigen::MatrixXf& values, Index column) const {
    const auto has = [&](const RareSwitch& one) { return is_switched(values.col(column), one.of); };
    return static_cast<std::size_t>(std::find_if(rest_.begin(), rest_.end(), has) - rest_.begin());
  }

 private:
  // Of the samples, those that have it.
  static double share_of(const RareSwitch& one, const RunSamples& samples) {
    return switched(samples.values, one.of).select(samples.weights.array(), 0.0).sum();
  }

  std::vector<RareSwitch> rest_;
  std::size_t unmet_ = 0;
  double visits_, expected_ = 0;
};

/// A switch of the rest, drawn to be moved by one chain.
struct DrawnSwitch {
  std::size_t of = 0;
  double start = 0;  // which sample the chain starts from
  double mass = 0;   // 0 where the state that the move ends in counts for another
};

// One of each of so many parts of equal probability; those of one side first, and of a side those that move least.
std::vector<DrawnSwitch> draw_of(const UnmovedRest& rest, std::size_t count, StreamKey key) {
  std::vector<DrawnSwitch> drawn(count);
  Stream stream(key, Purpose::start);
  double below = rest.probability(0);
  for (std::size_t d = 0, k = 0; d < count; ++d) {
    const double at = (static_cast<double>(d) + stream.uniform()) / static_cast<double>(count);
    while (k + 1 < rest.size() && below <= at) below += rest.probability(++k);
    drawn[d] = {.of = k, .start = stream.uniform()};
  }
  std::stable_sort(drawn.begin(), drawn.end(), [&](const DrawnSwitch& a, const DrawnSwitch& b) {
    const RareSwitch &one = rest[a.of], &other = rest[b.of];
    if (one.side != other.side) return one.side == rest[0].side;
    return one.change < other.change;
  });
  return drawn;
}

// Moves drawn switches of one side, kMovedChains at most, and sets their masses. A state counts for those moved before,
// and for those before it in the rest.
void move_drawn(const UnitMover& mover, const UnmovedRest& rest, const RunSamples& samples,
                const std::vector<UnitSwitch>& moved_before, int steps,
                std::span<DrawnSwitch> drawn, StreamKey key) {
  constexpr double kGreatest = 50;  // e^50 is as much as any more
  std::vector<UnitMove> moves;
  Eigen::MatrixXf states(samples.values.rows(), kMovedChains);
  for (std::size_t c = 0; c < kMovedChains; ++c) {
    const DrawnSwitch& one = drawn[std::min(c, drawn.size() - 1)];
    moves.push_back(move_of(rest[one.of]));
    states.col(static_cast<Index>(c)) = starts_of(rest[one.of], samples, {one.start});
  }
  const MovedUnits moved = mover.move(moves, steps, states, key);
  for (std::size_t d = 0; d < drawn.size(); ++d) {
    const auto c = static_cast<Index>(d);
    const std::size_t k = drawn[d].of;
    const bool is_before =
        std::any_of(moved_before.begin(), moved_before.end(),
                    [&](const UnitSwitch& of) { return is_switched(moved.values.col(c), of); });
    if (is_before || rest.first_in(moved.values, c) != k) continue;
    drawn[d].mass = rest[k].of.share * std::exp(std::min(moved.log_weights[c], kGreatest));
  }
}

// The mean, and the standard error of it.
std::pair<double, double> mean_of(const Eigen::ArrayXd& draws) {
  const auto count = static_cast<double>(draws.size());
  const double mean = draws.mean();
  return {mean, std::sqrt((draws - mean).square().sum() / (count - 1) / count)};
}

// What those of the k-th of kMeetings hold, by what was drawn of all.
UnmovedSwitches told_by(const std::vector<DrawnSwitch>& drawn, const UnmovedRest& rest,
                        std::size_t k, double visits) {
  UnmovedSwitches of{.most = kMeetings[k]};
  Eigen::ArrayXd all = Eigen::ArrayXd::Zero(std::ssize(drawn)), unmet = all, chance = all;
  double squares = 0;
  for (Index d = 0; d < all.size(); ++d) {
    const DrawnSwitch& one = drawn[static_cast<std::size_t>(d)];
    if (rest.meetings(one.of) != k) continue;
    all[d] = one.mass / rest.probability(one.of);
    if (rest.is_unmet(one.of)) unmet[d] = all[d];
    chance[d] = all[d] * std::pow(1 + one.mass, -visits);
    squares += all[d] * one.mass;
  }
  std::tie(of.mass, of.error) = mean_of(all);
  of.unmet = unmet.mean();
  of.by_chance = chance.mean();
  of.unmet_error = mean_of(unmet - chance).second;
  if (of.mass > 0) of.of_one = squares / all.sum();
  return of;
}

// Adds what the rest holds, by moves of some that are drawn.
void add_unmoved(const UnitMover& mover, const UnmovedRest& rest, const RunSamples& samples,
                 const Flags& left, double steps_left, StreamKey key, Switches& switches) {
  constexpr double kMostBatches = 32;
  if (rest.size() == 0 || rest.is_nothing()) return;
  double steps = 0;  // of one, in the mean
  for (std::size_t k = 0; k < rest.size(); ++k)
    steps += rest.probability(k) * steps_for(rest[k].change, 2);
  const double batches = std::clamp(std::floor(steps_left / steps), 1.0, kMostBatches);
  std::vector<DrawnSwitch> drawn =
      draw_of(rest, static_cast<std::size_t>(batches) * kMovedChains, key);
  std::vector<std::span<DrawnSwitch>> parts;  // none of two sides
  for (std::size_t first = 0; first < drawn.size(); first += parts.back().size()) {
    std::size_t count = 1;
    while (count < kMovedChains && first + count < drawn.size() &&
           rest[drawn[first + count].of].side == rest[drawn[first].of].side)
      ++count;
    parts.push_back(std::span(drawn).subspan(first, count));
  }
  parallel_for(parts.size(), [&](std::size_t p) {
    const double most = rest[parts[p].back().of].change;
    move_drawn(mover, rest, samples, switches.units, static_cast<int>(steps_for(most, 2)), parts[p],
               derive_key(key, std::to_string(p)));
  });

  std::array<double, kMeetings.size()> met = {};
  for (Index n = 0; n < samples.values.cols(); ++n)
    if (const std::size_t first = left[n] ? rest.first_in(samples.values, n) : rest.size();
        first < rest.size())
      met[rest.meetings(first)] += samples.weights[n];
  for (std::size_t k = 0; k < kMeetings.size(); ++k) {
    UnmovedSwitches of = told_by(drawn, rest, k, switches.visits);
    of.met = met[k];
    if (of.mass > 0) switches.unmoved.push_back(of);
  }
}

// Moves each by kMovedChains chains; and again, in four times the steps, those that may hold more than is told by weights that
// spread so much, those first that may hold the most: within four times as many in all, and as many sweeps as a run of
// 10,000 by 100 chains has.
std::vector<MovedUnits> move_all(const UnitMover& mover, const std::vector<RareSwitch>& candidates,
                                 std::vector<int> steps, double left, const RunSamples& samples,
                                 StreamKey key) {
  constexpr int kMore = 4, kMost = 1 << 15;
  constexpr double kRun = 1e6;
  left = std::min(kMore * left, kRun / kMovedChains);
  std::vector<double> evenly;
  for (int c = 0; c < kMovedChains; ++c) evenly.push_back((c + 0.5) / kMovedChains);
  std::vector<MovedUnits> moved(steps.size());
  std::vector<std::size_t> next(steps.size());
  std::iota(next.begin(), next.end(), 0);
  for (int again = 0; !next.empty(); ++again) {
    parallel_for(next.size(), [&](std::size_t n) {
      const std::size_t k = next[n];
      const StreamKey of_unit = derive_key(key, draws_of(candidates[k]));
      moved[k] =
          mover.move({move_of(candidates[k])}, steps[k], starts_of(candidates[k], samples, evenly),
                     again == 0 ? of_unit : derive_key(of_unit, std::to_string(again)));
    });
    std::vector<std::pair<double, std::size_t>> unsure;
    for (const std::size_t k : next)
      if (const double may = unsure_mass(moved[k].log_weights, candidates[k].of.share);
          may > kNextToNothing && kMore * steps[k] <= kMost)
        unsure.emplace_back(may, k);
    std::stable_sort(unsure.begin(), unsure.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    next.clear();
    for (const auto& [may, k] : unsure)
      if (kMore * steps[k] <= left) {
        left -= steps[k] *= kMore;
        next.push_back(k);
      }
  }
  return moved;
}

}  // namespace

Switches switch_units(const Layered& model, const VisitedStates& visited, StreamKey key) {
  const RunSamples samples = samples_of(model, visited);
  Switches switches;
  if (!(samples.weights.sum() > 0)) return switches;
  switches.visits = 1 / samples.weights.squaredNorm();
  const NumberedSides even(model, 0), odd(model, 1);
  auto [candidates, unlikely] = rare_switches(even, odd, samples);
  const double all = all_steps(even.sides);
  Steps steps = steps_of(candidates, all, switches.visits);
  add_unlikely(std::move(unlikely), all, candidates, steps);
  if (candidates.empty()) return switches;
  const UnitMover mover(model);
  const std::vector<MovedUnits> moved = move_all(mover, candidates, steps.of, all, samples, key);
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
  candidates.erase(candidates.begin(),
                   candidates.begin() + static_cast<std::ptrdiff_t>(moved.size()));
  add_unmoved(mover, {std::move(candidates), samples, switches.visits}, samples, left, steps.left,
              derive_key(key, "drawn"), switches);
  return switches;
}

}  // namespace boltzmark
