#include "boltzmark/exact/known/plain_rbm.hpp"

#include <cmath>

namespace boltzmark {

double flip_half(PlainRbm& rbm, Stream& draws) {
  double lost = 0;
  for (Eigen::Index i = 0; i < rbm.below.size(); ++i) {
    if (!draws.bernoulli(0.5)) continue;
    lost += rbm.below[i];
    rbm.above += rbm.weights.row(i).transpose();
    rbm.below[i] *= -1;
    rbm.weights.row(i) *= -1;
  }
  for (Eigen::Index j = 0; j < rbm.above.size(); ++j) {
    if (!draws.bernoulli(0.5)) continue;
    lost += rbm.above[j];
    rbm.below += rbm.weights.col(j);
    rbm.above[j] *= -1;
    rbm.weights.col(j) *= -1;
  }
  return lost;
}

double rounding_of(const PlainRbm& rbm, double log_z) {
  return 1e-14 * (std::abs(log_z) + rbm.below.lpNorm<1>() + rbm.above.lpNorm<1>() +
                  rbm.weights.lpNorm<1>());
}

}  // namespace boltzmark
