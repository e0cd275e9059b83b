#include "boltzmark/exact/spectrum/connectivity.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "boltzmark/core/error.hpp"

namespace boltzmark {
namespace {

using Flags = std::vector<std::uint8_t>;  // a set of states
using Step = std::function<Flags(const Flags&)>;

// A kernel's support as a graph: the successors and predecessors of a set, and the self-loops.
struct Graph {
  std::size_t states;
  Step successors;
  Step predecessors;
  std::function<bool(std::size_t)> self_loop;
};

double moderate(double input) {
  if (input == 0) return 0;
  return std::copysign(std::clamp(std::abs(input), 0x1p-20, 30.0), input);
}

// The possible moves of every unit for every state of the other side.
class Moves {
 public:
  Moves(const StateSpace& space, const Rule& rule) : space_(space), tables_(space.units()) {
    for (int parity = 0; parity < 2; ++parity) {
      const Eigen::MatrixXd inputs = space.inputs(parity);
      for (std::size_t k = 0; k < space.side(parity).size(); ++k) {
        const int unit = space.side(parity)[k], n = space.values(unit);
        const Unit kind = space.place(unit).kind;
        for (const double x : inputs.col(static_cast<Eigen::Index>(k)))
          for (int from = 0; from < n; ++from)
            for (int to = 0; to < n; ++to)
              tables_[unit].push_back(can_move(rule, kind, x, from, to));
      }
      for (std::size_t x = 0; x < space.states(); ++x)
        parts_[parity].push_back(static_cast<std::uint32_t>(space.side_part(parity, x)));
    }
  }
  int units() const { return space_.units(); }

  // Whether a unit can have its value in state y next when the state is x.
  bool possible(std::size_t x, std::size_t y, int unit) const {
    const int n = space_.values(unit);
    const std::size_t other = parts_[space_.place(unit).odd ? 0 : 1][x];
    const auto move =
        static_cast<std::size_t>(space_.value_index(unit, x) * n + space_.value_index(unit, y));
    return tables_[unit][other * static_cast<std::size_t>(n * n) + move];
  }

  // Adds to `out` what one unit's update makes of a set, or what it can be made from.
  void unit_step(const Flags& set, Flags& out, int unit, bool forward) const {
    const std::size_t stride = space_.place(unit).stride;
    const auto n = static_cast<std::size_t>(space_.values(unit));
    const std::vector<std::uint32_t>& other = parts_[space_.place(unit).odd ? 0 : 1];
    for (std::size_t block = 0; block < set.size(); block += n * stride)
      for (std::size_t x = block; x < block + stride; ++x) {
        const std::uint8_t* table = &tables_[unit][other[x] * n * n];
        for (std::size_t k = 0; k < n; ++k) {
          if (!set[x + k * stride]) continue;
          for (std::size_t m = 0; m < n; ++m)
            out[x + m * stride] |= forward ? table[k * n + m] : table[m * n + k];
        }
      }
  }

  // Replaces a set by its successors (or predecessors) under the independent updates of one side.
  void side_step(Flags& set, int parity, bool forward) const {
    for (const int unit : space_.side(parity)) {
      Flags next(set.size(), 0);
      unit_step(set, next, unit, forward);
      set = std::move(next);
    }
  }

