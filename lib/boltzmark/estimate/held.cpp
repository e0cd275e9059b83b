#include "boltzmark/estimate/held.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "boltzmark/core/quantiles.hpp"
#include "boltzmark/estimate/closing.hpp"
#include "boltzmark/exact/enumeration/enumeration.hpp"
#include "boltzmark/model/sides.hpp"
#include "boltzmark/sample/annealing/base_choice.hpp"

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

LowerBoundOptions bound_options(const ModeSearch& search, const FoundStates& found) {
  return {.search = search, .modes = found.modes ? &*found.modes : nullptr, .found = found.states};
}

}  // namespace

Eigen::MatrixXf spread_cases(const CaseValues& cases, int count) {
  const Eigen::Index all = cases.cols(), few = std::min<Eigen::Index>(count, all);
  Eigen::MatrixXf some(cases.rows(), few);
  for (Eigen::Index k = 0; k < few; ++k) some.col(k) = cases.col(k * all / few);
  return some;
}

ModeSearch mode_search(const Layered& model, std::uint64_t seed, const CaseValues& cases) {
  return {.climbs = {.cases = nearest_states(model.layer(0).unit, cases),
                     .key = make_key(seed, "lower bound")}};
}

ChosenBase choose_auto_base(const Layered& model, const ModeSearch& search, std::uint64_t seed,
                            int summed_side) {
  ChosenBase chosen{.base = Base::uniform(model)};
  if (!model.layer(0).unit.is_bernoulli() ||
      !(magnitude(list_side(model, smaller_side(model))) < kUnresolved))
    return chosen;
  chosen.modes = find_modes(model, chosen.base, search);
  const std::array bases = {chosen.base,
                            base_of_modes(model, *chosen.modes, make_key(seed, "base"))};
  const StreamKey key = make_key(seed, "base choice");
  chosen.of_modes = choose_base(model, bases, {.key = key, .summed_side = summed_side}) == 1;
  if (chosen.of_modes) chosen.base = bases[1];
  return chosen;
}

VisitedStates visited_states(TopStates& top) {
  VisitedStates visited{.visits = top.visits};
  for (int g = 0; g < top.states.groups(); ++g)
    visited.states.push_back(
        dynamic_cast<LayeredPopulation&>(top.states.group(g)).tempered_chains().states());
  return visited;
}

std::vector<Chains> tempered_search(const Layered& model, std::uint64_t seed) {
  const LayeredTarget target(model, Base::uniform(model));
  SimulatedTemperingOptions options{.chains = 100,
                                    .sweeps = 300,
                                    .states = States::collapsed,
                                    .key = make_key(seed, "tempered search")};
  TopStates top(target, options.chains, options.key);
  options.top_states = &top;
  simulated_tempering(target, options);
  return visited_states(top).states;
}

LowerBound find_lower_bound(const LayeredTarget& target, const ModeSearch& search,
                            const VisitedStates& visited, const FoundStates& found) {
  LowerBoundOptions options = bound_options(search, found);
  options.visited = visited.states;
  options.visits = visited.visits;
  return lower_bound(target.tempered_model().model, target.tempered_model().base, options);
}

SearchedStates find_states(const LayeredTarget& target, const ModeSearch& search,
                           const FoundStates& found) {
  return {target.tempered_model().model, target.tempered_model().base,
          bound_options(search, found)};
}

void hold_to_bound(const LowerBound& bound, Estimate& estimate) {
  refuse_below(estimate, bound.lowest());
  if (std::isnan(bound.log_z))
    estimate.refuse(Status::not_converged,
                    "parameters are so large that a double does not resolve a nat");
}

void hold_to_visits(const LowerBound& bound, Estimate& estimate) {
  constexpr double kLevel = 1 - 1e-4, kErrors = 4;
  if (!(bound.met < 1) || !std::isfinite(bound.searched)) return;
  const double demanded =
      std::exp(bound.searched - estimate.log_z - kErrors * std::max(estimate.std_error, 0.0));
  const double in = bound.met * bound.visits;
  if (!(demanded > beta_quantile(in + 1, bound.visits - in, kLevel))) return;
  estimate.refuse(Status::not_converged,
                  fmt::format("{:.1f} % of the run's samples at b = 1 are in states that hold at "
                              "least {:.0f} % of such a Z: it hardly met some modes",
                              100 * bound.met, 100 * std::min(demanded, 1.0)));
}

StreamKey attempt_key(std::uint64_t seed, int number) {
  return number == 0 ? make_key(seed, "estimate")
                     : make_key(seed, "estimate", fmt::format("{}", number));
}

}  // namespace boltzmark
