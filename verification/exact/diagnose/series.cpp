// Autocovariances and autocorrelation times against literal sums and closed forms.
#include <Eigen/Core>
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/diagnose/autocorrelation_time.hpp"
#include "boltzmark/random/stream.hpp"
#include "oracle/diagnose_oracle.hpp"

namespace {

Eigen::VectorXd noise(Eigen::Index n, double offset = 0) {
  boltzmark::Stream stream(boltzmark::make_key(1, "noise"), boltzmark::Purpose::test);
  Eigen::VectorXd x(n);
  for (auto& value : x) value = offset + stream.normal();
  return x;
}

// Exact autocovariances sum_i weight_i rate_i^k, as reversible chains have them.
Eigen::VectorXd geometric(const std::vector<double>& weights, const std::vector<double>& rates,
                          Eigen::Index lags) {
  Eigen::VectorXd gamma = Eigen::VectorXd::Zero(lags);
  for (std::size_t i = 0; i < rates.size(); ++i)
    for (Eigen::Index k = 0; k < lags; ++k)
      gamma[k] += weights[i] * std::pow(rates[i], static_cast<double>(k));
  return gamma;
}

}  // namespace

TEST_CASE("autocovariances are the literal sums, by direct sums and by transforms") {
  // A block of the transform holds 2048 steps or more: series below, at and beyond one block.
  for (const Eigen::Index n : {70, 2047, 2048, 2049, 5000}) {
    const Eigen::MatrixXd x = noise(n, 100);
    const std::vector<double> values(x.data(), x.data() + n);
    for (const Eigen::Index max_lag :
         {Eigen::Index{5}, Eigen::Index{63}, Eigen::Index{64}, n - 1}) {
      const Eigen::VectorXd gamma = boltzmark::autocovariance(x, max_lag);
      REQUIRE(gamma.size() == max_lag + 1);
      for (Eigen::Index lag = 0; lag <= max_lag; lag += std::max<Eigen::Index>(1, max_lag / 7)) {
        // Direct sums round by n eps at most, transforms by about log2(n) eps, both relative to
        // gamma_0 = 1; the sum of the samples (near 100) is rounded by up to 100 n eps.
        const double bound = 2.3e-16 * 101 * static_cast<double>(n);
        CHECK(std::abs(gamma[lag] - oracle::autocovariance(values, static_cast<std::size_t>(lag))) <
              bound);
      }
    }
  }
}

TEST_CASE("chains are centred at the mean of all samples") {
  Eigen::MatrixXd chains(4, 2);
  chains.col(0).setConstant(1);
  chains.col(1).setConstant(-1);
  const Eigen::VectorXd gamma = boltzmark::autocovariance(chains, 2);
  CHECK(gamma[0] == 1);
  CHECK(gamma[1] == 0.75);
  CHECK(gamma[2] == 0.5);
}

TEST_CASE("Yule-Walker recovers an AR(2) law from its exact autocovariances") {
  const double a1 = 1.2, a2 = -0.5;
  Eigen::VectorXd gamma(40);
  gamma[0] = 1;
  gamma[1] = a1 / (1 - a2);
  for (Eigen::Index k = 2; k < gamma.size(); ++k) gamma[k] = a1 * gamma[k - 1] + a2 * gamma[k - 2];
  const auto model = boltzmark::fit_yule_walker(gamma, 5);
  CHECK(model.coefficients[0] == Approx(a1).epsilon(1e-12));
  CHECK(model.coefficients[1] == Approx(a2).epsilon(1e-12));
  CHECK(model.coefficients.tail(3).cwiseAbs().maxCoeff() < 1e-12);
  // tau = innovation variance / (gamma_0 (1 - a1 - a2)^2)
  const double expected = (1 - a1 * gamma[1] - a2 * gamma[2]) / std::pow(1 - a1 - a2, 2);
  CHECK(boltzmark::ar_time(model.coefficients, gamma) == Approx(expected).epsilon(1e-12));
  double sum = 1;
  for (Eigen::Index k = 1; k < gamma.size(); ++k) sum += 2 * gamma[k];
  // The roots have modulus sqrt(1/2): the terms left out are below 10 * 2^-20.
  CHECK(sum == Approx(expected).margin(1e-5));
}