 private:
  const StateSpace& space_;
  std::vector<Flags> tables_;  // of each unit [state of the other side][from][to]
  std::array<std::vector<std::uint32_t>, 2> parts_;
};

Graph periodic_graph(std::size_t states, const Moves& moves) {
  const auto step = [&moves](const Flags& set, bool forward) {
    Flags next = set;
    moves.side_step(next, forward ? 1 : 0, forward);
    moves.side_step(next, forward ? 0 : 1, forward);
    return next;
  };
  return {states, [step](const Flags& set) { return step(set, true); },
          [step](const Flags& set) { return step(set, false); },
          [&moves](std::size_t x) {
            // Each side must stay: the odd one given x, then the even one given the same.
            for (int u = 0; u < moves.units(); ++u)
              if (!moves.possible(x, x, u)) return false;
            return true;
          }};
}

Graph random_graph(std::size_t states, const Moves& moves) {
  const auto step = [&moves](const Flags& set, bool forward) {
    Flags next(set.size(), 0);
    for (int u = 0; u < moves.units(); ++u) moves.unit_step(set, next, u, forward);
    return next;
  };
  return {states, [step](const Flags& set) { return step(set, true); },
          [step](const Flags& set) { return step(set, false); },
          [&moves](std::size_t x) {
            for (int u = 0; u < moves.units(); ++u)
              if (moves.possible(x, x, u)) return true;
            return false;
          }};
}

// All states that a chain of steps of any length, also none, joins to a state.
Flags reach(const Step& step, std::size_t states, std::size_t from) {
  Flags seen(states, 0);
  seen[from] = 1;
  Flags frontier = seen;
  for (bool grew = true; grew;) {
    grew = false;
    frontier = step(frontier);
    for (std::size_t x = 0; x < states; ++x) {
      frontier[x] = frontier[x] && !seen[x];
      grew = grew || frontier[x];
      seen[x] |= frontier[x];
    }
  }
  return seen;
}

Flags component(const Graph& graph, std::size_t state) {
  Flags both = reach(graph.successors, graph.states, state);
  const Flags back = reach(graph.predecessors, graph.states, state);
  for (std::size_t x = 0; x < graph.states; ++x) both[x] &= back[x];
  return both;
}

// The gcd of level(x) + 1 - level(y) over the edges x -> y inside state 0's component.
int period_of_first(const Graph& graph, const Flags& inside) {
  for (std::size_t x = 0; x < graph.states; ++x)
    if (inside[x] && graph.self_loop(x)) return 1;
  std::vector<int> level(graph.states, -1);
  Flags frontier(graph.states, 0);
  frontier[0] = 1;
  level[0] = 0;
  int gcd = 0;
  for (int depth = 0; std::any_of(frontier.begin(), frontier.end(), [](auto f) { return f; });
       ++depth) {
    Flags next = graph.successors(frontier);
    for (std::size_t y = 0; y < graph.states; ++y) {
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
  return gcd;
}

std::size_t count_components(const Graph& graph, Flags done) {
  std::size_t count = 1;
  if (graph.states > kMaxDenseStates) return 2;
  for (std::size_t x = 0; x < graph.states; ++x) {
    if (done[x]) continue;
    const Flags one = component(graph, x);
    for (std::size_t y = 0; y < graph.states; ++y) done[y] |= one[y];
    ++count;
  }
  return count;
}

Connectivity judge(const Graph& graph) {
  const Flags first = component(graph, 0);
  Connectivity result;
  result.irreducible = std::all_of(first.begin(), first.end(), [](auto f) { return f; });
  result.components = result.irreducible ? 1 : count_components(graph, first);
  result.period = period_of_first(graph, first);
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
  const Moves moves(space, rule);
  return judge(scan == Scan::periodic ? periodic_graph(space.states(), moves)
                                      : random_graph(space.states(), moves));
}

Connectivity connectivity(const Eigen::Ref<const Eigen::MatrixXd>& matrix) {
  if (matrix.rows() != matrix.cols() || matrix.rows() == 0)
    throw InvalidArgument("matrix (must be square and not empty)");
  const auto step = [&matrix](const Flags& set, bool forward) {
    Flags next(set.size(), 0);
    for (std::size_t x = 0; x < set.size(); ++x) {
      if (!set[x]) continue;
      for (std::size_t y = 0; y < set.size(); ++y) {
        const auto i = static_cast<Eigen::Index>(x), j = static_cast<Eigen::Index>(y);
        if ((forward ? matrix(i, j) : matrix(j, i)) > 0) next[y] = 1;
      }
    }
    return next;
  };
  return judge({static_cast<std::size_t>(matrix.rows()),
                [step](const Flags& set) { return step(set, true); },
                [step](const Flags& set) { return step(set, false); },
                [&matrix](std::size_t x) {
                  const auto i = static_cast<Eigen::Index>(x);
                  return matrix(i, i) > 0;
                }});
}

}  // namespace boltzmark
