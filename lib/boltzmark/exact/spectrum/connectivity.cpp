#include "boltzmark/exact/spectrum/connectivity.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace boltzmark {
namespace {

using Flags = std::vector<std::uint8_t>;  // a set of states

double moderate(double input) {
  if (input == 0) return 0;
  return std::copysign(std::clamp(std::abs(input), 0x1p-20, 30.0), input);
}

// A kernel's support as a graph: the possible moves of every unit for every state of the other side
// that is here. Sets are in the order odd of the turns; ranks share the states, of which the first
// one is at the first rank.
class Moves {
 public:
  Moves(const StateSpace& space, const Rule& rule, Scan scan)
      : space_(space), turns_(space), scan_(scan), tables_(space.units()) {
    for (int parity = 0; parity < 2; ++parity) {
      const SideRun others = turns_.own(1 - parity);
      const Eigen::MatrixXd inputs = space.inputs(parity, others.first, others.count);
      for (std::size_t k = 0; k < space.side(parity).size(); ++k) {
        const int unit = space.side(parity)[k], n = space.values(unit);
        const Unit kind = space.place(unit).kind;
        for (const double x : inputs.col(static_cast<Eigen::Index>(k)))
          for (int from = 0; from < n; ++from)
            for (int to = 0; to < n; ++to)
              tables_[unit].push_back(can_move(rule, kind, x, from, to));
      }
    }
  }

  const Ranks& ranks() const { return space_.rows().ranks(); }
  std::size_t all() const { return space_.states(); }
  std::size_t size() const { return turns_.odd_size(); }  // states of this rank

  Flags first() const {
    Flags flags(size(), 0);
    if (ranks().number() == 0) flags[0] = 1;
    return flags;
  }
  bool is_empty(const Flags& set) const {
    return !holds_at_any(ranks(), std::any_of(set.begin(), set.end(), [](auto f) { return f; }));
  }
  // The successors (or predecessors) of a set.
  Flags step(Flags set, bool forward) const {
    if (scan_ == Scan::random) {
      any_step(set, forward);
    } else {
      side_step(set, forward ? 1 : 0, forward);
      side_step(set, forward ? 0 : 1, forward);
    }
    return set;
  }
  // The states that are their own successors: a sweep must leave every unit as it is, the odd side
  // given the even one and the reverse; a random scan any one.
  Flags self_loops() const {
    const bool every = scan_ == Scan::periodic;
    Flags set(size(), every ? 1 : 0);
    for (int parity = 0; parity < 2; ++parity)
      on_side(set, parity, [&](std::uint8_t* here, std::size_t size) {
        for_units(parity, [&](int unit, std::size_t stride) {
          const auto n = static_cast<std::size_t>(space_.values(unit));
          for_places(parity, unit, stride, size, [&](std::size_t x, const std::uint8_t* table) {
            for (std::size_t k = 0; k < n; ++k) {
              const std::uint8_t stays = table[k * n + k];
              std::uint8_t& all = here[x + k * stride];
              all = every ? all & stays : all | stays;
            }
          });
        });
      });
    return set;
  }

 private:
  // Replaces a set by its successors (or predecessors) under the independent updates of one side.
  void side_step(Flags& set, int parity, bool forward) const {
    on_side(set, parity, [&](std::uint8_t* here, std::size_t size) {
      Flags next(size);
      for_units(parity, [&](int unit, std::size_t stride) {
        std::fill(next.begin(), next.end(), 0);
        unit_step(here, size, next, parity, unit, stride, forward);
        std::copy(next.begin(), next.end(), here);
      });
    });
  }

  // Replaces a set by what the update of any one unit makes of it, or what it can be made from.
  void any_step(Flags& set, bool forward) const {
    const Flags old = set;
    std::fill(set.begin(), set.end(), 0);
    for (int parity = 0; parity < 2; ++parity) {
      Flags made = old;
      on_side(made, parity, [&](std::uint8_t* here, std::size_t size) {
        Flags next(size, 0);
        for_units(parity, [&](int unit, std::size_t stride) {
          unit_step(here, size, next, parity, unit, stride, forward);
        });
        std::copy(next.begin(), next.end(), here);
      });
      for (std::size_t x = 0; x < set.size(); ++x) set[x] |= made[x];
    }
  }

  // Calls body(flags, how many) with a set in the order in which a side is updated.
  template <class Body>
  void on_side(Flags& set, int parity, const Body& body) const {
    if (parity == 0) return body(set.data(), set.size());
    Turned<std::uint8_t> turned(turns_, set.data());
    body(turned.data(), turns_.own(0).count * turns_.side_states(1));
    turned.turn_back();
  }

  // Calls body(unit, stride of its value in that order) for the units of a side.
  template <class Body>
  void for_units(int parity, const Body& body) const {
    std::size_t stride = parity == 0 ? 1 : turns_.own(0).count;
    for (const int unit : space_.side(parity)) {
      body(unit, stride);
      stride *= static_cast<std::size_t>(space_.values(unit));
    }
  }

