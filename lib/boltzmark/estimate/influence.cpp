#include "boltzmark/estimate/influence.hpp"

namespace boltzmark {

void set_error(Estimate& estimate, const Eigen::MatrixXd& influences, int batches) {
  const Eigen::Index sweeps = influences.rows();
  Eigen::VectorXd groups(influences.cols() * batches);
  for (Eigen::Index g = 0; g < groups.size(); ++g) {
    const Eigen::Index batch = g % batches;
    const Eigen::Index first = batch * sweeps / batches, last = (batch + 1) * sweeps / batches;
    groups[g] = influences.col(g / batches).segment(first, last - first).sum();
  }
  const auto samples = static_cast<double>(influences.size());
  set_error(estimate, groups, samples, influences.squaredNorm() / samples);
}

}  // namespace boltzmark
