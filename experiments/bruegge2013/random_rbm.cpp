#include "experiments/bruegge2013/random_rbm.hpp"

#include <utility>

namespace boltzmark::experiments {

Layered draw_square_rbm(int n, double c, bool with_biases, Stream& stream) {
  Eigen::MatrixXd weights(n, n);
  Eigen::VectorXd visible = Eigen::VectorXd::Zero(n), hidden = visible;
  for (double& w : weights.reshaped()) w = stream.uniform(-c, c);
  if (with_biases)
    for (Eigen::VectorXd* biases : {&visible, &hidden})
      for (double& bias : *biases) bias = stream.uniform(-c, c);
  return Layered::rbm(std::move(weights), std::move(visible), std::move(hidden));
}

}  // namespace boltzmark::experiments
