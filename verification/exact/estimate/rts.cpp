// RTS, TS, the mixed likelihood and the chain over rungs, where arithmetic decides.
#include "boltzmark/estimate/estimators/rts.hpp"

#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <catch2/catch.hpp>
#include <cmath>

#include "boltzmark/core/error.hpp"
#include "boltzmark/estimate/estimators/markov_chain.hpp"
#include "boltzmark/sample/sample_store.hpp"
#include "verification/checks/laws/rts_likelihood.hpp"
#include "verification/exact/support/gaussian_tempering.hpp"

namespace {

using namespace estimate_test;
using Eigen::VectorXd;

// Two rungs, three samples on each of two chains.
SampleStore two_rung_store() {
  SampleStore store{.ladder = Ladder::linear(2),
                    .log_prior = Eigen::Vector2d(std::log(0.25), std::log(0.75)),
                    .log_z_hat = Eigen::Vector2d(0, 1.5),
                    .log_ratio = Eigen::MatrixXd(3, 2),
                    .rung = Eigen::MatrixXi(3, 2)};
  store.log_ratio << 1, 2, 0.5, -1, 3, 1.5;
  store.rung << 1, 0, 0, 1, 1, 1;
  return store;
}

VectorXd exact_occupancies(const SampleStore& store, const GaussianTarget& target) {
  VectorXd c(store.rungs());
  for (int k = 0; k < store.rungs(); ++k) c[k] = target.log_z(store.ladder[k]);
  c = (c + store.log_prior - store.log_z_hat).array().exp();
  return c / c.sum();
}

}  // namespace

TEST_CASE("RTS returns the exact log Z from exact occupancies, whatever K and Zhat") {
  const GaussianTarget target{2, 9};
  for (int rungs = 2; rungs <= 50; ++rungs) {
    const SampleStore store = empty_store(target, {rungs, 1, 1});
    const VectorXd c = exact_occupancies(store, target);
    const VectorXd log_z = log_z_from_occupancies(c, store.log_prior, store.log_z_hat);
    for (int k = 0; k < rungs; ++k)  // values below 10, three roundings
      CHECK(log_z[k] == Approx(target.log_z(store.ladder[k])).margin(1e-13));
    VectorXd partial = store.log_z_hat;
    for (int t = 0; t < 3; ++t) partial = partial_rts_update(c, store.log_prior, partial, 0.5);
    const VectorXd rest = log_z - partial;  // c is that of the first Zhat: 1 - 3 / 2 is left
    CHECK((rest + 0.5 * (log_z - store.log_z_hat)).norm() < 1e-12);
  }
}

TEST_CASE("the update of self-adjusted mixture sampling is that of RTS to first order") {
  const VectorXd prior = VectorXd::Constant(4, std::log(0.25)), start = VectorXd::Zero(4);
  for (const double e : {1e-2, 1e-3, 1e-4}) {
    const Eigen::Vector4d c = Eigen::Vector4d(1 + e, 1 - 2 * e, 1 + 3 * e, 1 - 2 * e) / 4;
    const VectorXd gap = log_z_from_occupancies(c, prior, start) - sams_update(c, prior, start, 1);
    // log(1 + x) - x is between -x^2 and 0 here, |x| <= 3 e, and the first rung's counts too.
    CHECK(gap.cwiseAbs().maxCoeff() < 10 * e * e);
    CHECK(gap.cwiseAbs().maxCoeff() > e * e);
  }
}

TEST_CASE("RTS and TS are sums that can be done by hand") {
  const SampleStore store = two_rung_store();
  double c2 = 0;
  for (const double d : store.log_ratio.reshaped()) {
    const double odds = 3 * std::exp(d - 1.5);
    c2 += odds / (1 + odds) / 6;
  }
  const double base = 1.5 + std::log(0.25 / 0.75);
  CHECK(rts(store, States::joint).log_z == Approx(base + std::log(c2 / (1 - c2))).epsilon(1e-14));
  CHECK(ts(store).log_z == Approx(base + std::log(4.0 / 2)).epsilon(1e-14));
  CHECK(ts(store, 0.1).log_z == Approx(base + std::log(4.1 / 2.1)).epsilon(1e-14));
}

