#include "boltzmark/estimate/places/chosen_base.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "boltzmark/estimate/methods.hpp"
#include "boltzmark/estimate/places/bases.hpp"
#include "boltzmark/estimate/places/phases.hpp"
#include "boltzmark/exact/enumeration/enumeration.hpp"
#include "boltzmark/exact/modes/mean_field.hpp"
#include "boltzmark/model/sides.hpp"
#include "boltzmark/sample/top_states.hpp"
#include "boltzmark/target/layered_target.hpp"

namespace boltzmark {
namespace {

constexpr int kSearchCases = 100;  // that the search for modes climbs from

// The states nearest to some of the cases: what a score allows for rounding is none here.
Eigen::MatrixXf nearest_states(Unit unit, const CaseValues& cases) {
  Eigen::MatrixXf states = spread_cases(cases, kSearchCases);
  if (!unit.is_discrete()) return states;
  for (float& x : states.reshaped()) {
    const auto k = static_cast<int>(std::lround((x - unit.lowest()) / unit.spacing()));
    x = static_cast<float>(unit.value(std::clamp(k, 0, unit.steps())));
  }
  return states;
}

}  // namespace

Eigen::MatrixXf spread_cases(const CaseValues& cases, int count) {
  if (count < 0) throw InvalidArgument(fmt::format("count = {} (must be at least 0)", count));
  const Eigen::Index all = cases.cols(), few = std::min<Eigen::Index>(count, all);
  Eigen::MatrixXf some(cases.rows(), few);
  for (Eigen::Index k = 0; k < few; ++k) some.col(k) = cases.col(k * all / few);
  return some;
}

ModeSearch mode_search(const Layered& model, std::uint64_t seed, const CaseValues& cases) {
  return {.climbs = {.cases = nearest_states(model.layer(0).unit, cases),
                     .key = make_key(seed, "lower bound")}};
}

bool is_searchable(const Layered& model) {
  return magnitude(list_side(model, smaller_side(model))) < kUnresolved;
}

namespace {

// Of a base's pilot; lowest where it loses what another base reaches.
double mean_log_weight(const Base& base, const BaseChoice& choice, const Layered& model,
                       const Phases& phases) {
  const AnnealedParts parts = anneal_parts(model, phases, base, choice);
  return loses_nothing(phases, parts) ? parts.mean_log_weight
                                      : -std::numeric_limits<double>::infinity();
}

// Chooses the best base whose pilot, two of its errors higher, is not below what log Z certainly is not below; if
// all are, the one that comes nearest.
std::size_t choose_reaching(double lowest, const std::vector<Base>& bases,
                            std::vector<double> mean_log_weights, const BaseChoice& choice,
                            const Layered& model, const Phases& phases) {
  constexpr double kNever = -std::numeric_limits<double>::infinity();
  std::size_t nearest = 0;
  double highest = kNever;
  while (true) {
    const std::size_t best = choose_base(mean_log_weights);
    const AnnealedParts parts = anneal_parts(model, phases, bases[best], choice);
    const double reached = parts.log_z() + 2 * parts.std_error();
    if (!(reached < lowest)) return best;
    if (reached > highest) {
      highest = reached;
      nearest = best;
    }
    if (best == 0) return nearest;
    mean_log_weights[best] = kNever;
  }
}

bool is_uniform(const Base& base) {
  return std::all_of(base.logits.begin(), base.logits.end(),
                     [](const Eigen::VectorXd& logits) { return logits.isZero(0); });
}

// The same on the layers of one parity, uniform on the others.
Base one_sided(Base base, int parity) {
  for (std::size_t l = static_cast<std::size_t>(1 - parity); l < base.logits.size(); l += 2)
    base.logits[l].setZero();
  return base;
}

TemperedSearch search_from(const LayeredTarget& target, StreamKey key) {
  MethodRuns runs(target, {.chains = 100, .sweeps = 300, .states = States::collapsed, .key = key});
  TemperedSearch search{.estimate = runs.estimate("rts")};
  search.states = visited_states(runs.top_states()).states;
  return search;
}

}  // namespace

TemperedSearch tempered_search(const Layered& model, std::uint64_t seed) {
  return search_from(LayeredTarget(model, Base::uniform(model)), make_key(seed, "tempered search"));
}

bool uniform_serves(const Estimate& uniform, const Estimate& other) {
  constexpr double kError = 0.5;
  return uniform.std_error < kError &&
         uniform.log_z + 2 * uniform.std_error >= other.log_z - 2 * other.std_error;
}

ChosenBase choose_auto_base(const Layered& model, const ModeSearch& search, std::uint64_t seed,
                            int summed_side) {
  ChosenBase chosen{.base = Base::uniform(model)};
  if (!is_searchable(model)) return chosen;
  constexpr int kChains = 64;
  chosen.modes = find_modes(model, chosen.base, search);
  chosen.phases =
      std::make_shared<const Phases>(find_phases(model, *chosen.modes, seed, summed_side));
  std::vector<Base> bases = chosen.phases->bases;
  const Eigen::VectorXd& means = chosen.phases->mean_log_weights;
  std::vector<double> mean_log_weights(means.begin(), means.end());
  const BaseChoice choice{.key = make_key(seed, "base choice"), .summed_side = summed_side};
  for (int k = 1; k < std::ssize(chosen.phases->bases); ++k) {
    double& mean = mean_log_weights[k];
    if (!is_almost_all(*chosen.phases, k)) {
      mean = -std::numeric_limits<double>::infinity();
      continue;
    }
    // On one side alone, where that leads to the phase: sweeps from it are several times as fast.
    Base one = one_sided(bases[k], 1 - chosen.modes->parity);
    if (is_uniform(one)) continue;
    const double from_one = mean_log_weight(one, choice, model, *chosen.phases);
    if (!(from_one > mean_log_weights.front())) continue;
    bases[k] = std::move(one);
    mean = from_one;
  }
  for (const ModeShares shares : {ModeShares::equal, ModeShares::weighted}) {
    if (!model.layer(0).unit.is_bernoulli()) break;  // rates
    const char* name = shares == ModeShares::equal ? "base" : "weighted base";
    bases.push_back(base_of_modes(model, *chosen.modes, share_modes(*chosen.modes, shares, kChains),
                                  make_key(seed, name)));
    mean_log_weights.push_back(mean_log_weight(bases.back(), choice, model, *chosen.phases));
  }
  std::size_t best = choose_base(mean_log_weights);
  if (best > 0) {
    const MeanFieldBound certain = bound_by_orthants(model, chosen.modes->states);
    if (std::isfinite(certain.log_z))
      best = choose_reaching(certain.log_z - certain.error_bound, bases, mean_log_weights, choice,
                             model, *chosen.phases);
  }
  // What bases near few places leave out phases tell, not those near some of many.
  if (best > 0 && std::ssize(chosen.phases->bases) > near_places(model, choice)) {
    chosen.search = tempered_search(model, seed);
    const LayeredTarget target(model, bases[best], LayeredTarget::kPacking, summed_side);
    if (uniform_serves(chosen.search->estimate,
                       search_from(target, make_key(seed, "tempered pilot")).estimate))
      best = 0;
  }
  chosen.of_modes = best > 0;
  chosen.base = std::move(bases[best]);
  return chosen;
}

}  // namespace boltzmark