TEST_CASE("Levinson-Durbin solves the Yule-Walker equations") {
  const Eigen::MatrixXd x = noise(200);
  const Eigen::VectorXd gamma = boltzmark::autocovariance(x, 20);
  const std::vector<double> values(gamma.data(), gamma.data() + gamma.size());
  for (const std::size_t order : {1U, 2U, 7U, 20U}) {
    const auto expected = oracle::yule_walker(values, order);
    const auto model = boltzmark::fit_yule_walker(gamma, static_cast<Eigen::Index>(order));
    for (std::size_t i = 0; i < order; ++i)
      CHECK(model.coefficients[static_cast<Eigen::Index>(i)] == Approx(expected[i]).margin(1e-12));
  }
}

TEST_CASE("initial sequences sum a reversible chain's exact autocovariances to its time") {
  // sum_i w_i (1 + r_i) / (1 - r_i), of which 6000 lags leave out less than 0.99^6000 = 6e-27; two
  // states that flip with probabilities a and b have the single rate 1 - a - b, here 0.9 and -0.5.
  struct Case {
    std::vector<double> weights, rates;
  };
  const std::vector<Case> cases{{{1}, {0.9}},
                                {{1}, {-0.5}},
                                {{1}, {0.0}},
                                {{0.5, 0.5}, {0.9, 0.99}},
                                {{0.7, 0.3}, {0.8, -0.9}}};
  for (const auto& [weights, rates] : cases) {
    double expected = 0;
    for (std::size_t i = 0; i < rates.size(); ++i)
      expected += weights[i] * (1 + rates[i]) / (1 - rates[i]);
    const Eigen::VectorXd gamma = geometric(weights, rates, 6000);
    CHECK(boltzmark::initial_sequence_sum(gamma).tau == Approx(expected).epsilon(1e-10));
  }
}

TEST_CASE("a time of tens of thousands of steps is summed to its end") {
  // Half a turn of a cosine: its autocovariances stay positive beyond any block of lags.
  constexpr Eigen::Index kSteps = 131072;
  Eigen::MatrixXd series(kSteps, 1);
  for (Eigen::Index t = 0; t < kSteps; ++t)
    series(t, 0) = std::cos(M_PI * static_cast<double>(t) / static_cast<double>(kSteps));
  const auto time = boltzmark::geyer_time(series);
  const auto sum = boltzmark::initial_sequence_sum(
      boltzmark::autocovariance(Eigen::VectorXd(series.col(0)), kSteps - 1, series.mean()));
  CHECK(time.window > 30000);
  CHECK(time.tau == Approx(sum.tau).epsilon(1e-9));
}

TEST_CASE("the initial sequence of a rotating chain is cut too soon") {
  // A non-reversible cycle has gamma_k = r^k cos(w k), whose pairs turn negative after a quarter
  // turn.
  Eigen::VectorXd gamma(4000);
  const double r = 0.99, w = 0.1;
  for (Eigen::Index k = 0; k < gamma.size(); ++k)
    gamma[k] = std::pow(r, static_cast<double>(k)) * std::cos(w * static_cast<double>(k));
  const double exact = (1 - r * r) / (1 - 2 * r * std::cos(w) + r * r);
  const auto sum = boltzmark::initial_sequence_sum(gamma);
  CHECK(sum.truncated);
  CHECK(sum.window < 16);  // pi / 2 / w = 15.7
  CHECK(sum.tau > 5 * exact);
}

TEST_CASE("batch means follow their definition") {
  Eigen::MatrixXd chains(5, 2);  // batches of 2: means 1, 3 and 5, 7; the fifth step is left over
  chains << 0, 4, 2, 6, 2, 6, 4, 8, 9, 9;
  const auto batch = boltzmark::batch_means_time(chains, 2);
  CHECK(batch.batches == 4);
  const double of_means = (9 + 1 + 1 + 9) / 3.0;  // about 4
  const Eigen::ArrayXXd centred = chains.array() - chains.mean();
  CHECK(batch.tau == Approx(2 * of_means / (centred.square().sum() / 9)).epsilon(1e-14));
  CHECK(batch.tau == Approx(15.0 / 11).epsilon(1e-14));
  // 3 tau / tau_true is chi squared of three degrees: 0.215795 .. 9.348404 of 95 %, variance 6.
  CHECK(batch.std_error == Approx(15.0 / 11 * std::sqrt(6.0) / 3).epsilon(1e-14));
  CHECK(batch.lower == Approx(45.0 / 11 / 9.348404).epsilon(1e-6));
  CHECK(batch.upper == Approx(45.0 / 11 / 0.215795).epsilon(1e-5));
}

