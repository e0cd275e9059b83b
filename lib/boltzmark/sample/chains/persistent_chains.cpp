#include "boltzmark/sample/chains/persistent_chains.hpp"

namespace boltzmark {

PersistentChains::PersistentChains(const SamplerSetup& setup)
    : packed_(setup.model, setup.packing),
      chains_(initial_states(setup)),
      rule_(setup.rule),
      draws_(setup.draws) {}

void PersistentChains::advance(int sweeps) {
  sweep(packed_, chains_, *draws_,
        {.rule = rule_, .first_sweep = set_aside(sweeps), .sweeps = sweeps});
}

std::uint64_t PersistentChains::set_aside(int sweeps) {
  const std::uint64_t first = sweeps_;
  sweeps_ += static_cast<std::uint64_t>(sweeps);
  return first;
}

void PersistentChains::save(CheckpointWriter& out) const {
  out.write(sweeps_);
  save_states(chains_, out);
}

void PersistentChains::restore(CheckpointReader& in) {
  sweeps_ = in.read();
  restore_states(chains_, in);
}

}  // namespace boltzmark
