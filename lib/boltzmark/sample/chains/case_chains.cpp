#include "boltzmark/sample/chains/case_chains.hpp"

#include <algorithm>

namespace boltzmark {

CaseChains::CaseChains(const SamplerSetup& setup)
    : chains_(setup.model, setup.packing.chains), draws_(setup.draws) {}

void CaseChains::start_at(const Chains& cases, std::span<const float> inputs,
                          std::span<const float> weights) {
  const std::size_t values = static_cast<std::size_t>(cases.blocks()) * cases.size(0) * kChainBlock;
  std::copy_n(cases.block(0, 0), values, chains_.block(0, 0));
  inputs_ = inputs;
  weights_.assign(weights.begin(), weights.end());
}

void CaseChains::advance(int sweeps) {
  move(chains_, *draws_, inputs_, sweeps_, sweeps);
  sweeps_ += static_cast<std::uint64_t>(sweeps);
}

}  // namespace boltzmark
