#include "experiments/carlson2016/rung_flux.hpp"

namespace boltzmark::experiments {

std::vector<double> relative_flux(const SampleStore& store) {
  std::vector<double> crossings(static_cast<std::size_t>(store.rungs()), 0.0), visits = crossings;
  double transitions = 0;
  for (Eigen::Index chain = 0; chain < store.chains(); ++chain)
    for (Eigen::Index sweep = 0; sweep + 1 < store.sweeps(); ++sweep) {
      const int from = store.rung(sweep, chain), to = store.rung(sweep + 1, chain);
      visits[static_cast<std::size_t>(from)] += 1;
      transitions += 1;
      for (int k = from; k < to; ++k) crossings[static_cast<std::size_t>(k)] += 1;
    }
  std::vector<double> flux;
  double below = 0;
  for (std::size_t k = 0; k + 1 < crossings.size(); ++k) {
    below += visits[k] / transitions;
    const double independent = below * (1 - below);
    flux.push_back(independent > 0 ? crossings[k] / transitions / independent : 0);
  }
  return flux;
}

}  // namespace boltzmark::experiments