// Of two rungs with n and m samples, log((n + a) / (m + a)) changes by 1 / (n + a) + 1 / (m + a)
// with each that changes its rung.
TEST_CASE("a count that is added makes TS's error smaller, as it does a sample's influence") {
  Stream stream({5, 6}, Purpose::test);
  const SampleStore store = tempered_store({}, {2, 50, 40}, 0.5, stream);
  const auto n = static_cast<double>(store.rung.sum()), m = store.samples() - n;
  const Estimate raw = ts(store);
  for (const double a : {0.5, 100.0, 5000.0}) {
    const Estimate added = ts(store, a);
    const double ratio = (1 / (n + a) + 1 / (m + a)) / (1 / n + 1 / m);
    CHECK(added.std_error == Approx(ratio * raw.std_error).epsilon(1e-10));
    CHECK(added.effective_samples == Approx(raw.effective_samples).epsilon(1e-9));
  }
}

TEST_CASE("RTS has the variance of Equation 16 as its squared standard error") {
  Stream stream({1, 2}, Purpose::test);
  const SampleStore store = tempered_store({}, {5, 30, 40}, 0.5, stream);  // chains are the groups
  const RungSums sums = sum_by_rung(store, Assignment::soft);
  const OccupancyMoments m = occupancy_moments(sums, 4);
  const double se = rts(sums, store.log_prior, store.log_z_hat).std_error;
  CHECK(rts_variance(m) == Approx(se * se).epsilon(1e-12));
  const OccupancyMoments by_hand{
      .first = 0.5, .other = 0.25, .var_first = 0.01, .var_other = 0.005, .covariance = -0.001};
  CHECK(rts_bias(by_hand) == Approx(0.5 * (0.04 - 0.08)));
  CHECK(rts_variance(by_hand) == Approx(0.04 + 0.08 + 0.016));
}

TEST_CASE("an unvisited rung has no TS or stationary estimate unless a count is added") {
  SampleStore store = two_rung_store();
  store.rung.setOnes();
  for (const Estimate& estimate :
       {ts(store), stationary_estimate(store, Transitions::counted, {}),
        stationary_estimate(store, Transitions::rao_blackwellised, {})}) {
    CHECK(estimate.status >= Status::unvisited_rung);
    CHECK(std::isnan(estimate.log_z));
    CHECK(std::isnan(estimate.std_error));
  }
  const Estimate added = ts(store, 0.1);
  CHECK(added.status >= Status::unvisited_rung);
  CHECK(added.log_z == Approx(1.5 + std::log(1.0 / 3) + std::log(6.1 / 0.1)));
  CHECK_THROWS_AS(ts(store, -1), InvalidArgument);
}

TEST_CASE("what needs drawn rungs refuses samples whose rungs were fixed") {
  SampleStore store = two_rung_store();
  store.random_rungs = false;
  CHECK_THROWS_AS(rts(store, States::joint), InvalidArgument);
  CHECK_THROWS_AS(ts(store), InvalidArgument);
  CHECK_THROWS_AS(stationary_estimate(store, Transitions::counted, {}), InvalidArgument);
  store.random_rungs = true;
  CHECK_THROWS_AS(rts(store, States::collapsed), InvalidArgument);
}

TEST_CASE("one stage of the mixed likelihood is RTS, its standard error included") {
  Stream stream({3, 4}, Purpose::test);
  for (const int rungs : {2, 7}) {
    const SampleStore store = tempered_store({}, {rungs, 50, 10}, 0.5, stream);
    const RungSums sums = sum_by_rung(store, Assignment::soft);
    const Estimate one = rts(sums, store.log_prior, store.log_z_hat);
    const Estimate mixed = rts_mixed({{sums, store.log_z_hat}}, store.log_prior);
    CHECK((mixed.log_z_rungs - one.log_z_rungs).norm() < 1e-10);
    CHECK(mixed.std_error == Approx(one.std_error).epsilon(1e-9));
    CHECK(mixed.effective_samples == Approx(one.effective_samples).epsilon(1e-9));
  }
}

