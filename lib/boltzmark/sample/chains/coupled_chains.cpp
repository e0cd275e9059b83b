#include "boltzmark/sample/chains/coupled_chains.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "boltzmark/core/error.hpp"

namespace boltzmark {
namespace {

CouplingOptions checked_coupling(const CouplingOptions& coupling) {
  if (coupling.lag < 1)
    throw InvalidArgument(fmt::format("lag = {} (must be at least 1)", coupling.lag));
  return coupling;
}

}  // namespace

bool exchanges(SwapRule rule, bool at_lag, int before, int after, int top) {
  switch (rule) {
    case SwapRule::last:
      return at_lag;
    case SwapRule::lag:
      return at_lag && after == top;
    case SwapRule::each:
      return after == top;
    case SwapRule::entry:
      return after == top && before != top;
  }
  return false;
}

CoupledChains::CoupledChains(const SamplerSetup& setup, AdaptiveOptions options,
                             CouplingOptions coupling)
    : chains_(setup, setup.packing.chains, std::move(options)),
      coupling_(checked_coupling(coupling)) {}

void CoupledChains::advance(int sweeps) {
  for (int s = 0; s < sweeps; ++s) {
    chains_.sweep();
    couple();
  }
}

void CoupledChains::couple() {
  std::vector<int> before;
  for (int slow = 0; slow < chains(); ++slow) before.push_back(chains_.rung(chains() + slow));
  chains_.move_rungs();
  const bool at_lag = chains_.sweeps() % static_cast<std::uint64_t>(coupling_.lag) == 0;
  for (int slow = 0; slow < chains(); ++slow) {
    const int fast = chains() + slow;
    if (!exchanges(coupling_.swap, at_lag, before[slow], chains_.rung(fast), chains_.rungs() - 1))
      continue;
    if (coupling_.swap == SwapRule::last) chains_.return_to_top(fast);
    chains_.exchange(slow, fast);
  }
}

void CoupledChains::copy_states(Chains& out) const {
  if (out.chains() < chains())
    throw InvalidArgument(
        fmt::format("out = {} chains (must be at least {})", out.chains(), chains()));
  for (int slow = 0; slow < chains(); ++slow) out.copy_chain(slow, chains_.states(), slow);
}

}  // namespace boltzmark
