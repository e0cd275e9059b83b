// Errors of integration over a continuous inverse temperature.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "boltzmark/estimate/estimators/continuous_tempering.hpp"
#include "boltzmark/estimate/estimators/thermodynamic_integration.hpp"
#include "boltzmark/random/stream.hpp"
#include "boltzmark/sample/tempering/mixing.hpp"
#include "boltzmark/target/layered_target.hpp"

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
  rest.inverse_temperature.resize(sweeps, left);
  rest.interval.resize(sweeps, left);
  for (Eigen::Index c = 0; c < left; ++c) {
    const Eigen::Index from = c < chain ? c : c + 1;
    rest.log_ratio.col(c) = all.log_ratio.col(from);
    rest.inverse_temperature.col(c) = all.inverse_temperature.col(from);
    rest.interval.col(c) = all.interval.col(from);
  }
  set_density(rest);
  return rest;
}

// The mean over the samples of the density of b given D, from the weights of its intervals' ends.
double mean_density(const ContinuousSamples& samples, double b) {
  std::vector<double> values = {0, 1, b};
  for (int k = 0; k < samples.knots.rungs(); ++k) values.push_back(samples.knots[k]);
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  double mean = 0;
  for (const double d : samples.log_ratio.reshaped()) {
    const auto log_q = [&](double x) {
      int k = 0;
      while (k + 2 < samples.knots.rungs() && samples.knots[k + 1] < x) ++k;
      const double share = (x - samples.knots[k]) / (samples.knots[k + 1] - samples.knots[k]);
      return x * d - (1 - share) * samples.log_z_hat[k] - share * samples.log_z_hat[k + 1];
    };
    double sum = 0;  // of exponentials between values, divided by that at b
    for (std::size_t i = 0; i + 1 < values.size(); ++i) {
      const double low = log_q(values[i]) - log_q(b), high = log_q(values[i + 1]) - log_q(b);
      const double rise = high - low, width = values[i + 1] - values[i];
      sum += width * std::exp(low) * (std::abs(rise) < 1e-9 ? 1 : std::expm1(rise) / rise);
    }
    mean += 1 / sum / static_cast<double>(samples.log_ratio.size());
  }
  return mean;
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

TEST_CASE("integration over a continuous b that was hardly anywhere near a knot is refused") {
  ContinuousSamples samples = sample();
  for (const bool thin : {true, false}) {
    samples.knot_density[2] = thin ? 0.04 : 0.06;
    const Estimate estimate = ti_continuous(samples);
    const auto told = std::count_if(
        estimate.warnings.begin(), estimate.warnings.end(), [](const std::string& warning) {
          return warning.find("times as dense somewhere") != std::string::npos;
        });
    CHECK(told == (thin ? 1 : 0));
    if (thin) CHECK(estimate.status >= Status::not_converged);
  }
}

TEST_CASE("limits of a continuous b hold what the knots leave unknown, above as below") {
  const Estimate sampled = ti_continuous(sample());
  ContinuousSamples samples = sample();
  samples.density *= 1.05;  // what every other knot says is 5 % off
  const Estimate estimate = ti_continuous(samples);
  const double unknown = 0.05 * estimate.log_z;
  CHECK(estimate.std_error == Approx(std::hypot(sampled.std_error / 1.05, unknown)).epsilon(1e-3));
  const double more = 2 * (estimate.std_error - sampled.std_error / 1.05);
  CHECK(more > 0.1);
  const double upper = sampled.upper - sampled.log_z, lower = sampled.log_z - sampled.lower;
  CHECK(estimate.upper - estimate.log_z == Approx(upper / 1.05 + more).epsilon(1e-3));
  CHECK(estimate.log_z - estimate.lower == Approx(lower / 1.05 + more).epsilon(1e-3));
}

TEST_CASE("the density of a continuous b is the mean of those that the samples have for it") {
  ContinuousSamples samples = sample();
  // Zhat off by a wave, so that the density is not flat.
  for (int k = 0; k < samples.knots.rungs(); ++k)
    samples.log_z_hat[k] += std::sin(9 * samples.knots[k]);
  set_density(samples);
  CHECK(samples.knot_density.minCoeff() < 0.6);
  CHECK(samples.knot_density.maxCoeff() > 1.5);
  for (const Eigen::Index place : {0, 17, 301, 1999, 4000}) {
    const double b = samples.inverse_temperature.data()[place];
    // Between knots 1/100 apart the cubic is off by at most h^4 / 384 times the fourth cumulant of
    // D, which is below 10^4 where D has a standard deviation below 10.
    CHECK(samples.density.data()[place] == Approx(mean_density(samples, b)).epsilon(1e-6));
  }
}

TEST_CASE("a continuous b that few chains bring above 0.95 is refused, whatever their trips") {
  // 40 chains: eight of them with as many visits each are a fifth.
  const auto says_visitors = [](Eigen::Index visitors) {
    ContinuousSamples samples = sample();
    samples.inverse_temperature.setConstant(0.505);
    samples.interval.setConstant(50);  // of 100
    for (Eigen::Index c = 0; c < visitors; ++c)
      for (Eigen::Index s = 0; s < 80; ++s) {
        samples.inverse_temperature(s, c) = s % 2 == 0 ? 0.005 : 0.995;
        samples.interval(s, c) = s % 2 == 0 ? 0 : 99;
      }
    const std::vector<std::string> warnings = ti_continuous(samples).warnings;
    return std::any_of(warnings.begin(), warnings.end(), [](const std::string& warning) {
      return warning.find("chains made the visits of the ladder's top") != std::string::npos;
    });
  };
  CHECK(says_visitors(7));
  CHECK_FALSE(says_visitors(8));
}

TEST_CASE("a trip of a continuous b goes from above 0.95 to below 0.05 and back") {
  // All 40 chains go to and fro at every sweep: a hundred trips each, or none.
  const auto says_trips = [](double low, double high) {
    ContinuousSamples samples = sample();
    for (Eigen::Index s = 0; s < samples.log_ratio.rows(); ++s) {
      const double b = s % 2 == 0 ? high : low;
      samples.inverse_temperature.row(s).setConstant(b);
      samples.interval.row(s).setConstant(static_cast<int>(100 * b));  // of 100
    }
    const std::vector<std::string> warnings = ti_continuous(samples).warnings;
    return std::any_of(warnings.begin(), warnings.end(), [](const std::string& warning) {
      return warning.starts_with("0 round trips between the ends of the ladder");
    });
  };
  CHECK_FALSE(says_trips(0.045, 0.955));
  CHECK(says_trips(0.055, 0.955));
  CHECK(says_trips(0.045, 0.945));
}

TEST_CASE("two trips a chain are needed of a continuous b as of rungs") {
  // Of 40 chains ten go to and fro: eight times each is enough, seven times is not.
  const auto says_trips = [](Eigen::Index trips) {
    ContinuousSamples samples = sample();
    samples.inverse_temperature.setConstant(0.505);
    for (Eigen::Index c = 0; c < 10; ++c)
      for (Eigen::Index s = 0; s < 2 * trips + 1; ++s)
        samples.inverse_temperature(s, c) = s % 2 == 0 ? 0.995 : 0.005;
    const std::vector<std::string> warnings = ti_continuous(samples).warnings;
    return std::any_of(warnings.begin(), warnings.end(), [](const std::string& warning) {
      return warning.find("70 round trips between the ends of the ladder (fewer than 80)") !=
             std::string::npos;
    });
  };
  CHECK(says_trips(7));
  CHECK_FALSE(says_trips(8));
}

TEST_CASE("a trip goes from the top rung to the bottom one and back") {
  Eigen::MatrixXi rung(9, 2);
  rung.col(0) << 0, 2, 1, 0, 1, 0, 2, 0, 2;  // two trips after the first visit of the top
  rung.col(1) << 2, 1, 2, 1, 0, 1, 1, 0, 1;  // the way back is not done
  CHECK(traffic_of(rung, 3).trips == 2);
}

TEST_CASE("an integral beyond all the D that it is of is refused") {
  // All D are 2, so log Z is; densities that are half of what they must be make it 4.
  const Eigen::MatrixXd ratio = Eigen::MatrixXd::Constant(20, 16, 2.0);
  const Estimate right = ti_continuous(ratio, Eigen::MatrixXd::Ones(20, 16)),
                 wrong = ti_continuous(ratio, Eigen::MatrixXd::Constant(20, 16, 0.5));
  CHECK(right.log_z == 2);
  CHECK(right.status == Status::ok);
  CHECK(wrong.log_z == 4);
  CHECK(wrong.status == Status::not_converged);
}
