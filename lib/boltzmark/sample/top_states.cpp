#include "boltzmark/sample/top_states.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "boltzmark/core/error.hpp"

namespace boltzmark {

void require_chains(const TopStates* top, int chains) {
  if (top == nullptr) return;
  const auto visits = static_cast<int>(top->visits.size());
  if (top->states.chains() != chains || visits != chains)
    throw InvalidArgument(fmt::format("top_states = {} chains, {} visits (must be {}, the run's)",
                                      top->states.chains(), visits, chains));
}

VisitedStates visited_states(TopStates& top) {
  VisitedStates visited{.visits = top.visits};
  constexpr double kLeast = 0x1p-256;  // whose square, and that of a 2^-256th of it, are numbers
  const auto greatest = std::max_element(visited.visits.begin(), visited.visits.end());
  if (greatest != visited.visits.end() && *greatest > 0 && *greatest < kLeast)
    for (const double all = *greatest; double& weight : visited.visits) weight /= all;
  for (int g = 0; g < top.states.groups(); ++g)
    visited.states.push_back(top.states.group(g).layer_states());
  return visited;
}

}  // namespace boltzmark
