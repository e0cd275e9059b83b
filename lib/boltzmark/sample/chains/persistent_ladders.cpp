#include "boltzmark/sample/chains/persistent_ladders.hpp"

#include <fmt/format.h>

#include <utility>

#include "boltzmark/core/error.hpp"

namespace boltzmark {

PersistentLadders::PersistentLadders(const SamplerSetup& setup,
                                     std::vector<float> inverse_temperatures, int sweeps)
    : packed_(setup.model, setup.packing),
      ladders_(setup.model, setup.packing.chains,
               {.inverse_temperatures = std::move(inverse_temperatures),
                .rule = setup.rule,
                .sweeps = sweeps}),
      draws_(setup.draws) {
  ladders_.chains().randomise(setup.key);
  if (setup.start == nullptr) return;
  const Chains start = initial_states(setup);
  for (int bundle = 0; bundle < ladders_.bundles(); ++bundle)
    for (int t = 0; t < ladders_.temperatures(); ++t)
      ladders_.chains().copy_chain(ladders_.chain_at(bundle, t), start, bundle);
}

void PersistentLadders::advance(int sweeps) {
  const int step = ladders_.options().sweeps;
  if (step < 1 || sweeps % step != 0)
    throw InvalidArgument(fmt::format("sweeps = {} (must be a multiple of {})", sweeps, step));
  for (int done = 0; done < sweeps; done += step) ladders_.step(packed_, *draws_);
}

void PersistentLadders::copy_states(Chains& out) const {
  ladders_.gather(ladders_.temperatures() - 1, out);
}

std::vector<int> PersistentLadders::rungs() const {
  const int rungs = ladders_.temperatures();
  std::vector<int> all;
  for (int bundle = 0; bundle < chains(); ++bundle)
    all.push_back(ladders_.chain_at(bundle, rungs - 1) % rungs);
  return all;
}

}  // namespace boltzmark
