#include "boltzmark/estimate/held/hold_to_switches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "boltzmark/estimate/held/rare_switches.hpp"

namespace boltzmark {
namespace {

/// A mass, and how likely right samples never meet it.
struct Chance {
  double mass = 0, never = 0;
};

// Bounds the probability that chance leaves out so much or more, by Chernoff's inequality:
//   P(S >= s) <= e^{-t s} prod_u (1 + never_u (e^{t mass_u} - 1)), t > 0,
// of those not all moved with 1 + x <= e^x and all masses alike.
double log_chance(const std::vector<Chance>& units, const std::vector<UnmovedSwitches>& unmoved,
                  double left_out) {
  double greatest = 0, least = 0;
  for (const Chance& of : units) greatest = std::max(greatest, of.mass);
  for (const UnmovedSwitches& of : unmoved) greatest = std::max(greatest, of.of_one);
  for (double steep = 0.125; steep <= 64; steep *= 2) {
    const double t = steep / greatest;
    double bound = -t * left_out;
    for (const Chance& of : units) bound += std::log1p(of.never * std::expm1(t * of.mass));
    for (const UnmovedSwitches& of : unmoved)
      if (of.of_one > 0) bound += of.by_chance / of.of_one * std::expm1(t * of.of_one);
    least = std::min(least, bound);
  }
  return least;
}

constexpr double kStandardErrors = 4, kLikelyErrors = 2;
// That it is by chance.
const double kSurely = std::log(1e-4), kLikely = std::log(1e-2);

/// What a run misses, as shares of such a Z.
struct UnmetMass {
  double missing = 0;  // as far as is known, where chance hardly leaves out what is two errors less
  double surely = 0;   // four errors less, and less what chance leaves out
};

constexpr double kGreatest = 5;  // e^5 is as much as any more

double mass_of(const UnitSwitch& of) {
  return std::exp(std::min(std::log(of.share) + of.log_ratio, kGreatest));
}

// What it surely holds by itself.
double least_of(const UnitSwitch& of, double visits) {
  const double share_error = std::sqrt(std::max(0.0, 1 - of.share) / (of.share * visits));
  return std::max(0.0, 1 - kStandardErrors * share_error) *
         std::exp(std::min(std::log(of.share) + of.log_least, kGreatest));
}

// Each by itself is met or not.
UnmetMass never_met(const Switches& switches) {
  double unmet = 0, chance = 0, variance = 0, nats = 0, each_least = 0;
  std::vector<Chance> units;
  for (const UnitSwitch& of : switches.units) {
    const double mass = mass_of(of);
    units.push_back({mass, std::pow(1 + mass, -switches.visits)});
    chance += mass * units.back().never;
    if (is_met(of.met, switches.visits)) continue;
    unmet += mass;
    each_least += least_of(of, switches.visits);
    variance += mass * mass * of.error * of.error;
    nats += std::log1p(mass);
  }
  for (const UnmovedSwitches& of : switches.unmoved) {
    chance += of.by_chance;
    unmet += of.unmet;
    variance += of.unmet_error * of.unmet_error;
    nats += of.unmet;
  }
  const auto beyond_chance = [&](double errors, double log_level) {
    const double least = std::max(each_least, unmet - errors * std::sqrt(variance));
    const bool is_beyond =
        least > chance && log_chance(units, switches.unmoved, least) <= log_level;
    return is_beyond ? least - chance : 0;
  };
  if (!(beyond_chance(kLikelyErrors, kLikely) > 0)) return {};
  const double any = std::expm1(nats * (1 - chance / unmet));  // alone, in any combination
  return {any, beyond_chance(kStandardErrors, kSurely)};
}

// Those that right samples meet more than `above` times and `most` times at most, as one mass: of n right samples as few are
// there by chance with probability e^{-n KL} at most [Chernoff 1952].
UnmetMass met_too_seldom(const Switches& switches, double above, double most) {
  const auto is_among = [&](double meetings) { return meetings > above && meetings <= most; };
  double mass = 0, met = 0, variance = 0, each_least = 0;
  for (const UnitSwitch& of : switches.units) {
    const double one = mass_of(of);
    if (!is_among(one * switches.visits)) continue;
    mass += one;
    each_least += least_of(of, switches.visits);
    met += of.met;
    variance += one * one * of.error * of.error;
  }
  for (const UnmovedSwitches& of : switches.unmoved) {
    if (!is_among(of.most)) continue;
    mass += of.mass;
    met += of.met;
    variance += of.error * of.error;
  }
  const double least = std::max(each_least, mass - kStandardErrors * std::sqrt(variance)),
               share = least / (1 + least);
  if (!(least > 0 && share > met)) return {};
  const double apart =
      (met > 0 ? met * std::log(met / share) : 0) + (1 - met) * std::log((1 - met) / (1 - share));
  if (-switches.visits * apart > kSurely) return {};
  return {(1 - met) * (1 + mass) - 1, (1 - met) * (1 + least) - 1};
}

}  // namespace

void hold_to_switches(const Switches& switches, double told, Estimate& estimate) {
  constexpr double kMost = 0.1, kMostUnsure = 0.25;
  if (!std::isfinite(estimate.log_z)) return;
  UnmetMass unmet = never_met(switches);
  // What is rightly met must not pay for what never was: all neighbours among them, not only those from the rarest on.
  std::vector<double> ends = {0};
  ends.insert(ends.end(), kMeetings.begin(), kMeetings.end());
  ends.push_back(std::numeric_limits<double>::infinity());
  for (std::size_t last = 1; last < ends.size(); ++last)
    for (std::size_t first = 0; first < last; ++first)
      if (const UnmetMass together = met_too_seldom(switches, ends[first], ends[last]);
          together.surely > unmet.surely)
        unmet = together;
  const auto [missing, surely] = unmet;
  if (surely > kMost || missing > kMostUnsure)
    return estimate.refuse(
        Status::not_converged,
        fmt::format(
            "units that the run never switched, alone or a few together, hold {} % of such a "
            "Z: run more sweeps, or use a base that is closer to the model",
            missing < 10 ? fmt::format("{:.0f}", 100 * missing) : "more than 1000"));
  if (missing > told && estimate.add_missing(missing - told))
    estimate.warnings.push_back(
        fmt::format("units that the run never switched hold {:.2g} % of such a Z: the standard "
                    "error has it, and so has the upper limit",
                    100 * missing));
}

}  // namespace boltzmark