TEST_CASE("a series that needs more terms than the model may have is undecided") {
  // x_t = 0.9 x_{t-30} + noise at n = 1000, where the highest order is 30: AIC gains
  // -1000 log(1 - 0.81) = 1660 at order 30 against chance gains of a few units below it.
  Eigen::VectorXd x = noise(1000);
  for (Eigen::Index t = 30; t < x.size(); ++t) x[t] += 0.9 * x[t - 30];
  const auto judged = boltzmark::judge_autocorrelation_time(x);
  CHECK(judged.ar.max_order == 30);
  CHECK(judged.ar.order_at_maximum);
  CHECK_FALSE(judged.decided());
}

TEST_CASE("chains of fewer than 20 batches are too short to judge") {
  // White noise has tau 1, and a batch 25 steps or more.
  const auto judged = boltzmark::judge_autocorrelation_time(noise(200));
  CHECK(judged.status == boltzmark::TimeStatus::too_short);
  CHECK(judged.geyer.tau > 0);
  CHECK_FALSE(judged.decided());
}

TEST_CASE("a sequence that is cut before what comes back is not supported by batch means") {
  // Fifty steps of noise, twenty times over, as chains whose old states are swapped back: no two steps less
  // than fifty apart are alike, and the mean of a thousand steps is that of fifty. The time is 20; batches as long
  // as Geyer's time of 1 asks for have a part of their steps twice.
  const Eigen::VectorXd steps = noise(10000);
  Eigen::VectorXd series(200000);
  for (Eigen::Index t = 0; t < series.size(); ++t) series[t] = steps[t / 1000 * 50 + t % 50];
  const auto judged = boltzmark::judge_autocorrelation_time(series);
  CHECK(judged.geyer.tau < 3);
  CHECK(judged.batch_means.tau > 1.5);
  CHECK_FALSE(judged.supported);
  CHECK_FALSE(judged.decided());
}

TEST_CASE("white noise of a million steps is judged to have a time of 1") {
  // Standard errors: Geyer's about sqrt(6e-6) = 0.0025, batch means' sqrt(2 * 160 / 1e6) = 0.018;
  // the margins are ten of them, so no seed matters.
  const auto judged = boltzmark::judge_autocorrelation_time(noise(1000000));
  CHECK(judged.geyer.tau == Approx(1).margin(0.05));
  CHECK(judged.batch_means.tau == Approx(1).margin(0.18));
  CHECK(static_cast<double>(judged.batch_means.batch_size) >= 20 * judged.batch_means.tau);
  CHECK(judged.batch_means.batch_size >= 150);  // (b / tau)^3 is at least 4 n / tau: 158.7
  const double geyer = judged.geyer.std_error / judged.geyer.tau,
               batches = judged.batch_means.std_error / judged.batch_means.tau;
  CHECK(judged.discrepancy == Approx(std::abs(std::log(judged.geyer.tau / judged.batch_means.tau)) /
                                     std::hypot(geyer, batches))
                                  .epsilon(1e-12));
  CHECK(judged.ar.tau == Approx(1).margin(0.05));
  CHECK(judged.supported);
}