TEST_CASE("the effective samples of stages are counted about the mean of each stage") {
  Stream stream({9, 10}, Purpose::test);
  SampleStore store = empty_store({}, {2, 40, 30});
  std::vector<RtsStage> stages;
  std::vector<SampleStore> stores;
  for (const double shift : {-1.5, 1.5}) {
    stores.push_back(independent_store({}, {2, 40, 30}, stream));
    stores.back().log_z_hat[1] += shift;
    stages.push_back({sum_by_rung(stores.back(), Assignment::soft), stores.back().log_z_hat});
  }
  const Estimate mixed = rts_mixed(stages, store.log_prior);
  // Of two rungs, a sample's influence is N (q(b_2 | x) - mean) / sum_t N_t pi_1 pi_2.
  double information = 0, square = 0, samples = 0;
  for (const SampleStore& one : stores) {
    const double odds = one.log_prior[1] - one.log_z_hat[1] + mixed.log_z - one.log_prior[0];
    const double pi = 1 / (1 + std::exp(-odds));
    information += one.samples() * pi * (1 - pi);
    samples += one.samples();
    const RungLaw law(one, States::joint);
    VectorXd q(2), tops(one.log_ratio.size());
    for (Eigen::Index n = 0; n < tops.size(); ++n) {
      law(n, q);
      tops[n] = q[1];
    }
    square += (tops.array() - tops.mean()).square().sum();
  }
  const double mean_square = square * samples / (information * information);
  CHECK(mixed.effective_samples ==
        Approx(mean_square / (mixed.std_error * mixed.std_error)).epsilon(1e-6));
}

TEST_CASE("the mixed likelihood leaves out the rounds in which chains did not mix") {
  Stream stream({7, 8}, Purpose::test);
  TemperedRun run{.store = tempered_store({}, {5, 60, 40}, 0.5, stream)};
  run.sums = sum_by_rung(run.store, Assignment::soft);
  const SampleStore other = tempered_store({}, {5, 60, 40}, 0.5, stream);
  run.rounds.push_back(
      {.log_z_hat = other.log_z_hat, .sums = sum_by_rung(other, Assignment::soft), .trips = 79});
  const double kept = rts(run.store, States::joint).log_z;
  CHECK(rts_mixed(run).log_z == Approx(kept).epsilon(1e-10));
  run.rounds[0].trips = 80;  // two a chain
  CHECK(std::abs(rts_mixed(run).log_z - kept) > 1e-4);
}

TEST_CASE("the mixed likelihood reads all batches of a round") {
  // Of few chains, whose sums are in several batches each.
  Stream stream({7, 9}, Purpose::test);
  TemperedRun run{.store = tempered_store({}, {5, 60, 8}, 0.5, stream)};
  run.sums = sum_by_rung(run.store, Assignment::soft);
  const SampleStore other = tempered_store({}, {5, 60, 8}, 0.5, stream);
  const RungSums sums = sum_by_rung(other, Assignment::soft);
  REQUIRE(sums.batches > 1);
  run.rounds.push_back({.log_z_hat = other.log_z_hat, .sums = sums, .trips = 80});
  // log Z depends on how often each rung was met in all.
  const Estimate stages =
      rts_mixed({{sums, other.log_z_hat}, {run.sums, run.store.log_z_hat}}, run.store.log_prior);
  CHECK(rts_mixed(run).log_z == Approx(stages.log_z).epsilon(1e-10));
}

TEST_CASE("the mixed likelihood returns the exact log Z from the exact occupancies of its stages") {
  const GaussianTarget target{2, 9};
  SampleStore store = empty_store(target, {8, 1, 1});
  std::vector<RtsStage> stages;
  for (const double samples : {100.0, 400.0, 50.0}) {
    const VectorXd half = 0.5 * samples * exact_occupancies(store, target);
    RungSums sums{.weight = Eigen::MatrixXd(8, 2), .samples = samples};
    sums.weight << half, half;
    stages.push_back({sums, store.log_z_hat});
    for (int k = 0; k < 8; ++k) store.log_z_hat[k] += std::cos(2.0 * k);
  }
  const Estimate estimate = rts_mixed(stages, store.log_prior);
  // The last Newton step leaves the square of 1e-6 standard deviations, which are below 1.
  for (int k = 0; k < 8; ++k)
    CHECK(estimate.log_z_rungs[k] - estimate.log_z_rungs[0] ==
          Approx(target.log_z(store.ladder[k])).margin(1e-10));
}

