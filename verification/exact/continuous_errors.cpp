// Errors of integration over a continuous inverse temperature.
#include "boltzmark/estimate/continuous_tempering.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "boltzmark/estimate/layered_target.hpp"
#include "boltzmark/estimate/sample_store.hpp"
#include "boltzmark/estimate/thermodynamic_integration.hpp"
#include "boltzmark/random/stream.hpp"

using namespace boltzmark;

namespace {

ContinuousSamples sample() {
  Stream stream(make_key(3), Purpose::test);
  Eigen::MatrixXd weights(7, 5);
  for (double& w : weights.reshaped()) w = stream.uniform(-2, 2);
  const Layered model =
      Layered::rbm(weights, Eigen::VectorXd::Constant(7, 0.5), Eigen::VectorXd::Constant(5, -1));
  return continuous_tempering(
      LayeredTarget(model, Base::uniform(model)),
      {.chains = 40, .sweeps = 400, .knots = Ladder::linear(6), .key = make_key(3)});
}

// The samples of all chains but one, with the density that these alone give.
ContinuousSamples without_chain(const ContinuousSamples& all, Eigen::Index chain) {
  const Eigen::Index sweeps = all.log_ratio.rows(), left = all.log_ratio.cols() - 1;
  ContinuousSamples rest = all;
  rest.log_ratio.resize(sweeps, left);
  rest.density.resize(sweeps, left);
  rest.interval.resize(sweeps, left);
  rest.occupancy.setZero();
  Eigen::VectorXd masses;
  for (Eigen::Index c = 0; c < left; ++c) {
    rest.log_ratio.col(c) = all.log_ratio.col(c < chain ? c : c + 1);
    rest.interval.col(c) = all.interval.col(c < chain ? c : c + 1);
    for (Eigen::Index s = 0; s < sweeps; ++s) {
      interval_probabilities(rest.knots, rest.log_z_hat, rest.log_ratio(s, c), masses);
      rest.occupancy += masses / static_cast<double>(sweeps * left);
    }
  }
  for (Eigen::Index n = 0; n < rest.density.size(); ++n) {
    const int k = rest.interval.data()[n];
    rest.density.data()[n] = rest.occupancy[k] / (rest.knots[k + 1] - rest.knots[k]);
  }
  return rest;
}

}  // namespace

TEST_CASE("the error of integration over a continuous b is what leaving chains out gives") {
  const ContinuousSamples all = sample();
  const auto chains = static_cast<double>(all.log_ratio.cols());
  Eigen::VectorXd left_out(all.log_ratio.cols());
  for (Eigen::Index c = 0; c < left_out.size(); ++c)
    left_out[c] = ti_continuous(without_chain(all, c)).log_z;
  const double jackknife =
      std::sqrt((chains - 1) / chains * (left_out.array() - left_out.mean()).square().sum());
  const Estimate estimate = ti_continuous(all);
  // Both are first-order: they differ by a share of order 1 / chains.
  CHECK(estimate.std_error == Approx(jackknife).epsilon(0.05));
  // The plain terms D / p(b) vary with b itself, which the estimated density takes out.
  CHECK(ti_continuous(all.log_ratio, all.density).std_error > 1.2 * estimate.std_error);
}

TEST_CASE("a trip goes from the top rung to the bottom one and back") {
  Eigen::MatrixXi rung(9, 2);
  rung.col(0) << 0, 2, 1, 0, 1, 0, 2, 0, 2;  // two trips after the first visit of the top
  rung.col(1) << 2, 1, 2, 1, 0, 1, 1, 0, 1;  // the way back is not done
  CHECK(round_trips(rung, 3) == 2);
}