TEST_CASE("chains that differ have the jackknife's error, of tau's own formula") {
  constexpr Eigen::Index kSteps = 400, kChains = 6;
  Eigen::MatrixXd chains(kSteps, kChains);
  const Eigen::VectorXd steps = noise(kSteps * kChains);
  for (Eigen::Index c = 0; c < kChains; ++c) {
    const double rate = 0.15 * static_cast<double>(c);  // each of another time
    chains(0, c) = steps[c];
    for (Eigen::Index s = 1; s < kSteps; ++s)
      chains(s, c) = rate * chains(s - 1, c) + steps[s * kChains + c];
  }
  const boltzmark::SequenceTime time = boltzmark::geyer_time(chains);
  Eigen::MatrixXd gamma(time.window + 1, kChains);  // about the mean of all
  const double mean = chains.mean();
  for (Eigen::Index c = 0; c < kChains; ++c)
    for (Eigen::Index lag = 0; lag <= time.window; ++lag)
      gamma(lag, c) = (chains.col(c).head(kSteps - lag).array() - mean)
                          .cwiseProduct(chains.col(c).tail(kSteps - lag).array() - mean)
                          .sum() /
                      static_cast<double>(kSteps);
  const auto tau_of = [](const Eigen::VectorXd& sums) { return 2 * sums.sum() / sums[0] - 1; };
  CHECK(time.tau == Approx(tau_of(gamma.rowwise().sum())).epsilon(1e-12));
  Eigen::ArrayXd without(kChains);
  for (Eigen::Index c = 0; c < kChains; ++c)
    without[c] = tau_of(gamma.rowwise().sum() - gamma.col(c));
  const double error = std::sqrt(5.0 / 6 * (without - without.mean()).square().sum());
  const double by_length =
      time.tau * std::sqrt((4.0 * static_cast<double>(time.window) + 2) / chains.size());
  REQUIRE(error > 1.2 * by_length);
  CHECK(time.std_error == Approx(error).epsilon(1e-12));
  constexpr double kStudent = 2.570581835636314;  // 97.5 % of t with 5 degrees of freedom
  CHECK(std::log(time.upper / time.tau) == Approx(kStudent * error / time.tau).epsilon(1e-9));
  CHECK(std::log(time.tau / time.lower) == Approx(kStudent * error / time.tau).epsilon(1e-9));
}

TEST_CASE("the error of one chain's time is that of its window and steps") {
  // 1, 1, -1, -1 and so on, 64 steps: gamma_1 = 1/64, gamma_2 and gamma_3 are negative.
  Eigen::VectorXd series(64);
  for (Eigen::Index t = 0; t < series.size(); ++t) series[t] = t / 2 % 2 == 0 ? 1 : -1;
  const boltzmark::SequenceTime time = boltzmark::geyer_time(series);
  CHECK(time.window == 1);
  CHECK(time.tau == Approx(1 + 2.0 / 64).epsilon(1e-12));
  CHECK(time.std_error == Approx((1 + 2.0 / 64) * std::sqrt(6.0 / 64)).epsilon(1e-12));
}

TEST_CASE("a time that noise made negative is that noise") {
  // 66, -54, 44, -45 by lag: 2 (66 - 54) / 66 - 1 = -7/11, and the next pair is negative.
  Eigen::VectorXd series(12);
  series << 2, -3, 2, -3, 3, -3, 3, -1, 1, -3, 1, 1;
  const boltzmark::SequenceTime time = boltzmark::geyer_time(series);
  CHECK(time.window == 1);
  CHECK(time.tau == Approx(std::sqrt(0.5)).epsilon(1e-12));
  CHECK(time.std_error == Approx(0.5).epsilon(1e-12));
}

TEST_CASE("times are supported within two standard errors alone, by batches of 20 times or more") {
  // White noise in 300 pieces. Two differ by 2 to 3 errors with probability 4 %, batches of 25 steps
  // seem worth fewer than 20 times in one piece of fifteen.
  constexpr Eigen::Index kSteps = 2000, kPieces = 300;
  const Eigen::VectorXd steps = noise(kSteps * kPieces);
  int between = 0, longer = 0;
  for (Eigen::Index piece = 0; piece < kPieces; ++piece) {
    const auto judged =
        boltzmark::judge_autocorrelation_time(steps.segment(piece * kSteps, kSteps));
    if (judged.status == boltzmark::TimeStatus::too_short) continue;
    CHECK(judged.supported == (judged.discrepancy <= 2));
    between += judged.discrepancy > 2 && judged.discrepancy < 3;
    const double least = 20 * judged.batch_means.tau;
    CHECK(static_cast<double>(judged.batch_means.batch_size) >= least);
    longer += least > 25;
  }
  REQUIRE(between > 0);
  REQUIRE(longer > 0);
}

