#include "boltzmark/estimate/phases.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "boltzmark/core/numeric.hpp"
#include "boltzmark/sample/annealing/annealing.hpp"
#include "boltzmark/target/layered_target.hpp"
#include "boltzmark/transition/fixed_points.hpp"

namespace boltzmark {
namespace {

constexpr int kNear = 8;         // bases near modes
constexpr int kLikeliest = 32;   // modes that these are taken from
constexpr int kBaseChains = 64;  // that find what is near a mode
constexpr double kSmoothing = 0.05;

// As many bases near modes as 2^35 weights of chains' sweeps allow.
int near_modes(const Layered& model, const BaseChoice& choice) {
  constexpr double kCost = 0x1p35;
  double weights = 0;
  for (const Eigen::MatrixXd& w : model.weights()) weights += static_cast<double>(w.size());
  const double most = kCost / (double{1} * choice.chains * choice.sweeps * std::max(weights, 1.0));
  return static_cast<int>(std::clamp<double>(most, 2, kNear));
}

// The likeliest modes that are not close to each other, by the distance of the one farthest from the first.
std::vector<int> likeliest_apart(const Eigen::MatrixXf& states, int most) {
  constexpr float kClose = 0.05F;  // of its square
  const float farthest = (states.colwise() - states.col(0)).colwise().squaredNorm().maxCoeff();
  std::vector<int> chosen;
  for (int mode = 0; mode < states.cols() && std::ssize(chosen) < most; ++mode)
    if (std::all_of(chosen.begin(), chosen.end(), [&](int other) {
          return (states.col(mode) - states.col(other)).squaredNorm() > kClose * farthest;
        }))
      chosen.push_back(mode);
  return chosen;
}

// Distant ones among the likeliest, among all, and the likeliest that are apart, in turn. Many likely
// modes that differ little must not hide a phase of many states, none of which is likely; nor must far
// modes of little mass hide a few that have some each.
std::vector<int> distant_modes(const Modes& modes, int near) {
  const Eigen::MatrixXf states = all_values(modes.states);
  const std::vector<int> ways[] = {
      farthest_first(states.leftCols(std::min(modes.count(), kLikeliest)), near),
      farthest_first(states, near), likeliest_apart(states, near)};
  std::vector<int> chosen;
  for (std::size_t k = 0; k < static_cast<std::size_t>(near); ++k)
    for (const std::vector<int>& way : ways)
      if (k < way.size() && std::ssize(chosen) < near &&
          std::find(chosen.begin(), chosen.end(), way[k]) == chosen.end())
        chosen.push_back(way[k]);
  return chosen;
}

std::vector<Base> bases_of(const Layered& model, const Modes& modes, StreamKey key, int near) {
  std::vector<Base> bases = {Base::uniform(model)};
  for (const int mode : distant_modes(modes, near))
    bases.push_back(base_near_modes(model, modes, std::vector<int>(kBaseChains, mode), kSmoothing,
                                    derive_key(key, std::to_string(mode))));
  return bases;
}

// Shapes  [units], the lowest layer first
Eigen::VectorXd means_of(const Layered& model, const Base& base) {
  Eigen::VectorXd means(model.units());
  Eigen::Index u = 0;
  for (int l = 0; l < model.layers(); ++l)
    for (const double logit : base.logits[l]) means[u++] = mean_value(model.layer(l).unit, logit);
  return means;
}

/// The mass of one part.
struct Mass {
  double log_mass, error, mean_log_weight;
};

// The mean over all chains of the weights of those that ended in the part.
Mass anneal(const Layered& model, const Phases& phases, std::size_t part, BaseChoice choice) {
  choice.key = derive_key(choice.key, std::to_string(part));
  const LayeredTarget target = pilot_target(model, phases.bases[part], choice);
  TopStates top(target, choice.chains, choice.key);
  const AnnealingResult run = pilot(target, choice, &top);
  Eigen::ArrayXd weights = (run.log_weights.array() - run.log_weights.maxCoeff()).exp();
  int chain = 0;
  for (int g = 0; g < top.states.groups(); ++g) {
    const Chains& states =
        dynamic_cast<LayeredPopulation&>(top.states.group(g)).tempered_chains().states();
    for (const int nearest : phases.parts_of(states)) {
      if (nearest != static_cast<int>(part)) weights[chain] = 0;
      ++chain;
    }
  }
  const double mean = weights.mean();
  const double variance = (weights - mean).square().sum() / (choice.chains - 1.0) / choice.chains;
  return {.log_mass = run.log_weights.maxCoeff() + std::log(mean),
          .error = mean > 0 ? std::sqrt(variance) / mean : 0,
          .mean_log_weight = run.mean_log_weight};
}

}  // namespace

std::vector<int> Phases::parts_of(const Chains& states) const {
  const Eigen::MatrixXd values = all_values(states).cast<double>();
  std::vector<int> parts(static_cast<std::size_t>(values.cols()));
  for (Eigen::Index c = 0; c < values.cols(); ++c) {
    Eigen::Index nearest = 0;
    (centres.colwise() - values.col(c)).colwise().squaredNorm().minCoeff(&nearest);
    parts[static_cast<std::size_t>(c)] = static_cast<int>(nearest);
  }
  return parts;
}

double PhaseMasses::log_z() const { return log_sum_exp(log_masses); }

double PhaseMasses::std_error() const {
  return ((log_masses.array() - log_z()).exp() * errors.array()).matrix().norm();
}

Phases anneal_phases(const Layered& model, const Modes& modes, StreamKey key,
                     const BaseChoice& choice) {
  Phases phases;
  phases.bases = bases_of(model, modes, key, near_modes(model, choice));
  const auto count = std::ssize(phases.bases);
  phases.centres.resize(model.units(), count);
  phases.log_masses.resize(count);
  phases.errors.resize(count);
  phases.mean_log_weights.resize(count);
  for (Eigen::Index k = 0; k < count; ++k)
    phases.centres.col(k) = means_of(model, phases.bases[static_cast<std::size_t>(k)]);
  for (Eigen::Index k = 0; k < count; ++k) {
    const Mass mass = anneal(model, phases, static_cast<std::size_t>(k), choice);
    phases.log_masses[k] = mass.log_mass;
    phases.errors[k] = mass.error;
    phases.mean_log_weights[k] = mass.mean_log_weight;
  }
  return phases;
}

}  // namespace boltzmark
