#include "boltzmark/estimate/places/phases.hpp"

#include <cmath>
#include <limits>
#include <string>

#include "boltzmark/estimate/places/places.hpp"
#include "boltzmark/sample/annealing/annealing.hpp"
#include "boltzmark/sample/top_states.hpp"
#include "boltzmark/target/layered_target.hpp"

namespace boltzmark {

AnnealedParts anneal_parts(const Layered& model, const Phases& phases, const Base& base,
                           const BaseChoice& choice) {
  const LayeredTarget target = pilot_target(model, base, choice);
  TopStates top(target, choice.chains, choice.key);
  const AnnealingResult run = pilot(target, choice, &top);
  const double highest = run.log_weights.maxCoeff();
  Eigen::MatrixXd log_weights = Eigen::MatrixXd::Constant(choice.chains, phases.centres.cols(),
                                                          -std::numeric_limits<double>::infinity());
  int chain = 0;
  for (const Chains& states : visited_states(top).states)
    for (const int part : phases.parts_of(states)) {
      log_weights(chain, part) = run.log_weights[chain];
      ++chain;
    }
  const Eigen::ArrayXXd by_part = (log_weights.array() - highest).exp();
  const Eigen::ArrayXd means = by_part.colwise().mean();
  const Eigen::ArrayXd variances =
      (by_part.rowwise() - means.transpose()).square().colwise().sum().transpose() /
      (choice.chains - 1.0) / choice.chains;
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
  const bool holds = phases.holds[static_cast<std::size_t>(part)];
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
    const AnnealedParts parts =
        anneal_parts(model, phases, phases.bases[static_cast<std::size_t>(k)], of_part);
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
