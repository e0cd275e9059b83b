#include "boltzmark/estimate/phases.hpp"

#include <cmath>
#include <string>
#include <utility>

#include "boltzmark/estimate/places/bases.hpp"
#include "boltzmark/estimate/places/places.hpp"
#include "boltzmark/estimate/visited_states.hpp"
#include "boltzmark/sample/annealing/annealing.hpp"
#include "boltzmark/target/layered_target.hpp"

namespace boltzmark {

AnnealedParts anneal_parts(const Layered& model, const Phases& phases, const Base& base,
                           const BaseChoice& choice) {
  const LayeredTarget target = pilot_target(model, base, choice);
  TopStates top(target, choice.chains, choice.key);
  const AnnealingResult run = pilot(target, choice, &top);
  const double highest = run.log_weights.maxCoeff();
  const Eigen::ArrayXd weights = (run.log_weights.array() - highest).exp();
  Eigen::ArrayXXd by_part = Eigen::ArrayXXd::Zero(choice.chains, phases.centres.cols());
  int chain = 0;
  for (const Chains& states : visited_states(top).states)
    for (const int part : phases.parts_of(states)) {
      by_part(chain, part) = weights[chain];
      ++chain;
    }
  const Eigen::ArrayXd means = by_part.colwise().mean();
  const Eigen::ArrayXd variances =
      (by_part.rowwise() - means.transpose()).square().colwise().sum().transpose() /
      (choice.chains - 1.0) / choice.chains;
  AnnealedParts parts;
  parts.log_masses = highest + means.log();
  parts.errors = (means > 0).select(variances.sqrt() / means, 0.0);
  parts.mean_log_weight = run.mean_log_weight;
  return parts;
}

Phases anneal_phases(const Layered& model, const Modes& modes, StreamKey key,
                     const BaseChoice& choice) {
  const Places places = find_places(model, modes, 64 * near_places(model, choice));
  const Eigen::VectorXd reached = reached_means(model, derive_key(key, "reached"), choice);
  PlaceBases near = bases_near_places(model, modes, places, reached, key, choice);
  Phases phases;
  phases.bases = std::move(near.bases);
  phases.holds = std::move(near.holds);
  phases.scales = std::move(near.scales);
  phases.centres = phases.scales.asDiagonal() * near.centres;
  const auto count = std::ssize(phases.bases);
  phases.log_masses.resize(count);
  phases.errors.resize(count);
  phases.mean_log_weights.resize(count);
  for (Eigen::Index k = 0; k < count; ++k) {
    BaseChoice of_part = choice;
    of_part.key = derive_key(choice.key, std::to_string(k));
    const AnnealedParts parts =
        anneal_parts(model, phases, phases.bases[static_cast<std::size_t>(k)], of_part);
    phases.log_masses[k] = parts.log_masses[k];
    phases.errors[k] = parts.errors[k];
    phases.mean_log_weights[k] = parts.mean_log_weight;
  }
  phases.small = small_masses(model, places, modes.parity, reached, phases.log_z(),
                              derive_key(choice.key, "places"));
  return phases;
}

}  // namespace boltzmark
