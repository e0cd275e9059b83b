#include "boltzmark/sample/coupled_chains.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>
#include <vector>

#include "boltzmark/core/error.hpp"

namespace boltzmark {
namespace {

constexpr std::array<std::string_view, 4> kCouplings = {"last", "lag", "each", "entry"};

CouplingOptions checked_coupling(const CouplingOptions& coupling) {
  if (coupling.lag < 1)
    throw InvalidArgument(fmt::format("lag = {} (must be at least 1)", coupling.lag));
  return coupling;
}

}  // namespace

std::string_view name(Coupling coupling) { return kCouplings[static_cast<std::size_t>(coupling)]; }

std::optional<Coupling> parse_coupling(std::string_view text) {
  for (std::size_t i = 0; i < kCouplings.size(); ++i)
    if (kCouplings[i] == text) return static_cast<Coupling>(i);
  return std::nullopt;
}

bool exchanges(Coupling coupling, bool at_lag, int before, int after, int top) {
  switch (coupling) {
    case Coupling::last:
      return at_lag;
    case Coupling::lag:
      return at_lag && after == top;
    case Coupling::each:
      return after == top;
    case Coupling::entry:
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
    if (!exchanges(coupling_.coupling, at_lag, before[slow], chains_.rung(fast),
                   chains_.rungs() - 1))
      continue;
    if (coupling_.coupling == Coupling::last) chains_.return_to_top(fast);
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
