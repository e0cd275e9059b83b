#include "boltzmark/estimate/target.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/transition/chains.hpp"

namespace boltzmark {

Populations::Populations(const Target& target, int chains, StreamKey key) : chains_(chains) {
  if (chains < 1) throw InvalidArgument(fmt::format("chains = {} (must be at least 1)", chains));
  const int blocks = (chains + kChainBlock - 1) / kChainBlock;
  const int groups = std::min(blocks, thread_count());
  for (int g = 0; g < groups; ++g) {
    const int first = g * blocks / groups * kChainBlock;
    const int last = std::min(chains, (g + 1) * blocks / groups * kChainBlock);
    first_chains_.push_back(first);
    groups_.push_back(target.populate(first, last - first, key));
  }
}

void Populations::for_each(const std::function<void(Population&, int)>& body) {
  parallel_for(groups_.size(), [&](std::size_t g) { body(*groups_[g], first_chains_[g]); });
}

}  // namespace boltzmark
