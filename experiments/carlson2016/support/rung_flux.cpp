#include "experiments/carlson2016/support/rung_flux.hpp"

namespace boltzmark::experiments {

Eigen::MatrixXd count_transitions(const SampleStore& store) {
  Eigen::MatrixXd counts = Eigen::MatrixXd::Zero(store.rungs(), store.rungs());
  for (Eigen::Index chain = 0; chain < store.chains(); ++chain)
    for (Eigen::Index sweep = 0; sweep + 1 < store.sweeps(); ++sweep)
      counts(store.rung(sweep, chain), store.rung(sweep + 1, chain)) += 1;
  return counts;
}

std::vector<double> relative_flux(const Eigen::MatrixXd& transitions) {
  const double all = transitions.sum();
  std::vector<double> flux;
  for (Eigen::Index k = 1; k < transitions.rows(); ++k) {
    const double below = transitions.topRows(k).sum() / all, independent = below * (1 - below);
    const double up = transitions.topRightCorner(k, transitions.cols() - k).sum() / all;
    flux.push_back(independent > 0 ? up / independent : 0);
  }
  return flux;
}

}  // namespace boltzmark::experiments