TEST_CASE("chains of sixteen batches are too short, whatever these say") {
  const Eigen::VectorXd steps = noise(20 * 400);  // of white noise a batch has 25 steps or more
  for (Eigen::Index piece = 0; piece < 20; ++piece)
    CHECK(boltzmark::judge_autocorrelation_time(steps.segment(piece * 400, 400)).status ==
          boltzmark::TimeStatus::too_short);
}

TEST_CASE("chains that sit in different modes have a long time") {
  // Two chains about 0 and 10: to each chain alone tau is 1, together they have not mixed.
  Eigen::MatrixXd chains(2000, 2);
  chains.col(0) = noise(2000);
  chains.col(1) = noise(2000, 10);
  CHECK(boltzmark::geyer_time(chains).tau > 1000);
  CHECK_FALSE(boltzmark::judge_autocorrelation_time(chains).decided());
}

TEST_CASE("a constant series is refused, not divided by") {
  const Eigen::MatrixXd still = Eigen::MatrixXd::Constant(1000, 2, 3.5);
  const auto judged = boltzmark::judge_autocorrelation_time(still);
  CHECK(judged.status == boltzmark::TimeStatus::constant);
  CHECK_FALSE(judged.decided());
  CHECK_THROWS_AS(boltzmark::geyer_time(still), boltzmark::InvalidArgument);
  CHECK_THROWS_AS(boltzmark::ar_act(still), boltzmark::InvalidArgument);
  CHECK_THROWS_AS(boltzmark::autocorrelation(still, 3), boltzmark::InvalidArgument);
}

TEST_CASE("bad series are refused with a reason") {
  Eigen::MatrixXd x = noise(100);
  CHECK_THROWS_AS(boltzmark::autocovariance(x, 100), boltzmark::InvalidArgument);
  CHECK_THROWS_AS(boltzmark::autocovariance(x, -1), boltzmark::InvalidArgument);
  CHECK_THROWS_AS(boltzmark::autocovariance(Eigen::MatrixXd(0, 0), 0), boltzmark::InvalidArgument);
  CHECK_THROWS_AS(boltzmark::batch_means_time(x, 0), boltzmark::InvalidArgument);
  CHECK_THROWS_AS(boltzmark::batch_means_time(x, 51), boltzmark::InvalidArgument);
  x(3, 0) = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(boltzmark::judge_autocorrelation_time(x), boltzmark::InvalidArgument);
  CHECK_THROWS_AS(boltzmark::autocovariance(x, 3), boltzmark::InvalidArgument);
}

TEST_CASE(
    "the autoregressive time of five chains has the jackknife's error, each with its own fit") {
  // gamma_0 = 6.4 and gamma_1 = -11/15 of all; tau = (1 + r) / (1 - r) of r = gamma_1 / gamma_0.
  Eigen::MatrixXd chains(3, 5);
  chains << 0, 4, -3, -1, 0,  //
      1, -4, -2, -1, 1,       //
      3, 4, -3, -2, 3;
  const boltzmark::ArTime time = boltzmark::ar_act(chains);
  CHECK(time.order == 1);
  CHECK(time.tau == Approx(85.0 / 107).epsilon(1e-12));
  CHECK(time.std_error == Approx(1.5129358682).epsilon(1e-9));
}

TEST_CASE("the order of an autoregressive time is chosen by the steps of all chains") {
  // 18, -4, -7, 4 and 2 by lag, in sixths. AIC from no terms to four: 65.9, 64.9, 52.5, 54.5 and
  // 56.5 of 60 steps, 6.6, 8.3, 8.9, 10.9 and 12.9 of six.
  Eigen::VectorXd series(6);
  series << 2, 1, -2, -1, 2, -2;
  CHECK(boltzmark::ar_act(series).order == 1);
  const boltzmark::ArTime time = boltzmark::ar_act(series.replicate(1, 10));
  CHECK(time.max_order == 4);
  REQUIRE(time.order == 2);
  CHECK(time.coefficients[0] == Approx(-25.0 / 77).epsilon(1e-12));
  CHECK(time.coefficients[1] == Approx(-71.0 / 154).epsilon(1e-12));
  // 10 log10 of 400 is 26.02, of a chain's 40 it is 16.02.
  const Eigen::MatrixXd chains = noise(400).reshaped(40, 10);
  CHECK(boltzmark::ar_act(chains).max_order == 26);
}

