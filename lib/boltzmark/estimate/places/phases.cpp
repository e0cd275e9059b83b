#include "boltzmark/estimate/places/phases.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "boltzmark/core/numeric.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/estimate/places/held_means.hpp"
#include "boltzmark/exact/enumeration/enumeration.hpp"
#include "boltzmark/exact/enumeration/plain.hpp"
#include "boltzmark/model/sides.hpp"
#include "boltzmark/model/unit.hpp"
#include "boltzmark/random/stream.hpp"
#include "boltzmark/sample/annealing/annealing.hpp"
#include "boltzmark/sample/top_states.hpp"
#include "boltzmark/target/layered_target.hpp"

namespace boltzmark {
namespace {

constexpr int kDraws = 16;  // a place

// States drawn from a place's product law, and their log f / q.
struct NearStates {
  Eigen::MatrixXd states;       // of the listed side [units x draws]
  Eigen::VectorXd log_weights;  // [draws]
};

NearStates draw_near(const Bipartite& sides, const Eigen::VectorXd& other_means, Stream& draws) {
  const Eigen::VectorXd inputs = sides.bias + sides.weights.transpose() * other_means;
  const Eigen::Index units = inputs.size();
  NearStates drawn{Eigen::MatrixXd(units, kDraws), Eigen::VectorXd(kDraws)};
  double normaliser = 0;
  for (Eigen::Index i = 0; i < units; ++i)
    normaliser += log_partition(sides.enumerated[i], inputs[i]);
  for (int n = 0; n < kDraws; ++n) {
    auto state = drawn.states.col(n);
    for (Eigen::Index i = 0; i < units; ++i)
      state[i] = value_at(sides.enumerated[i], inputs[i], draws.uniform());
    const Eigen::VectorXd other = sides.other_input + sides.weights * state;
    drawn.log_weights[n] =
        log_weight(sides, other, sides.bias.dot(state)) - (inputs.dot(state) - normaliser);
  }
  return drawn;
}

Eigen::Index most_places(const Bipartite& sides) {
  constexpr double kWeights = 0x1p30;
  return static_cast<Eigen::Index>(kWeights / kDraws /
                                   std::max(1.0, static_cast<double>(sides.weights.size())));
}

// The first places, at most so many, that are elsewhere than what the uniform base's chains reach.
std::vector<Eigen::Index> away_from(const Eigen::VectorXd& reached, const Places& places,
                                    const std::vector<Eigen::Index>& listed, Eigen::Index most) {
  std::vector<Eigen::Index> away;
  for (int k = 0; k < places.count() && std::ssize(away) < most; ++k) {
    const Eigen::VectorXd means = places.means.col(k).cast<double>();
    const Eigen::VectorXd apart = (means - reached)(listed);
    if (apart.squaredNorm() > kSamePlace) away.push_back(k);
  }
  return away;
}

// The first place is a group, the second, two, four, eight, ..
int group_of(Eigen::Index place) { return std::bit_width(static_cast<std::size_t>(place)); }

/// Mean weights of draws, relative to the greatest, and the variances of these means.
struct MeanWeights {
  double highest;
  Eigen::ArrayXd means, variances;
};

// Shapes  log_weights [draws x parts], -infinity where the draw is in another part
MeanWeights mean_weights(const Eigen::MatrixXd& log_weights) {
  const double highest = log_weights.maxCoeff(), draws = static_cast<double>(log_weights.rows());
  const Eigen::ArrayXXd weights = (log_weights.array() - highest).exp();
  const Eigen::ArrayXd means = weights.colwise().mean();
  return {highest, means,
          (weights.rowwise() - means.transpose()).square().colwise().sum().transpose() /
              (draws - 1.0) / draws};
}

// Shapes  as mean_weights'
void add_groups(const Eigen::MatrixXd& log_weights, SmallMasses& small) {
  const Eigen::Index count = log_weights.cols();
  const auto [highest, means, variances] = mean_weights(log_weights);
  Eigen::ArrayXd sums = Eigen::ArrayXd::Zero(group_of(count - 1) + 1), squares = sums, least = sums;
  small.groups.push_back(-1);
  for (Eigen::Index k = 0; k < count; ++k) {
    const int group = group_of(k);
    small.groups.push_back(group);
    sums[group] += means[k];
    squares[group] += variances[k];
    least[group] += std::exp(least_log_mass(log_weights.col(k)) - highest);
  }
  small.log_least = highest + least.log();
  small.log_masses = highest + sums.log();
  small.errors = (sums > 0).select(squares.sqrt() / sums, 0.0);
}

}  // namespace

SmallMasses small_masses(const Layered& model, const Places& places, int parity,
                         const Eigen::VectorXd& reached, double found, StreamKey key) {
  constexpr double kNothing = -8;  // nats
  SmallMasses small;
  if (!std::isfinite(log2_states(model, parity))) return small;
  const NumberedSides side(model, parity);
  const Bipartite& sides = side.sides;
  const std::vector<Eigen::Index>& listed = side.units;
  const std::vector<Eigen::Index> away = away_from(reached, places, listed, most_places(sides));
  const auto count = std::ssize(away);
  if (count < 1 || !(log_sum_exp(Eigen::VectorXd::Map(places.log_z.data(), places.count())(away)) >
                     found + kNothing))
    return small;
  Eigen::MatrixXd centres(model.units(), count + 1);
  centres << reached, places.means(Eigen::all, away).cast<double>();
  const Eigen::MatrixXd other_means = centres.rightCols(count)(side.others, Eigen::all);
  const Parts of_side{centres(listed, Eigen::all), Eigen::VectorXd::Ones(std::ssize(listed))};
  Eigen::MatrixXd log_weights(kDraws, count);
  parallel_for(static_cast<std::size_t>(count), [&](std::size_t k) {
    const auto place = static_cast<Eigen::Index>(k);
    Stream stream(key, Purpose::start, k);
    const NearStates drawn = draw_near(sides, other_means.col(place), stream);
    const std::vector<int> parts = of_side.parts_of(drawn.states);
    for (int n = 0; n < kDraws; ++n)
      log_weights(n, place) =
          parts[n] == place + 1 ? drawn.log_weights[n] : -std::numeric_limits<double>::infinity();
  });
  if (!(log_weights.maxCoeff() > -std::numeric_limits<double>::infinity())) return small;
  add_groups(log_weights, small);
  // Of all units, of which those of the other side count for nothing.
  small.parts.scales = Eigen::VectorXd::Zero(model.units());
  small.parts.scales(listed).setOnes();
  small.parts.centres = small.parts.scales.asDiagonal() * centres;
  return small;
}

AnnealedParts anneal_parts(const Layered& model, const Phases& phases, const Base& base,
                           const BaseChoice& choice) {
  const LayeredTarget target = pilot_target(model, base, choice);
  TopStates top(target, choice.chains, choice.key);
  const AnnealingResult run = pilot(target, choice, &top);
  Eigen::MatrixXd log_weights = Eigen::MatrixXd::Constant(choice.chains, phases.centres.cols(),
                                                          -std::numeric_limits<double>::infinity());
  int chain = 0;
  for (const Chains& states : visited_states(top).states)
    for (const int part : phases.parts_of(states)) {
      log_weights(chain, part) = run.log_weights[chain];
      ++chain;
    }
  const auto [highest, means, variances] = mean_weights(log_weights);
  AnnealedParts parts;
  parts.log_masses = highest + means.log();
  parts.errors = (means > 0).select(variances.sqrt() / means, 0.0);
  parts.log_least.resize(means.size());
  for (Eigen::Index k = 0; k < means.size(); ++k)
    parts.log_least[k] = least_log_mass(log_weights.col(k));
  parts.mean_log_weight = run.mean_log_weight;
  return parts;
}

namespace {

constexpr double kAlmostAll = 0.9;
constexpr double kShareErrors = 2;  // that shares are off by, to be sure

// What is surely anywhere, by a pilot too.
PhaseMasses with_pilot(const PhaseMasses& phases, const PhaseMasses& pilot) {
  PhaseMasses masses = phases;
  const double scale = phases.log_z();
  const Eigen::ArrayXd surely = pilot.lowest(kShareErrors, scale);
  const Eigen::ArrayXd most =
      (phases.log_masses.array() - scale).exp() * (1 + kShareErrors * phases.errors.array());
  if (surely.sum() > most.sum())
    masses.log_least.resize(0);
  else
    masses.log_least = phases.lowest(kShareErrors, scale).max(surely).log() + scale;
  return masses;
}

}  // namespace

bool is_almost_all(const Phases& phases, Eigen::Index part) {
  const bool holds = phases.holds[part];
  return phases.share(part, holds ? 0 : -kShareErrors) > kAlmostAll;
}

bool loses_nothing(const Phases& phases, const PhaseMasses& pilot) {
  const PhaseMasses masses = with_pilot(phases, pilot);
  const auto reaches = [&](const PhaseMasses& found, Eigen::Index part, double errors) {
    constexpr double kMost = 0.5;
    return found.log_masses[part] + std::log1p(errors * found.errors[part]) >
           phases.log_masses[part] + std::log(kMost);
  };
  for (Eigen::Index k = 0; k < pilot.log_masses.size(); ++k) {
    if (masses.share(k, kShareErrors) <= 1 - kAlmostAll || reaches(pilot, k, 0)) continue;
    if (reaches(phases.by_uniform, k, kShareErrors) || is_almost_all(phases, k)) return false;
  }
  return true;
}

Phases anneal_phases(const Layered& model, const Modes& modes, StreamKey key,
                     const BaseChoice& choice) {
  const Places places = find_places(model, modes, 64 * near_places(model, choice));
  const Eigen::VectorXd reached = reached_means(model, derive_key(key, "reached"), choice);
  Phases phases{{}, bases_near_places(model, modes, places, reached, key, choice), {}, {}, {}};
  const auto count = std::ssize(phases.bases);
  phases.log_masses.resize(count);
  phases.errors.resize(count);
  phases.log_least.resize(count);
  phases.mean_log_weights.resize(count);
  for (Eigen::Index k = 0; k < count; ++k) {
    BaseChoice of_part = choice;
    of_part.key = derive_key(choice.key, std::to_string(k));
    const AnnealedParts parts = anneal_parts(model, phases, phases.bases[k], of_part);
    phases.log_masses[k] = parts.log_masses[k];
    phases.errors[k] = parts.errors[k];
    phases.log_least[k] = parts.log_least[k];
    phases.mean_log_weights[k] = parts.mean_log_weight;
    if (k == 0) phases.by_uniform = parts;
  }
  phases.small = small_masses(model, places, modes.parity, reached, phases.log_z(),
                              derive_key(choice.key, "places"));
  return phases;
}

Phases find_phases(const Layered& model, const Modes& modes, std::uint64_t seed, int summed_side) {
  return anneal_phases(model, modes, make_key(seed, "phases"),
                       {.key = make_key(seed, "base choice"), .summed_side = summed_side});
}

}  // namespace boltzmark
