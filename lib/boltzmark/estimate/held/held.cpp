#include "boltzmark/estimate/held/held.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "boltzmark/core/quantiles.hpp"
#include "boltzmark/estimate/closing.hpp"
#include "boltzmark/exact/enumeration/enumeration.hpp"
#include "boltzmark/exact/modes/mean_field.hpp"
#include "boltzmark/model/sides.hpp"
#include "boltzmark/sample/tempering/simulated_tempering.hpp"

namespace boltzmark {
namespace {

constexpr double kDemandErrors = 4;  // by which what is demanded is taken lower

// Whether a share of so many independent visits is too small for one that is demanded.
bool is_too_small(double share, double visits, double demanded, double level = 1 - 1e-4) {
  const double in = share * visits;
  return share < 1 && demanded > beta_quantile(in + 1, visits - in, level);
}

double demanded_share(double log_mass, const Estimate& estimate) {
  return std::exp(log_mass - estimate.log_z - kDemandErrors * std::max(estimate.std_error, 0.0));
}

// What the listed states may hold at most of a Z that is lower by its errors.
double allowed_share(const LowerBound& bound, const Estimate& estimate) {
  return std::exp(bound.searched + 2 * bound.error_bound - estimate.log_z +
                  kDemandErrors * std::max(estimate.std_error, 0.0));
}

void refuse_as_unmet(double share, double demanded, const char* where, Estimate& estimate) {
  estimate.refuse(Status::not_converged,
                  fmt::format("{:.1f} % of the run's samples at b = 1 are {} at least {:.0f} % of "
                              "such a Z: it hardly met some modes; run more sweeps",
                              100 * share, where, 100 * std::min(demanded, 1.0)));
}

// Shapes  groups [parts], -1 of none
MetMasses meet(const PhaseMasses& masses, const Parts& parts, std::span<const int> groups,
               const VisitedStates& visited) {
  MetMasses met{masses, Eigen::VectorXd::Zero(masses.log_masses.size())};
  require_visits(visited.states, visited.visits);
  double all = 0, squares = 0;
  std::size_t next = 0;
  for (const Chains& states : visited.states)
    for (const int part : parts.parts_of(states)) {
      const double weight = visited.visits.empty() ? 1 : visited.visits[next];
      const int group = groups.empty() ? part : groups[part];
      ++next;
      all += weight;
      squares += weight * weight;
      if (group >= 0) met.shares[group] += weight;
    }
  if (all > 0) {
    met.shares /= all;
    met.visits = all * all / squares;
  }
  return met;
}

}  // namespace

MetPhases meet_phases(const Phases& phases, const VisitedStates& visited) {
  MetPhases met{meet(phases, phases, {}, visited)};
  if (phases.small.any())
    met.small = meet(phases.small, phases.small.parts, phases.small.groups, visited);
  return met;
}

void hold_to_visits(const LowerBound& bound, Estimate& estimate) {
  if (!std::isfinite(bound.met) || !std::isfinite(bound.searched)) return;
  const double demanded = demanded_share(bound.searched, estimate);
  if (is_too_small(bound.met, bound.visits, demanded))
    return refuse_as_unmet(bound.met, demanded, "in states that hold", estimate);
  const double allowed = allowed_share(bound, estimate);
  if (is_too_small(1 - bound.met, bound.visits, 1 - allowed))
    estimate.refuse(
        Status::not_converged,
        fmt::format("{:.1f} % of the run's samples at b = 1 are in states that hold at "
                    "most {:.0f} % of such a Z: it is too high, or the chains never met "
                    "the rest; run more sweeps",
                    100 * bound.met, 100 * allowed));
}

namespace {

// What of masses the run hardly met, in parts of Z.
struct Unmet {
  double mass = 0, surely = 0;
};

constexpr double kSure = 0.99;  // that it is not by chance

Unmet unmet_of(const MetMasses& masses, double level, const Estimate& estimate) {
  constexpr double kMassErrors = 2;
  const Eigen::ArrayXd lowest = masses.lowest(kMassErrors, estimate.log_z);
  Unmet unmet;
  for (Eigen::Index k = 0; k < masses.shares.size() && masses.visits > 0; ++k) {
    const double mass = std::exp(masses.log_masses[k] - estimate.log_z), share = masses.shares[k];
    const double least = lowest[k];
    if (!(share < least / 2) || !is_too_small(share, masses.visits, least, level)) continue;
    unmet.mass += mass - share;
    if (is_too_small(share, masses.visits, least, kSure)) unmet.surely += least - share;
  }
  return unmet;
}

// What was found that the run hardly met is missing from its Z: an error that no sample tells.
void add_unmet(Unmet unmet, Estimate& estimate) {
  constexpr double kMost = 0.1, kMostUnsure = 0.25;
  if (unmet.surely > kMost || unmet.mass > kMostUnsure)
    estimate.refuse(
        Status::not_converged,
        fmt::format(
            "the run hardly met what is near modes that hold {:.0f} % of such a Z; run more sweeps",
            100 * (unmet.surely > kMost ? unmet.surely : unmet.mass)));
  if (estimate.add_missing(unmet.mass))
    estimate.warnings.push_back(
        fmt::format("near modes that the run hardly met {:.2g} % of such a Z are found beside it: "
                    "the standard error has it, and so has the upper limit",
                    100 * unmet.mass));
}

// Refuses what is surely too low; tells whether it is.
bool refuse_by_masses(const MetMasses& masses, const char* how, Estimate& estimate) {
  constexpr double kJointErrors = 5, kNats = 0.25;
  const double low = masses.log_z() - estimate.log_z;
  if (low > std::max(kNats, kJointErrors * std::hypot(masses.std_error(), estimate.std_error))) {
    estimate.refuse(
        Status::not_converged,
        fmt::format(
            "{} finds {:.4f} +- {:.4f}, more than this: "
            "the chains never met some of what is near those; run more sweeps, or from another base",
            how, masses.log_z(), masses.std_error()));
    return true;
  }
  for (Eigen::Index k = 0; k < masses.shares.size() && masses.visits > 0; ++k) {
    const double demanded =
        demanded_share(masses.log_masses[k] - kDemandErrors * masses.errors[k], estimate);
    if (!is_too_small(masses.shares[k], masses.visits, demanded)) continue;
    refuse_as_unmet(masses.shares[k], demanded, "near modes that hold", estimate);
    return true;
  }
  return false;
}

}  // namespace

double hold_to_phases(const MetPhases& phases, Estimate& estimate) {
  if (!std::isfinite(estimate.log_z)) return 0;
  if (refuse_by_masses(phases, "short annealing from bases near modes", estimate)) return 0;
  const bool any_small = phases.small.log_masses.size() > 0;
  if (any_small &&
      refuse_by_masses(phases.small, "sampling from mean field's laws near modes", estimate))
    return 0;
  // The same mass may be in both.
  constexpr double kLikely = 0.8;
  Unmet unmet = unmet_of(phases, kLikely, estimate);
  if (any_small) {
    const Unmet small = unmet_of(phases.small, kSure, estimate);
    unmet = {std::max(unmet.mass, small.mass), std::max(unmet.surely, small.surely)};
  }
  add_unmet(unmet, estimate);
  return unmet.mass;
}

namespace {

LowerBoundOptions bound_options(const ModeSearch& search, const FoundStates& found) {
  return {.search = search, .modes = found.modes ? &*found.modes : nullptr, .found = found.states};
}

}  // namespace

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

FoundStates find_before(const LayeredTarget& target, const ModeSearch& search, std::uint64_t seed,
                        const ChosenBase& chosen, bool tempered) {
  const TemperedModel& of = target.tempered_model();
  FoundStates found{.modes = chosen.modes, .phases = chosen.phases};
  if (!found.modes && is_searchable(of.model)) found.modes = find_modes(of.model, of.base, search);
  if (!found.phases && found.modes)
    found.phases =
        std::make_shared<const Phases>(find_phases(of.model, *found.modes, seed, of.summed));
  // For the list of a discrete side's states.
  if (tempered && std::isfinite(log2_states(of.model, smaller_side(of.model))))
    found.states = tempered_search(of.model, seed);
  return found;
}

FoundStates find_before(const LayeredTarget& target, const ModeSearch& search, std::uint64_t seed,
                        const ChosenBase& chosen, const Method& method,
                        const MethodSettings& settings) {
  return find_before(target, search, seed, chosen,
                     chosen.of_modes || !tempers_collapsed(method, settings));
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

void hold_to_bound(const LowerBound& bound, Estimate& estimate, int together) {
  refuse_below(estimate, bound.lowest(), together);
  if (bound.all_states) refuse_above(estimate, bound.log_z + bound.error_bound);
}

namespace {

constexpr double kMostRounding = 0.1;  // nats of a unit's input, and of log f

// What rounding changes is no chance: it is in the error and the limits, where it is a part of these.
void add_rounding(double nats, Estimate& estimate) {
  constexpr double kShare = 0.1;
  if (!(nats > std::max(kUntoldRounding, kShare * estimate.std_error))) return;
  estimate.std_error = std::hypot(estimate.std_error, nats);
  estimate.lower -= nats;
  estimate.upper += nats;
  estimate.warnings.push_back(
      fmt::format("samplers, in single precision, round log f by up to {:.2g} nats: the standard "
                  "error has it, and so have the limits",
                  nats));
}

}  // namespace

bool is_resolved(const LowerBound& bound) {
  return !std::isnan(bound.log_z) && bound.input_rounding <= kMostRounding &&
         bound.log_f_rounding <= kMostRounding;
}

void hold_to_resolution(const LowerBound& bound, Estimate& estimate) {
  if (is_resolved(bound)) return add_rounding(bound.log_f_rounding, estimate);
  if (std::isnan(bound.log_z))
    return estimate.refuse(Status::not_converged,
                           "parameters are so large that a double does not resolve a nat");
  const bool of_input = bound.input_rounding > kMostRounding;
  estimate.refuse(
      Status::not_converged,
      fmt::format("parameters are so large that samplers, in single precision, round "
                  "{} by {:.2g} nats (more than {})",
                  of_input ? "a unit's input" : "log f",
                  of_input ? bound.input_rounding : bound.log_f_rounding, kMostRounding));
}

void add_unseen(Estimate& estimate) {
  constexpr double kTold = 0.05;  // less is no news
  constexpr double kMost = 1;
  const bool tells = estimate.add_missing(estimate.missing) && estimate.missing > kTold;
  if (estimate.missing > kMost)
    estimate.refuse(
        Status::not_converged,
        fmt::format("longer tours than the longest one would add {:.0f} % to such a Z by "
                    "the tail of their lengths (more than {:.0f} %), which the standard error and "
                    "the upper limit have; run more sweeps",
                    100 * estimate.missing, 100 * kMost));
  else if (tells)
    estimate.warnings.push_back(fmt::format(
        "longer tours than the longest one would add {:.2g} % to such a Z by the tail of their "
        "lengths: the standard error has it, and so has the upper limit",
        100 * estimate.missing));
  estimate.std_error = std::hypot(estimate.std_error, estimate.steps);
  estimate.missing = estimate.steps = 0;
}

Met meet_masses(const Layered& model, const ModeSearch& search, const Phases* phases,
                const VisitedStates& visited) {
  Met met{.switches = switch_units(model, visited, derive_key(search.climbs.key, "switches"))};
  if (phases != nullptr)
    met.phases = std::make_shared<const MetPhases>(meet_phases(*phases, visited));
  return met;
}

void hold_to_met(const Met& met, Estimate& estimate) {
  const double told = met.phases ? hold_to_phases(*met.phases, estimate) : 0;
  hold_to_switches(met.switches, told, estimate);
}

Held hold_to_found(const LayeredTarget& target, const ModeSearch& search,
                   const VisitedStates& visited, const FoundStates& found, Estimate& estimate,
                   const LowerBound& before, int together) {
  const LowerBound now = find_lower_bound(target, search, visited, found);
  hold_to_resolution(now, estimate);
  hold_to_visits(now, estimate);
  Held held;
  if (found.modes)  // of a model that a double resolves
    held = {meet_masses(target.tempered_model().model, search, found.phases.get(), visited)};
  held.bound = higher(now, before);
  hold_to_met(held, estimate);
  hold_to_bound(held.bound, estimate, together);
  add_unseen(estimate);
  return held;
}

double held_sweeps(const Layered& model) {
  constexpr double kSearch = 30'000, kPlaces = 45'000, kPhases = 14 * 9'600, kBound = 20'000;
  constexpr double kOrthants = 2 * 31'000;  // for the base, and for the bound
  constexpr double kSwitches = 10'000;
  return kSearch + kPlaces + kPhases + kBound + kSwitches +
         (side_of_orthants(model) ? kOrthants : 0);
}

StreamKey attempt_key(std::uint64_t seed, int number) {
  return number == 0 ? make_key(seed, "estimate")
                     : make_key(seed, "estimate", fmt::format("{}", number));
}

HeldEstimate estimate_held(std::string_view method, const Layered& model, std::uint64_t seed,
                           MethodSettings settings) {
  check_settings(find_method(method), settings);
  settings.key = attempt_key(seed);
  settings.annealed_start = true;
  const ModeSearch search = mode_search(model, seed, settings.cases);
  HeldEstimate result{.chosen = choose_auto_base(model, search, seed)};
  const Packing packing{.chains = settings.chains,
                        .sweeps = static_cast<std::uint64_t>(settings.sweeps)};
  const LayeredTarget target(model, result.chosen.base, packing);
  const FoundStates found =
      find_before(target, search, seed, result.chosen, find_method(method), settings);
  MethodRuns runs(target, std::move(settings));
  result.estimate = runs.estimate(method);
  result.held =
      hold_to_found(target, search, visited_states(runs.top_states()), found, result.estimate);
  return result;
}

}  // namespace boltzmark
