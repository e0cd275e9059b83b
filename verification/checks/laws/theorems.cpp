#include "verification/checks/laws/theorems.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "boltzmark/exact/spectrum/connectivity.hpp"

namespace boltzmark {
namespace {

constexpr double kImpossible = -std::numeric_limits<double>::infinity();

// log P(unit goes to its value in `to`), minus infinity exactly when the law forbids it.
double log_unit_move(const StateSpace& space, const Rule& rule, int unit, std::size_t from,
                     std::size_t to) {
  const Unit kind = space.place(unit).kind;
  const double input = space.input(unit, from);
  const int now = space.value_index(unit, from), next = space.value_index(unit, to);
  if (!can_move(rule, kind, input, now, next)) return kImpossible;
  std::vector<double> law(static_cast<std::size_t>(kind.values()));
  next_law(rule, kind, input, now, law);
  if (law[next] > 0) return std::log(law[next]);
  // Lost to rounding. A move has the weight of its value; staying is |z| where that is tiny (flip).
  const double log_odds = std::abs(input) * kind.spacing();
  if (next == now && log_odds < 1) return std::log(log_odds);
  return -log_odds * (input > 0 ? kind.values() - 1 - next : next);
}

bool reaches_modes(const StateSpace& space, const Rule& rule, std::size_t state, bool forward) {
  // Step (i) climbs hidden side first, step (ii) visible side first and runs it backwards. Each
  // climb ends after at most `states` half-steps, for no state outside M comes twice.
  const int first = forward ? 1 : 0;
  for (std::size_t n = 0; n <= space.states(); ++n) {
    const std::size_t middle = most_probable(space, state, first);
    const std::size_t next = most_probable(space, middle, 1 - first);
    if (next == state) return true;
    const double log_step = forward ? log_side_transition(space, rule, state, middle, 1) +
                                          log_side_transition(space, rule, middle, next, 0)
                                    : log_side_transition(space, rule, next, middle, 1) +
                                          log_side_transition(space, rule, middle, state, 0);
    if (log_step == kImpossible) return false;
    state = next;
  }
  return false;
}

double lemma1_entry(const StateSpace& space, const Rule& rule, std::size_t state) {
  double least = 0;
  for (int parity = 0; parity < 2; ++parity) {
    const std::size_t top = most_probable(space, state, parity);
    least = std::min({least, log_side_transition(space, rule, state, top, parity),
                      log_side_transition(space, rule, top, state, parity)});
  }
  return least;
}

}  // namespace

std::size_t most_probable(const StateSpace& space, std::size_t state, int parity) {
  std::size_t result = state;
  // Units of a side are independent given the other side: each takes its likeliest value, and the
  // highest one at ties, which makes the index greatest.
  for (const int unit : space.side(parity))
    result = space.moved(unit, result, space.input(unit, state) >= 0 ? space.values(unit) - 1 : 0);
  return result;
}

std::vector<std::size_t> local_modes(const StateSpace& space) {
  std::vector<std::size_t> modes;
  for (std::size_t x = 0; x < space.states(); ++x)
    if (most_probable(space, x, 0) == x && most_probable(space, x, 1) == x) modes.push_back(x);
  return modes;
}

double log_side_transition(const StateSpace& space, const Rule& rule, std::size_t from,
                           std::size_t to, int parity) {
  if (space.side_part(1 - parity, from) != space.side_part(1 - parity, to)) return kImpossible;
  double sum = 0;
  for (const int unit : space.side(parity)) sum += log_unit_move(space, rule, unit, from, to);
  return sum;
}

bool TheoremReport::lemma1_holds() const { return lemma1 > kImpossible; }

bool TheoremReport::theorem1_holds() const {
  return modes > 0 && unreached == 0 && unreaching == 0 && modes_joined > kImpossible;
}

bool TheoremReport::theorem2_holds() const { return theorem1_holds() && modes_stay > kImpossible; }

TheoremReport check_theorems(const StateSpace& space, const Rule& rule) {
  TheoremReport report;
  for (std::size_t x = 0; x < space.states(); ++x) {
    report.lemma1 = std::min(report.lemma1, lemma1_entry(space, rule, x));
    report.unreached += reaches_modes(space, rule, x, true) ? 0 : 1;
    report.unreaching += reaches_modes(space, rule, x, false) ? 0 : 1;
  }
  const std::vector<std::size_t> modes = local_modes(space);
  report.modes = modes.size();
  for (const std::size_t x : modes) {
    for (const std::size_t y : modes) {
      // One sweep from x to y passes through x's even side with y's odd side.
      const std::size_t middle =
          space.side_state(0, space.side_part(0, x)) + space.side_state(1, space.side_part(1, y));
      const double log_step = log_side_transition(space, rule, x, middle, 1) +
                              log_side_transition(space, rule, middle, y, 0);
      report.modes_joined = std::min(report.modes_joined, log_step);
      if (x == y) report.modes_stay = std::min(report.modes_stay, log_step);
    }
  }
  return report;
}

}  // namespace boltzmark