TEST_CASE("the mixed likelihood is concave and its maximum is where the gradient is zero") {
  Stream stream({5, 6}, Purpose::test);
  std::vector<RtsStage> stages;
  SampleStore store = empty_store({}, {6, 20, 6});
  for (int t = 0; t < 4; ++t) {
    store = tempered_store({}, {6, 20, 6}, 0.3, stream);
    for (double& x : store.log_z_hat) x += 0.8 * stream.normal();
    stages.push_back({sum_by_rung(store, Assignment::soft), store.log_z_hat});
  }
  const Estimate estimate = rts_mixed(stages, store.log_prior);
  const RtsLikelihood best = rts_likelihood(stages, store.log_prior, estimate.log_z_rungs);
  // Newton's decrement is below 1e-6 before the last step: gradients are below 1e-12 N^(1/2) or so.
  CHECK(best.gradient.cwiseAbs().maxCoeff() < 1e-9);
  VectorXd at = estimate.log_z_rungs;
  for (double& x : at) x += stream.normal();
  const RtsLikelihood there = rts_likelihood(stages, store.log_prior, at);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(there.hessian);
  CHECK(eigen.eigenvalues().maxCoeff() < 1e-10);
  CHECK(there.value < best.value);
  for (int k = 0; k < 6; ++k) {
    const double h = 1e-4;  // truncation h^2 N, rounding 1e-16 |value| / h: both below 1e-4
    const VectorXd step = h * VectorXd::Unit(6, k);
    const RtsLikelihood up = rts_likelihood(stages, store.log_prior, at + step);
    const RtsLikelihood down = rts_likelihood(stages, store.log_prior, at - step);
    CHECK((up.value - down.value) / (2 * h) == Approx(there.gradient[k]).margin(1e-4));
    CHECK(((up.gradient - down.gradient) / (2 * h) - there.hessian.col(k)).norm() < 1e-4);
  }
}

TEST_CASE("a stationary law keeps its relative accuracy when states hardly meet") {
  Eigen::Matrix3d p;
  const double e = 1e-20;
  p << 1 - e, e, 0,  //
      2 * e, 1 - 5 * e, 3 * e, 0, 4 * e, 1 - 4 * e;
  const auto law = stationary_law(p);  // by detailed balance 1 : 1/2 : 3/8
  REQUIRE(law);
  CHECK((*law)[1] / (*law)[0] == Approx(0.5).epsilon(1e-14));
  CHECK((*law)[2] / (*law)[0] == Approx(0.375).epsilon(1e-14));
  p.row(2) << 0, 0, 1;
  CHECK_FALSE(stationary_law(p));
}

TEST_CASE("transitions are counted within chains alone") {
  // Within chains: 1 -> 0, 0 -> 1 and 0 -> 1, 1 -> 1. From 0 always to 1; from 1 half to each.
  const SampleStore store = two_rung_store();
  const Estimate sd = stationary_estimate(store, Transitions::counted, States::joint);
  CHECK(sd.log_z == Approx(1.5 + std::log(1.0 / 3) + std::log(2.0)).epsilon(1e-14));
  VectorXd q(2);
  Eigen::Matrix2d sums = Eigen::Matrix2d::Zero();
  const RungLaw law(store, States::joint);
  for (Eigen::Index n = 0; n < 6; ++n) {
    law(n, q);
    sums.row(store.rung.data()[n]) += q.transpose();
  }
  const double up = sums(0, 1) / sums.row(0).sum(), down = sums(1, 0) / sums.row(1).sum();
  const Estimate rsd = stationary_estimate(store, Transitions::rao_blackwellised, States::joint);
  CHECK(rsd.log_z == Approx(1.5 + std::log(1.0 / 3) + std::log(up / down)).epsilon(1e-13));
}