  // Calls body(x, moves) for the places x in that order at which a unit has its lowest value.
  template <class Body>
  void for_places(int parity, int unit, std::size_t stride, std::size_t size,
                  const Body& body) const {
    const auto n = static_cast<std::size_t>(space_.values(unit));
    const std::size_t even_states = turns_.side_states(0);
    const std::size_t run = parity == 0 ? stride : turns_.own(0).count;
    for (std::size_t block = 0; block < size; block += n * stride)
      for (std::size_t at = block; at < block + stride; at += run)
        for (std::size_t i = 0; i < run; ++i)
          body(at + i, &tables_[unit][(parity == 0 ? block / even_states : i) * n * n]);
  }

  // Adds to `out` what one unit's update makes of a set, or what it can be made from.
  void unit_step(const std::uint8_t* set, std::size_t size, Flags& out, int parity, int unit,
                 std::size_t stride, bool forward) const {
    const auto n = static_cast<std::size_t>(space_.values(unit));
    for_places(parity, unit, stride, size, [&](std::size_t x, const std::uint8_t* table) {
      for (std::size_t k = 0; k < n; ++k) {
        if (!set[x + k * stride]) continue;
        for (std::size_t m = 0; m < n; ++m)
          out[x + m * stride] |= forward ? table[k * n + m] : table[m * n + k];
      }
    });
  }

  const StateSpace& space_;
  Turns turns_;
  Scan scan_;
  std::vector<Flags> tables_;  // of each unit [state of the other side][from][to]
};

// All states that a chain of steps of any length, also none, joins to those of a set.
Flags reach(const Moves& moves, bool forward, Flags seen) {
  Flags frontier = seen;
  while (!moves.is_empty(frontier)) {
    frontier = moves.step(std::move(frontier), forward);
    for (std::size_t x = 0; x < moves.size(); ++x) {
      frontier[x] = frontier[x] && !seen[x];
      seen[x] |= frontier[x];
    }
  }
  return seen;
}

Flags component(const Moves& moves, const Flags& state) {
  Flags both = reach(moves, true, state);
  const Flags back = reach(moves, false, state);
  for (std::size_t x = 0; x < moves.size(); ++x) both[x] &= back[x];
  return both;
}

// The gcd of level(x) + 1 - level(y) over the edges x -> y inside the first state's component.
int period_of_first(const Moves& moves, const Flags& inside) {
  Flags loops = moves.self_loops();
  for (std::size_t x = 0; x < moves.size(); ++x) loops[x] &= inside[x];
  if (!moves.is_empty(loops)) return 1;
  std::vector<int> level(moves.size(), -1);
  Flags frontier = moves.first();
  for (std::size_t x = 0; x < moves.size(); ++x)
    if (frontier[x]) level[x] = 0;
  int gcd = 0;
  for (int depth = 0; !moves.is_empty(frontier); ++depth) {
    Flags next = moves.step(frontier, true);
    for (std::size_t y = 0; y < moves.size(); ++y) {
      if (!next[y] || !inside[y]) {
        next[y] = 0;
      } else if (level[y] < 0) {
        level[y] = depth + 1;
      } else {
        gcd = std::gcd(gcd, std::abs(depth + 1 - level[y]));
        next[y] = 0;
      }
    }
    frontier = std::move(next);
  }
  for (const int other : one_of_each(moves.ranks(), gcd)) gcd = std::gcd(gcd, other);
  return gcd;
}

std::size_t count_components(const Moves& moves, Flags done) {
  std::size_t count = 1;
  if (moves.all() > kMaxDenseStates || moves.ranks().count() > 1) return 2;
  for (std::size_t x = 0; x < moves.size(); ++x) {
    if (done[x]) continue;
    Flags state(moves.size(), 0);
    state[x] = 1;
    const Flags one = component(moves, state);
    for (std::size_t y = 0; y < moves.size(); ++y) done[y] |= one[y];
    ++count;
  }
  return count;
}

Connectivity judge(const Moves& moves) {
  const Flags first = component(moves, moves.first());
  Flags outside = first;
  for (std::uint8_t& flag : outside) flag = !flag;
  Connectivity result;
  result.irreducible = moves.is_empty(outside);
  result.components = result.irreducible ? 1 : count_components(moves, first);
  result.period = period_of_first(moves, first);
  result.aperiodic = result.irreducible && result.period == 1;
  return result;
}

}  // namespace

bool can_move(const Rule& rule, Unit unit, double input, int from, int to) {
  std::vector<double> law(static_cast<std::size_t>(unit.values()));
  next_law(rule, unit, moderate(input), from, law);
  return law[to] > 0;
}

Connectivity connectivity(const StateSpace& space, const Rule& rule, Scan scan) {
  return judge(Moves(space, rule, scan));
}

}  // namespace boltzmark
