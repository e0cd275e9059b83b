#include "boltzmark/sample/annealing/shared_chains.hpp"

#include <algorithm>
#include <cstdint>

#include "boltzmark/transition/chains.hpp"

namespace boltzmark {

ChainRange SharedChains::range(int chains) const {
  const std::int64_t blocks = (chains + kChainBlock - 1) / kChainBlock;
  const auto first_of = [&](int r) {
    return std::min(chains, static_cast<int>(blocks * r / ranks) * kChainBlock);
  };
  return {first_of(rank), first_of(rank + 1) - first_of(rank)};
}

}  // namespace boltzmark
