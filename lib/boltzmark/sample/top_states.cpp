#include "boltzmark/sample/top_states.hpp"

#include "boltzmark/target/layered_target.hpp"

namespace boltzmark {

VisitedStates visited_states(TopStates& top) {
  VisitedStates visited{.visits = top.visits};
  for (int g = 0; g < top.states.groups(); ++g)
    visited.states.push_back(
        dynamic_cast<LayeredPopulation&>(top.states.group(g)).tempered_chains().states());
  return visited;
}

}  // namespace boltzmark
