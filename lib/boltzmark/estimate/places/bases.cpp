#include "boltzmark/estimate/places/bases.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "boltzmark/exact/modes/fixed_points.hpp"
#include "boltzmark/sample/top_states.hpp"

namespace boltzmark {

LayeredTarget pilot_target(const Layered& model, const Base& base, const BaseChoice& choice) {
  return {model,
          base,
          {.chains = choice.chains, .sweeps = static_cast<std::uint64_t>(choice.sweeps)},
          choice.summed_side};
}

AnnealingResult pilot(const LayeredTarget& target, const BaseChoice& choice,
                      TopStates* top_states) {
  return annealed_importance_sampling(target, {.ladder = Ladder::linear(choice.sweeps + 1),
                                               .chains = choice.chains,
                                               .sweeps = choice.sweeps,
                                               .key = choice.key,
                                               .top_states = top_states});
}

std::size_t choose_base(std::span<const double> mean_log_weights) {
  if (mean_log_weights.empty()) throw InvalidArgument("bases = none (must be one or more)");
  constexpr double kWorthIt = 0.1;
  std::size_t best = 0;
  double greatest = -std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < mean_log_weights.size(); ++k) {
    if (!(mean_log_weights[k] > greatest + kWorthIt)) continue;
    greatest = mean_log_weights[k];
    best = k;
  }
  return best;
}

namespace {

constexpr int kGreatest = 32;    // places that these are taken from
constexpr int kTried = 32;       // places, for different bases near them
constexpr int kBaseChains = 64;  // that find what is near a place
constexpr double kSmoothing = 0.05;

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

// Shapes  [units], the lowest layer first
Eigen::VectorXd means_of(const Layered& model, const Base& base) {
  Eigen::VectorXd means(model.units());
  Eigen::Index u = 0;
  for (int l = 0; l < model.layers(); ++l)
    for (const double logit : base.logits[l]) means[u++] = mean_value(model.layer(l).unit, logit);
  return means;
}

/// Some units, and the end of its values that each is at.
struct HeldUnits {
  using Mask = Eigen::Array<bool, Eigen::Dynamic, 1>;
  Mask is_held;          // [units]
  Eigen::VectorXd ends;  // [units]

  bool any() const { return is_held.any(); }
};

// Values of the units' types.  Shapes  [units], the lowest layer first
template <class Of>
Eigen::VectorXd by_unit(const Layered& model, const Of& of) {
  Eigen::VectorXd values(model.units());
  Eigen::Index first = 0;
  for (int l = 0; l < model.layers(); ++l) {
    values.segment(first, model.size(l)).setConstant(of(model.layer(l).unit));
    first += model.size(l);
  }
  return values;
}

Eigen::VectorXd widths(const Layered& model) {
  return by_unit(model, [](Unit unit) { return unit.highest() - unit.lowest(); });
}

// Those whose value at a place is one that chains from the uniform base hardly ever end in.
HeldUnits unreached(const Layered& model, const Eigen::VectorXd& means,
                    const Eigen::VectorXd& reached) {
  constexpr double kHardly = 0.1, kDiffer = 0.5;
  const Eigen::ArrayXd low = by_unit(model, [](Unit unit) { return unit.lowest(); }),
                       high = by_unit(model, [](Unit unit) { return unit.highest(); });
  HeldUnits held;
  held.ends = (means.array() > (low + high) / 2).select(high, low);
  held.is_held = (held.ends - reached).array().abs() > (1 - kHardly) * (high - low) &&
                 (means - reached).array().abs() > kDiffer * (high - low);
  return held;
}

// The base that holds these units at their means near a place, and no other; their logits are at least so
// much in all.
Base holding(const Layered& model, const HeldUnits& held, const Base& near, double least) {
  Base base = Base::uniform(model);
  double all = 0;
  Eigen::Index u = 0;
  for (std::size_t l = 0; l < base.logits.size(); ++l)
    for (Eigen::Index i = 0; i < base.logits[l].size(); ++i, ++u)
      if (held.is_held[u]) all += std::abs(base.logits[l][i] = near.logits[l][i]);
  for (Eigen::VectorXd& logits : base.logits) logits *= std::max(1.0, least / all);
  return base;
}

// Where annealing from a base ends.  Shapes  [units x chains]
Eigen::MatrixXd ends_of(const Layered& model, const Base& base, const BaseChoice& choice) {
  const LayeredTarget target = pilot_target(model, base, choice);
  TopStates top(target, choice.chains, choice.key);
  pilot(target, choice, &top);
  Eigen::MatrixXd ends(model.units(), choice.chains);
  Eigen::Index first = 0;
  for (const Chains& states : visited_states(top).states) {
    ends.middleCols(first, states.chains()) = all_values(states).cast<double>();
    first += states.chains();
  }
  return ends;
}

// Whether chains that only these units held stay with them when none is held any more.
bool stay(const Layered& model, const HeldUnits& held, const Base& base, BaseChoice choice,
          StreamKey key) {
  constexpr double kAway = 0.25;  // of the units' values
  constexpr int kFewer = 4;       // sweeps
  choice.key = key;
  choice.sweeps = std::max(1, choice.sweeps / kFewer);
  const Eigen::VectorXd weights =
      held.is_held.select(widths(model).cwiseInverse(), Eigen::VectorXd::Zero(model.units())) /
      static_cast<double>(held.is_held.count());
  const Eigen::MatrixXd ends = ends_of(model, base, choice);
  const Eigen::RowVectorXd away = weights.transpose() * (ends.colwise() - held.ends).cwiseAbs();
  return 2 * (away.array() < kAway).count() >= away.size();
}

/// A base near a place.
struct Near {
  Base base;
  Eigen::VectorXd means;    // by it; of those that it holds held.ends [units]
  HeldUnits held = {};      // where it holds no others
  bool is_reached = false;  // each unit's value there, by chains from the uniform base
};

bool same(const HeldUnits& a, const HeldUnits& b) {
  return a.any() && b.any() && (a.is_held == b.is_held).all() &&
         (!a.is_held || a.ends.array() == b.ends.array()).all();
}

// Means of what no base holds are everywhere those that chains from the uniform one reach: what else
// differs must not hide which of the held units a state has. One of these outweighs all others.
void set_centres(const std::vector<Near>& bases, const Eigen::VectorXd& reached,
                 PlaceBases& found) {
  const Eigen::Index units = reached.size();
  HeldUnits::Mask of_any = HeldUnits::Mask::Constant(units, false);
  for (const Near& near : bases)
    if (near.held.any()) of_any = of_any || near.held.is_held;
  found.scales =
      of_any.select(Eigen::VectorXd::Constant(units, std::sqrt(static_cast<double>(units))), 1.0);
  found.centres.resize(units, std::ssize(bases));
  for (Eigen::Index k = 0; k < found.centres.cols(); ++k) {
    const Near& near = bases[k];
    found.centres.col(k) = near.means;
    if (near.is_reached || near.held.any())
      found.centres.col(k) = of_any.select(reached, near.means);
    if (near.held.any())
      found.centres.col(k) = near.held.is_held.select(near.held.ends, found.centres.col(k));
  }
  found.centres = found.scales.asDiagonal() * found.centres;
}

}  // namespace

