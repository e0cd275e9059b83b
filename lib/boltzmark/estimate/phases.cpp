#include "boltzmark/estimate/phases.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "boltzmark/core/numeric.hpp"
#include "boltzmark/exact/modes/mean_field.hpp"
#include "boltzmark/sample/annealing/annealing.hpp"
#include "boltzmark/target/layered_target.hpp"
#include "boltzmark/transition/fixed_points.hpp"

namespace boltzmark {
namespace {

constexpr int kNear = 8;         // bases near places
constexpr int kGreatest = 32;    // places that these are taken from
constexpr int kBaseChains = 64;  // that find what is near a place
constexpr double kSmoothing = 0.05;

// As many bases near places as 2^35 weights of chains' sweeps allow.
int near_places(const Layered& model, const BaseChoice& choice) {
  constexpr double kCost = 0x1p35;
  double weights = 0;
  for (const Eigen::MatrixXd& w : model.weights()) weights += static_cast<double>(w.size());
  const double most = kCost / (double{1} * choice.chains * choice.sweeps * std::max(weights, 1.0));
  return static_cast<int>(std::clamp<double>(most, 2, kNear));
}

// Where phases may be, the ones of the greatest mass by mean field first: a likely state may hold little.
struct Places {
  Chains states;          // modes of the listed side and fixed points of the other one
  Eigen::MatrixXf means;  // of all units, by mean field from there  [units x places]
};

// As many modes and fixed points as 64 a base.
Chains candidates(const Layered& model, const Modes& modes, int near) {
  const int most = 64 * near;
  const int others = modes.others ? std::min(modes.others->chains(), most) : 0;
  const int count = std::min(modes.count(), most);
  Chains states(model, count + others);
  for (int c = 0; c < count; ++c) states.copy_chain(c, modes.states, c);
  for (int c = 0; c < others; ++c) states.copy_chain(count + c, *modes.others, c);
  return states;
}

// One of those that lead to the same means.
Places find_places(const Layered& model, const Modes& modes, int near) {
  constexpr int kUpdates = 5;
  constexpr float kSame = 0.5F;  // squared distance: less than that of a Bernoulli unit's values
  const Chains states = candidates(model, modes, near);
  Chains means = states;
  const std::vector<MeanFieldBound> bounds =
      mean_field(model, list_side(model, modes.parity), modes.parity, kUpdates, means);
  std::vector<int> order(bounds.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return bounds[static_cast<std::size_t>(a)].log_z > bounds[static_cast<std::size_t>(b)].log_z;
  });
  const Eigen::MatrixXf all = all_values(means);
  std::vector<int> different;
  for (const int c : order)
    if (std::all_of(different.begin(), different.end(),
                    [&](int other) { return (all.col(c) - all.col(other)).squaredNorm() > kSame; }))
      different.push_back(c);
  const auto count = std::ssize(different);
  Places places{Chains(model, static_cast<int>(count)), Eigen::MatrixXf(model.units(), count)};
  for (Eigen::Index c = 0; c < count; ++c) {
    const int from = different[static_cast<std::size_t>(c)];
    places.states.copy_chain(static_cast<int>(c), states, from);
    places.means.col(c) = all.col(from);
  }
  return places;
}

// The first ones that are not close to each other, by the distance of the one farthest from the first.
std::vector<int> first_apart(const Eigen::MatrixXf& means, int most) {
  constexpr float kClose = 0.05F;  // of its square
  const float farthest = (means.colwise() - means.col(0)).colwise().squaredNorm().maxCoeff();
  std::vector<int> chosen;
  for (int place = 0; place < means.cols() && std::ssize(chosen) < most; ++place)
    if (std::all_of(chosen.begin(), chosen.end(), [&](int other) {
          return (means.col(place) - means.col(other)).squaredNorm() > kClose * farthest;
        }))
      chosen.push_back(place);
  return chosen;
}

// Distant ones among the greatest, among all, and the greatest that are apart, in turn. Many that differ
// little must not hide one that is far; nor must far ones of little mass hide a few that have some each.
std::vector<int> distant_places(const Eigen::MatrixXf& means, int near) {
  const std::vector<int> ways[] = {
      farthest_first(means.leftCols(std::min<Eigen::Index>(means.cols(), kGreatest)), near),
      farthest_first(means, near), first_apart(means, near)};
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
  const Places places = find_places(model, modes, near);
  for (const int place : distant_places(places.means, near)) {
    Chains starts(model, kBaseChains);
    for (int c = 0; c < kBaseChains; ++c) starts.copy_chain(c, places.states, place);
    bases.push_back(base_near(model, modes.parity, std::move(starts), kSmoothing,
                              derive_key(key, std::to_string(place))));
  }
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

PartMass anneal_part(const Layered& model, const Phases& phases, const Base& base, int part,
                     const BaseChoice& choice) {
  const LayeredTarget target = pilot_target(model, base, choice);
  TopStates top(target, choice.chains, choice.key);
  const AnnealingResult run = pilot(target, choice, &top);
  Eigen::ArrayXd weights = (run.log_weights.array() - run.log_weights.maxCoeff()).exp();
  int chain = 0;
  for (int g = 0; g < top.states.groups(); ++g) {
    const Chains& states =
        dynamic_cast<LayeredPopulation&>(top.states.group(g)).tempered_chains().states();
    for (const int nearest : phases.parts_of(states)) {
      if (nearest != part) weights[chain] = 0;
      ++chain;
    }
  }
  const double mean = weights.mean();
  const double variance = (weights - mean).square().sum() / (choice.chains - 1.0) / choice.chains;
  return {.log_mass = run.log_weights.maxCoeff() + std::log(mean),
          .error = mean > 0 ? std::sqrt(variance) / mean : 0,
          .mean_log_weight = run.mean_log_weight};
}

double PhaseMasses::log_z() const { return log_sum_exp(log_masses); }

double PhaseMasses::std_error() const {
  return ((log_masses.array() - log_z()).exp() * errors.array()).matrix().norm();
}

double PhaseMasses::share(Eigen::Index part, double errors_off) const {
  const Eigen::ArrayXd masses = (log_masses.array() - log_z()).exp();
  Eigen::ArrayXd off = (masses * (1 - errors_off * errors.array())).max(0);
  off[part] = std::max(0.0, masses[part] * (1 + errors_off * errors[part]));
  return off[part] / off.sum();
}

Phases anneal_phases(const Layered& model, const Modes& modes, StreamKey key,
                     const BaseChoice& choice) {
  Phases phases;
  phases.bases = bases_of(model, modes, key, near_places(model, choice));
  const auto count = std::ssize(phases.bases);
  phases.centres.resize(model.units(), count);
  phases.log_masses.resize(count);
  phases.errors.resize(count);
  phases.mean_log_weights.resize(count);
  for (Eigen::Index k = 0; k < count; ++k)
    phases.centres.col(k) = means_of(model, phases.bases[static_cast<std::size_t>(k)]);
  for (Eigen::Index k = 0; k < count; ++k) {
    BaseChoice of_part = choice;
    of_part.key = derive_key(choice.key, std::to_string(k));
    const PartMass mass = anneal_part(model, phases, phases.bases[static_cast<std::size_t>(k)],
                                      static_cast<int>(k), of_part);
    phases.log_masses[k] = mass.log_mass;
    phases.errors[k] = mass.error;
    phases.mean_log_weights[k] = mass.mean_log_weight;
  }
  return phases;
}

}  // namespace boltzmark
