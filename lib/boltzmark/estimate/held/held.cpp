#include "boltzmark/estimate/held/held.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "boltzmark/core/quantiles.hpp"
#include "boltzmark/estimate/closing.hpp"
#include "boltzmark/estimate/held/hold_to_switches.hpp"
#include "boltzmark/transition/sweep.hpp"

namespace boltzmark {
namespace {

constexpr double kDemandErrors = 4;  // by which what is demanded is taken lower

// Whether a share of so many independent visits is too small for one that is demanded.
bool is_too_small(double share, double visits, double demanded, double level = 1 - 1e-4) {
  if (!(visits > 0)) return false;  // none tells nothing
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
  constexpr double kMassErrors = 2, kHardly = 0.03;
  const Eigen::ArrayXd lowest = masses.lowest(kMassErrors, estimate.log_z);
  Unmet unmet;
  const auto is_unmet = [&](double share, double least) {
    return share < least / 2 && is_too_small(share, masses.visits, least, level);
  };
  const auto is_surely = [&](double share, double least) {
    return is_too_small(share, masses.visits, least, kSure);
  };
  // What the run hardly met, chosen by that alone, is together what it is in the mean: a part 1 - level of it is there but for
  // a chance of as much (Markov). What is too small to be judged alone, chosen by that, is together what each surely holds.
  double hardly = 0, met_of_hardly = 0, small = 0, met_of_small = 0;
  for (Eigen::Index k = 0; k < masses.shares.size(); ++k) {
    const double mass = std::exp(masses.log_masses[k] - estimate.log_z), share = masses.shares[k];
    const double least = lowest[k];
    if (is_unmet(share, least)) {
      unmet.mass += mass - share;
      if (is_surely(share, least)) unmet.surely += least - share;
    } else if (share < kHardly) {
      hardly += mass;
      met_of_hardly += share;
    }
    if (!is_surely(0, least)) {
      small += least;
      met_of_small += share;
    }
  }
  if (const double least = std::min((1 - level) * hardly, 1.0); is_unmet(met_of_hardly, least))
    unmet.mass += least - met_of_hardly;
  if (is_surely(met_of_small, small)) unmet.surely = std::max(unmet.surely, small - met_of_small);
  unmet.mass = std::max(unmet.mass, unmet.surely);
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
  for (Eigen::Index k = 0; k < masses.shares.size(); ++k) {
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

void hold_to_bound(const LowerBound& bound, Estimate& estimate, int together) {
  refuse_below(estimate, bound.lowest(), together);
  if (bound.all_states) refuse_above(estimate, bound.log_z + bound.error_bound, together);
}

namespace {

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

std::shared_ptr<const Met> meet_masses(const Layered& model, const ModeSearch& search,
                                       const Phases* phases, const VisitedStates& visited) {
  Met met{.switches = switch_units(model, visited, derive_key(search.climbs.key, "switches"))};
  if (phases != nullptr)
    met.phases = std::make_shared<const MetPhases>(meet_phases(*phases, visited));
  return std::make_shared<const Met>(std::move(met));
}

void hold_to_met(const Met& met, Estimate& estimate) {
  const double told = met.phases ? hold_to_phases(*met.phases, estimate) : 0;
  hold_to_switches(met.switches, told, estimate);
}

}  // namespace boltzmark