int near_places(const Layered& model, const BaseChoice& choice) {
  constexpr int kNear = 8;
  constexpr double kCost = 0x1p35;
  double weights = 0;
  for (const Eigen::MatrixXd& w : model.weights()) weights += static_cast<double>(w.size());
  const double most = kCost / (double{1} * choice.chains * choice.sweeps * std::max(weights, 1.0));
  return static_cast<int>(std::clamp<double>(most, 2, kNear));
}

Eigen::VectorXd reached_means(const Layered& model, StreamKey key, const BaseChoice& choice) {
  BaseChoice of_uniform = choice;
  of_uniform.key = key;
  return ends_of(model, Base::uniform(model), of_uniform).rowwise().mean();
}

PlaceBases bases_near_places(const Layered& model, const Modes& modes, const Places& places,
                             const Eigen::VectorXd& reached, StreamKey key,
                             const BaseChoice& choice) {
  const int most = near_places(model, choice);
  const Base uniform = Base::uniform(model);
  std::vector<Near> bases = {
      {.base = uniform, .means = means_of(model, uniform), .is_reached = true}};
  for (const int place : distant_places(places.means, kTried)) {
    if (std::ssize(bases) > most) break;
    const std::string name = std::to_string(place);
    Chains starts(model, kBaseChains);
    for (int c = 0; c < kBaseChains; ++c) starts.copy_chain(c, places.states, place);
    Base base =
        base_near(model, modes.parity, std::move(starts), kSmoothing, derive_key(key, name));
    Eigen::VectorXd means = means_of(model, base);
    if ((means - bases.front().means).squaredNorm() < kSamePlace) continue;
    Near near{.base = std::move(base), .means = std::move(means)};
    HeldUnits held = unreached(model, near.means, reached);
    near.is_reached = !held.any();
    if (std::any_of(bases.begin(), bases.end(),
                    [&](const Near& other) { return same(other.held, held); }))
      continue;
    // As loosely as they stay: behind a high barrier a phase that one unit holds is left on the way to it.
    constexpr double kLeast[] = {0, 60};  // logits in all
    for (const double least : kLeast) {
      if (!held.any() || near.held.any()) break;
      Base holds = holding(model, held, near.base, least);
      if (stay(model, held, holds, choice, derive_key(key, name, std::to_string(least))))
        near = {.base = std::move(holds), .means = means_of(model, uniform), .held = held};
    }
    bases.push_back(std::move(near));
  }
  PlaceBases found;
  set_centres(bases, reached, found);
  for (Near& near : bases) {
    found.holds.push_back(near.held.any());
    found.bases.push_back(std::move(near.base));
  }
  return found;
}

}  // namespace boltzmark
