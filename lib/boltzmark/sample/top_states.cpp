#include "boltzmark/sample/top_states.hpp"

#include <fmt/format.h>

#include "boltzmark/core/error.hpp"
#include "boltzmark/target/layered_target.hpp"

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
  for (int g = 0; g < top.states.groups(); ++g)
    visited.states.push_back(
        dynamic_cast<LayeredPopulation&>(top.states.group(g)).tempered_chains().states());
  return visited;
}

}  // namespace boltzmark
