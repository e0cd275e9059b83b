#include "boltzmark/sample/persistent_chains.hpp"

namespace boltzmark {

PersistentChains::PersistentChains(const SamplerSetup& setup)
    : packed_(setup.model, setup.packing),
      chains_(setup.model, setup.packing.chains),
      rule_(setup.rule),
      draws_(setup.draws) {
  chains_.randomise(setup.key);
}

void PersistentChains::advance(int sweeps) {
  sweep(packed_, chains_, *draws_, {.rule = rule_, .first_sweep = sweeps_, .sweeps = sweeps});
  sweeps_ += static_cast<std::uint64_t>(sweeps);
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
