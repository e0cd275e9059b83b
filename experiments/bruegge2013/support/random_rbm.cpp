#include "experiments/bruegge2013/support/random_rbm.hpp"

#include <utility>

namespace boltzmark::experiments {
namespace {

Layered draw_square_rbm(int n, double c, bool with_biases, Stream& stream) {
  Eigen::MatrixXd weights(n, n);
  Eigen::VectorXd visible = Eigen::VectorXd::Zero(n), hidden = visible;
  for (double& w : weights.reshaped()) w = stream.uniform(-c, c);
  if (with_biases)
    for (Eigen::VectorXd* biases : {&visible, &hidden})
      for (double& bias : *biases) bias = stream.uniform(-c, c);
  return Layered::rbm(std::move(weights), std::move(visible), std::move(hidden));
}

}  // namespace

void for_each_rbm(const SquareRbms& rbms, StreamKey key, const TrialContext& context,
                  const std::function<void(const Layered&, Stream&)>& body) {
  for (int i = 0; i < rbms.count; ++i) {
    Stream stream(key, Purpose::initial_weights, static_cast<std::uint64_t>(rbms.first + i));
    body(draw_square_rbm(rbms.units, rbms.c, rbms.with_biases, stream), stream);
    context.progress(static_cast<double>(i + 1) / rbms.count);
  }
}

}  // namespace boltzmark::experiments
