#pragma once

#include <vector>

#include "boltzmark/sample/annealing/annealing.hpp"
#include "boltzmark/transition/chains.hpp"
#include "experiments/kit/ranks/rank_link.hpp"

namespace boltzmark::experiments {

/// Has the ranks share the chains of runs that all of them make. The link must outlive it.
SharedChains share_chains(RankLink& link);

/// Gathers the states of shared chains at every rank. All ranks call it.
/// own  of this rank's range, in order; a rank whose range is empty may have any
Chains gather_states(RankLink& link, const Layered& model, int chains,
                     const std::vector<Chains>& own);

}  // namespace boltzmark::experiments