TEST_CASE("batches are so long that their bias is small beside the error of all chains") {
  // (b / tau)^3 is at least 4 n / tau of n = 16000 steps: batches of forty, where 2000 ask for 25.
  const Eigen::MatrixXd chains = noise(16000).reshaped(2000, 8);
  const auto judged = boltzmark::judge_autocorrelation_time(chains);
  const double tau = judged.geyer.tau, size = std::max(1.0, tau) * std::cbrt(4 * 16000 / tau);
  CHECK(tau == Approx(1).margin(0.2));
  CHECK(judged.batch_means.batch_size == std::lround(std::ceil(size)));
  CHECK(judged.batch_means.batch_size >= 40);
}

TEST_CASE("an initial sequence ends at a pair that adds up to nothing") {
  Eigen::VectorXd gamma(6);
  gamma << 1, 0, 0, 0, 0.5, 0.5;
  const boltzmark::InitialSum sum = boltzmark::initial_sequence_sum(gamma);
  CHECK(sum.tau == 1);
  CHECK(sum.window == 1);
  CHECK(sum.truncated);
}

TEST_CASE("batch means that are not of 20 of their own times are not told") {
  // A fast sawtooth hides a slow walk from Geyer's estimate: batches of 25 times are far too short, and
  // those that would do are fewer than 20.
  constexpr Eigen::Index kSteps = 6000;
  const Eigen::VectorXd steps = noise(kSteps);
  Eigen::MatrixXd series(kSteps, 1);
  double walk = 0;
  for (Eigen::Index t = 0; t < kSteps; ++t) {
    walk = 0.995 * walk + 0.1 * steps[t];
    series(t, 0) = 1.6 * (t / 2 % 2 == 0 ? 1 : -1) + walk;
  }
  const auto judged = boltzmark::judge_autocorrelation_time(series);
  REQUIRE(judged.status == boltzmark::TimeStatus::too_short);
  CHECK(judged.batch_means.batches == 0);
  CHECK(judged.batch_means.tau == 0);
}

TEST_CASE("each status of an autocorrelation time is named by what is the matter") {
  using boltzmark::TimeStatus;
  CHECK(describe(TimeStatus::agreed) == "agreed");
  CHECK(describe(TimeStatus::ar_order_at_maximum) == "autoregressive order at its maximum");
  CHECK(describe(TimeStatus::disagreement) == "Geyer and batch means disagree");
  CHECK(describe(TimeStatus::too_short) == "chains too short");
  CHECK(describe(TimeStatus::constant) == "series constant");
}

TEST_CASE("batch means that are all the same support no time") {
  // Of 0 0 1 1 .. a batch of any whole number of periods has the mean 1/2.
  Eigen::MatrixXd chain(4 * 2889, 1);
  for (Eigen::Index t = 0; t < chain.rows(); ++t) chain(t, 0) = t % 4 < 2 ? 0 : 1;
  const auto time = boltzmark::judge_autocorrelation_time(chain);
  CHECK(time.batch_means.batch_size % 4 == 0);
  CHECK(time.batch_means.tau == 0);
  CHECK(!time.supported);
  CHECK(!time.decided());
}

TEST_CASE("a chain that alone moves has a time, about which no jackknife tells") {
  Eigen::MatrixXd chains = Eigen::MatrixXd::Zero(1000, 5);
  for (Eigen::Index t = 0; t < 1000; ++t) chains(t, 0) = t / 10 % 2 == 0 ? 1 : -1;
  const boltzmark::ArTime time = boltzmark::ar_act(chains);
  CHECK(time.tau > 0);
  CHECK(std::isfinite(time.upper));
  CHECK_NOTHROW(boltzmark::judge_autocorrelation_time(chains));
}
