// Chains of an RBM whose visible units are Gaussian, against the exact law of both layers.
#include <catch2/catch.hpp>
#include <cmath>
#include <memory>

#include "boltzmark/sample/chains/persistent_chains.hpp"
#include "check_decision.hpp"

using namespace boltzmark;
using namespace boltzmark::verification;

namespace {

const StatisticalTest kGaussianChains({.name = "units: chains of a Gaussian RBM",
                                       .false_alarm = 1e-9,
                                       .deviation = 0.01});

// Modes of v that overlap, so that 50 sweeps forget their start.
const Eigen::Vector2d kGaussianMeans(0.5, -1), kGaussianScales(1.5, 0.5);

Layered overlapping_rbm() {
  Eigen::Matrix2d weights;
  weights << 0.8, -0.5, 1, 1.5;
  return {{{.unit = Unit::gaussian(), .bias = kGaussianMeans, .sigma0 = kGaussianScales},
           {.unit = Unit::bernoulli(), .bias = Eigen::Vector2d(0.3, 0.8), .sigma0 = {}}},
          {weights}};
}

// P(h, v_0 > 1): p(h) by completing the squares, and given it v_0 ~ N(a + sigma^2 W h, sigma^2).
std::vector<double> joint_probabilities(const Layered& model) {
  std::vector<double> p;
  double total = 0;
  for (int k = 0; k < 4; ++k) {
    const Eigen::Vector2d h(k & 1, k >> 1), u = model.weights(0) * h;
    const double weight = std::exp(model.bias(1).dot(h) + kGaussianMeans.dot(u) +
                                   kGaussianScales.cwiseProduct(u).squaredNorm() / 2);
    const double z = (1 - kGaussianMeans[0] - kGaussianScales[0] * kGaussianScales[0] * u[0]) /
                     kGaussianScales[0];
    const double above = std::erfc(z / M_SQRT2) / 2;
    p.insert(p.end(), {weight * (1 - above), weight * above});
    total += weight;
  }
  for (double& probability : p) probability /= total;
  return p;
}

std::vector<std::size_t> after_sweeps(std::size_t chains, StreamKey key) {
  const Layered model = overlapping_rbm();
  PersistentChains sampler({.model = model,
                            .packing = {.chains = static_cast<int>(chains)},
                            .key = key,
                            .draws = std::make_shared<PhiloxDraws>(key)});
  sampler.advance(50);
  std::vector<std::size_t> outcomes;
  const Chains& states = sampler.states();
  for (int c = 0; c < states.chains(); ++c) {
    const std::size_t h = (states.get(1, 0, c) > 0 ? 1 : 0) + (states.get(1, 1, c) > 0 ? 2 : 0);
    outcomes.push_back(2 * h + (states.get(0, 0, c) > 1 ? 1 : 0));
  }
  return outcomes;
}

}  // namespace

// A sweep draws v last, given h: both are from the joint law once the chain is.
TEST_CASE("the chains of a Gaussian RBM have the exact law of both layers") {
  check(decide_frequencies(kGaussianChains, joint_probabilities(overlapping_rbm()), after_sweeps));
}
