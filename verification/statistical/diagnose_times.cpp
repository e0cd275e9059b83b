// How far the intervals of autocorrelation times can be trusted, on chains with known times.
#include <Eigen/Core>
#include <catch2/catch.hpp>
#include <cmath>

#include "boltzmark/diagnose/autocorrelation_time.hpp"
#include "check_decision.hpp"

namespace {

using boltzmark::Stream;
using boltzmark::verification::check;
using boltzmark::verification::Claim;
using boltzmark::verification::decide_proportion;
using boltzmark::verification::one_by_one;
using boltzmark::verification::StatisticalTest;

// The intervals are asymptotic: each test states a coverage that they reach at this length of
// chain, and the shortfall that must be seen.
const StatisticalTest geyer_ar1{{.name = "Geyer's interval covers, AR(1)", .deviation = 0.07}};
const StatisticalTest geyer_states{
    {.name = "Geyer's interval covers, two states", .deviation = 0.07}};
const StatisticalTest geyer_chains{
    {.name = "Geyer's interval covers, 8 chains", .deviation = 0.07}};
const StatisticalTest ar_ar1{{.name = "the AR interval covers, AR(1)", .deviation = 0.08}};
const StatisticalTest batch_states{{.name = "batch means cover, two states", .deviation = 0.07}};
const StatisticalTest sound_refused{{.name = "sound chains are refused seldom", .deviation = 0.08}};
const StatisticalTest rotation_refused{{.name = "rotating chains are refused", .deviation = 0.1}};

// x_t = phi x_{t-1} + normal, from its stationary law: tau = (1 + phi) / (1 - phi).
Eigen::MatrixXd ar1(Stream& stream, double phi, Eigen::Index steps, Eigen::Index chains = 1) {
  Eigen::MatrixXd x(steps, chains);
  for (Eigen::Index c = 0; c < chains; ++c) {
    double value = stream.normal() / std::sqrt(1 - phi * phi);
    for (Eigen::Index t = 0; t < steps; ++t) {
      x(t, c) = value;
      value = phi * value + stream.normal();
    }
  }
  return x;
}

// Two states, P(1) = 0.3, second eigenvalue lambda: tau = (1 + lambda) / (1 - lambda).
Eigen::MatrixXd two_states(Stream& stream, double lambda, Eigen::Index steps) {
  Eigen::MatrixXd x(steps, 1);
  double value = stream.uniform() < 0.3;
  for (Eigen::Index t = 0; t < steps; ++t) {
    x(t, 0) = value;
    value = stream.uniform() < 0.3 + lambda * (value - 0.3);
  }
  return x;
}

// The real part of a damped rotation, autocovariance r^k cos(w k): not reversible with its phase.
Eigen::MatrixXd rotation(Stream& stream, Eigen::Index steps) {
  const double r = 0.97, w = 0.1;
  double re = 0, im = 0;
  Eigen::MatrixXd x(steps, 1);
  for (Eigen::Index t = -300; t < steps; ++t) {  // r^300 = 1e-4 of the start is left
    if (t >= 0) x(t, 0) = re;
    const double turned = r * (std::cos(w) * re - std::sin(w) * im) + stream.normal();
    im = r * (std::sin(w) * re + std::cos(w) * im) + stream.normal();
    re = turned;
  }
  return x;
}

bool covers(const boltzmark::TimeEstimate& estimate, double tau) {
  return estimate.lower <= tau && tau <= estimate.upper;
}

}  // namespace

TEST_CASE("Geyer's interval covers the time of an AR(1) chain of 260 times it") {
  check(decide_proportion(geyer_ar1, 0.93, Claim::at_least, one_by_one<int>([](Stream& s) {
                            return covers(boltzmark::geyer_time(ar1(s, 0.9, 5000)), 19);
                          })));
}

TEST_CASE("Geyer's interval covers the time of a two-state chain") {
  check(decide_proportion(geyer_states, 0.92, Claim::at_least, one_by_one<int>([](Stream& s) {
                            return covers(boltzmark::geyer_time(two_states(s, 0.9, 5000)), 19);
                          })));
}

TEST_CASE("Geyer's interval covers the time of 8 independent chains") {
  check(decide_proportion(geyer_chains, 0.93, Claim::at_least, one_by_one<int>([](Stream& s) {
                            return covers(boltzmark::geyer_time(ar1(s, 0.9, 1000, 8)), 19);
                          })));
}

TEST_CASE("the autoregressive interval covers the time of an AR(1) chain") {
  check(decide_proportion(ar_ar1, 0.88, Claim::at_least, one_by_one<int>([](Stream& s) {
                            return covers(boltzmark::ar_act(ar1(s, 0.9, 5000)), 19);
                          })));
}

TEST_CASE("batch means cover the time of a two-state chain") {
  check(decide_proportion(batch_states, 0.92, Claim::at_least, one_by_one<int>([](Stream& s) {
                            const auto x = two_states(s, 0.5, 3000);
                            return covers(boltzmark::batch_means_time(x, 60), 3);
                          })));
}

TEST_CASE("a sound chain is refused in at most one case of twenty") {
  check(decide_proportion(sound_refused, 0.05, Claim::at_most, one_by_one<int>([](Stream& s) {
                            const auto x = ar1(s, 0.5, 6000);
                            return !boltzmark::judge_autocorrelation_time(x).decided();
                          })));
}

TEST_CASE("a rotating chain, on which Geyer's sum is wrong, is refused") {
  check(decide_proportion(rotation_refused, 0.97, Claim::at_least, one_by_one<int>([](Stream& s) {
                            const auto x = rotation(s, 20000);
                            return !boltzmark::judge_autocorrelation_time(x).decided();
                          })));
}
