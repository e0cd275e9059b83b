#pragma once

#include <vector>

#include "boltzmark/sample/top_states.hpp"
#include "boltzmark/transition/chains.hpp"

namespace boltzmark {

/// States of layers that a run met at b = 1, and how often each chain was there, or its weight.
struct VisitedStates {
  std::vector<Chains> states = {};
  std::vector<double> visits = {};  ///< [chains], in the order of the states
};

/// Returns them.  Throws  std::bad_cast if the run's target is of another kind
VisitedStates visited_states(TopStates& top);

}  // namespace boltzmark
