#include <fmt/format.h>

#include "boltzmark/exact/spectrum/spectrum.hpp"
#include "boltzmark/random/stream.hpp"
#include "experiments/speed/contender.hpp"
#include "experiments/speed/workload.hpp"

namespace boltzmark::speed {
namespace {

Layered uniform_rbm(int units) {
  Stream stream(make_key(2, "speed"), Purpose::initial_weights);
  Eigen::MatrixXd weights(units, units);
  for (double& w : weights.reshaped()) w = stream.uniform(-1, 1);
  return Layered::rbm(weights, Eigen::VectorXd::Zero(units), Eigen::VectorXd::Zero(units));
}

}  // namespace

void add_spectra() {
  for (const int units : {5, 7})
    for (const int threads : thread_counts())
      add({.work = fmt::format("spectrum of T/{}x{}: 2^{} states", units, units, 2 * units),
           .name = "boltzmark",
           .threads = threads,
           .make = [=] {
             return [model = uniform_rbm(units)] { spectrum(model, Rule::flip()); };
           }});
}

}  // namespace boltzmark::speed
