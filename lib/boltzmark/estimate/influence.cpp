#include "boltzmark/estimate/influence.hpp"

#include "boltzmark/sample/sample_store.hpp"

namespace boltzmark {

void set_error(Estimate& estimate, const Eigen::MatrixXd& influences) {
  const Eigen::Index sweeps = influences.rows();
  const int batches = batches_per_chain(influences.cols(), sweeps);
  Eigen::VectorXd groups(influences.cols() * batches);
  for (Eigen::Index g = 0; g < groups.size(); ++g) {
    const Eigen::Index batch = g % batches;
    const Eigen::Index first = batch * sweeps / batches, last = (batch + 1) * sweeps / batches;
    groups[g] = influences.col(g / batches).segment(first, last - first).sum();
  }
  const auto samples = static_cast<double>(influences.size());
  set_error(estimate, {.groups = groups,
                       .batches = batches,
                       .samples = samples,
                       .mean_square = influences.squaredNorm() / samples});
}

}  // namespace boltzmark
