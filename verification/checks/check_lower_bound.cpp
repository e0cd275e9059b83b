// Checks of the certified lower bound of log Z against the enumeration of all joint states.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "boltzmark/exact/modes/lower_bound.hpp"
#include "boltzmark/exact/state_space.hpp"
#include "verification/checks/check_cases.hpp"
#include "verification/checks/subjects.hpp"
#include "verification/checks/worst.hpp"

namespace boltzmark {
namespace {

// From one listed state to all; few climbs, so that short lists miss much.
LowerBoundOptions draw_options(Stream& stream, const Layered& model) {
  constexpr int kMost[] = {1, 3, 10, 1 << 14};
  LowerBoundOptions options{.gibbs_sweeps = draw_below(stream, 3),
                            .most_states = kMost[stream.below(4)]};
  options.search.climbs.starts = draw_size(stream, 4);
  options.search.climbs.max_sweeps = 5;
  options.search.escape_states = kMost[stream.below(2)];
  options.search.climbs.key = {stream(), stream()};
  if (stream.below(2) == 0)
    options.search.climbs.cases = draw_states(stream, model.layer(0).unit, model.size(0), 3);
  return options;
}

// How far the bound, and both that it is made of, are above log Z, beyond the rounding that they
// state; where all states are listed, how far they are from it.
CaseOutcome bound_case(Stream& stream, DrawModel draw, const BoundLogZ& find_bound) {
  const Layered model = draw(stream);
  const Base base = draw_base(stream, model);
  const LowerBound bound = find_bound(model, base, draw_options(stream, model));
  const double log_z = StateSpace(model).log_z();
  const double highest = worse(bound.log_z, worse(bound.listed, bound.mean_field));
  double value = highest - bound.error_bound - log_z;
  if (bound.all_states) value = worse(value, std::abs(bound.listed - log_z) - bound.error_bound);
  return {value / std::max(1.0, std::abs(log_z)),
          fmt::format("{}, {}{} states listed", describe_case(model),
                      bound.all_states ? "all " : "", bound.states)};
}

}  // namespace

std::vector<Check> lower_bound_checks(const BoundLogZ& find_bound) {
  // What the sum over joint states itself is off by: some 2^10 roundings of equal sign.
  constexpr double kBound = 1e-12;
  const auto of = [&find_bound](DrawModel draw) {
    return [draw, find_bound](Stream& s) { return bound_case(s, draw, find_bound); };
  };
  return {
      bounded_check(
          "below-log-z", "lower_bound",
          "the bound is not above log Z beyond its error bound, and is log Z where it lists all "
          "states: relative excess",
          kBound, of(draw_binary_model)),
      bounded_check("below-log-z (discrete units)", "lower_bound",
                    "so it is with multivalued units", kBound, of(draw_unit_model))};
}

std::vector<Check> lower_bound_checks() { return lower_bound_checks(lower_bound); }

}  // namespace boltzmark
