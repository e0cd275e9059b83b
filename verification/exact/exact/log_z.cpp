#include "boltzmark/exact/log_z.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/numeric.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/exact/enumeration/enumeration.hpp"
#include "boltzmark/exact/enumeration/fast_sum.hpp"
#include "boltzmark/exact/enumeration/plain.hpp"
#include "boltzmark/exact/exact_sampler.hpp"
#include "oracle/enumerate.hpp"
#include "verification/exact/support/enumeration_models.hpp"
#include "verification/exact/support/every_path.hpp"

using namespace enumeration_test;

namespace {

ScaledSum total_of(const ChunkedSum& sum) {
  ScaledSum total;
  for (std::uint64_t c = 0; c < sum.chunks(); ++c) total.add(sum.sum(c));
  return total;
}

double log_of(const ChunkedSum& sum) { return total_of(sum).log(); }

/// What the last logarithm may add to a sum's own bound: exponent * ln 2 and its rounding.
double last_log(double log_z) { return 1e-14 + 1e-15 * std::abs(log_z); }

/// Checks log Z and each arithmetic that applies against a brute-force value. The oracle's own
/// error, 2^-64 per operation, is below 1e-3 of each bound.
void check_against(const Layered& model, long double truth, double most_bound) {
  const ExactLogZ result = exact_log_z(model);
  const auto exact = static_cast<double>(truth);
  CAPTURE(exact, result.log_z, result.error_bound);
  CHECK(std::abs(result.log_z - exact) <= result.error_bound + 1e-16 * std::abs(exact));
  CHECK(result.error_bound <= most_bound);
  const Bipartite sides = enumerate_smaller_side(model);
  const PlainSum plain(sides);
  CHECK(std::abs(log_of(plain) - exact) <= plain.error_bound() + last_log(exact));
  if (const auto fast = FastSum<double>::make(sides)) {
    CHECK(std::abs(log_of(*fast) - exact) <= fast->error_bound() + last_log(exact));
  }
  if (const auto fast = FastSum<float>::make(sides)) {
    CHECK(std::abs(log_of(*fast) - exact) <= fast->error_bound() + last_log(exact));
  }
}

}  // namespace

TEST_CASE("exact log Z of binary RBMs agrees with brute force", "[log_z]") {
  for (const double scale : {0.0, 0.1, 1.0, 10.0, 100.0}) {
    for (int hidden = 1; hidden <= 12; ++hidden) {
      const int visible = hidden + hidden % 5;
      const Layered model = random_rbm(visible, hidden, scale, 100 * hidden + visible);
      CAPTURE(scale, hidden, visible);
      check_against(model, oracle::log_z_two_layers(oracle::network(model)), 1e-9);
    }
  }
}

TEST_CASE("two ways of brute force agree", "[log_z][oracle]") {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const oracle::Network n = oracle::network(random_network({0, 2}, {5, 4}, 3.0, seed));
    CHECK(std::abs(oracle::log_z(n) - oracle::log_z_two_layers(n)) < 1e-16L);
  }
}

TEST_CASE("exact log Z of deep networks of mixed discrete units agrees with brute force",
          "[log_z]") {
  const std::vector<std::vector<int>> codes = {{0, 0, 0}, {1, 1, 1},    {0, 1, 0},    {2, 0, 3},
                                               {0, 5, 1}, {0, 1, 2, 0}, {1, 0, 0, 4}, {9, 0, 6}};
  for (std::size_t k = 0; k < codes.size(); ++k) {
    for (const double scale : {0.5, 5.0, 50.0}) {
      const std::vector<int> sizes =
          codes[k].size() == 3 ? std::vector<int>{2, 3, 2} : std::vector<int>{2, 3, 2, 3};
      const Layered model = random_network(codes[k], sizes, scale, 7 * k);
      CAPTURE(k, scale);
      check_against(model, oracle::log_z(oracle::network(model)), 1e-9);
    }
  }
}

TEST_CASE("exact log Z sums continuous and Gaussian units in closed form", "[log_z]") {
  for (const int code : {-1, -2}) {
    for (const int hidden_code : {0, 1, 3}) {
      const Layered model = random_network({code, hidden_code}, {5, 4}, 2.0, 11);
      CAPTURE(code, hidden_code);
      check_against(model, oracle::log_z_two_layers(oracle::network(model)), 1e-9);
    }
  }
}

TEST_CASE("enumerating either side gives the same log Z", "[log_z]") {
  for (const double scale : {0.3, 3.0, 100.0}) {
    for (const auto& codes : std::vector<std::vector<int>>{{0, 0}, {1, 0}, {2, 1}, {0, 8}}) {
      const Layered model = random_network(codes, {6, 5}, scale, 3);
      const ExactLogZ even = sum_states(enumerate_side(model, 0));
      const ExactLogZ odd = sum_states(enumerate_side(model, 1));
      CAPTURE(scale, codes);
      CHECK(std::abs(even.log_z - odd.log_z) <= even.error_bound + odd.error_bound);
    }
  }
}

namespace {

/// Checks a fast sum on the path taken, with vectors of both widths, which leave its bits.
void check_widths(const ChunkedSum& fast, double truth, double truth_error) {
  const Scaled total = total_of(fast).value();
  const double log_z = ScaledSum(total).log();
  CAPTURE(fast.name(), log_z);
  CHECK(std::abs(log_z - truth) <= fast.error_bound() + truth_error + 2 * last_log(truth));
  const ForcedHalves forced(!halves_wide_vectors());
  const Scaled other = total_of(fast).value();
  CHECK(other.mantissa == total.mantissa);
  CHECK(other.exponent == total.exponent);
}

/// Checks the sums over the hidden states against the plain one on every path.
void check_slabs(const Layered& model, bool in_float) {
  const Bipartite sides = enumerate_side(model, 1);
  const PlainSum plain(sides);
  const double truth = log_of(plain);
  CAPTURE(truth);
  on_every_path([&] {
    const auto fast = FastSum<double>::make(sides);
    REQUIRE(fast);
    check_widths(*fast, truth, plain.error_bound());
    const auto coarse = FastSum<float>::make(sides);
    REQUIRE((coarse != nullptr) == in_float);
    if (coarse) check_widths(*coarse, truth, plain.error_bound());
  });
}

Layered constant_rbm(int visible, double weight, double visible_bias) {
  return Layered::rbm(Eigen::MatrixXd::Constant(visible, 17, weight),
                      Eigen::VectorXd::Constant(visible, visible_bias), Eigen::VectorXd::Zero(17));
}

}  // namespace

// 2^17 states are 16 slabs of four planes: five units are in the columns, six in the rows, two are
// the middle group.
TEST_CASE("slabs of many planes agree with the plain sum on every path", "[log_z]") {
  for (const auto& codes : std::vector<std::vector<int>>{{0, 0}, {3, 0}, {8, 0}, {0, 1}})
    for (const double scale : {0.05, 1.0, 30.0}) {
      CAPTURE(codes, scale);
      check_slabs(random_network(codes, {40, 17}, scale, 13), scale < 30);
    }
  check_slabs(random_network({0, 2}, {20, 12}, 0.5, 13), true);
}

TEST_CASE("slabs keep several blocks of units", "[log_z]") {
  check_slabs(random_network({0, 0}, {300, 17}, 0.2, 13), true);
}

TEST_CASE("slabs hold factors that are all at their greatest or least at once", "[log_z]") {
  for (const double sign : {-1.0, 1.0})
    for (const double bias : {0.0, 8.0, 16.0}) {
      CAPTURE(sign, bias);
      // 7 columns and middle units span 56 of 60 bits in float, 840 of 860 in double.
      check_slabs(constant_rbm(40, sign * 5.5, -bias * sign * 5.5), true);
      check_slabs(constant_rbm(40, sign * 83, -bias * sign * 83), false);
    }
  // The state that counts has columns 0 to 4 and the middle, 11 and 12, on: all factors are at
  // 2^-288, their least.
  Eigen::VectorXd hidden_bias = Eigen::VectorXd::Constant(17, -7000);
  hidden_bias.head(5).setConstant(7000);
  hidden_bias.segment(11, 2).setConstant(7000);
  check_slabs(Layered::rbm(Eigen::MatrixXd::Constant(40, 17, -30),
                           Eigen::VectorXd::Constant(40, 200), hidden_bias),
              false);
}

TEST_CASE("zero weights give the closed form, far above 709 nats too", "[log_z]") {
  for (const double bias : {-30.0, 0.0, 5.0, 300.0}) {
    const Layered model =
        Layered::rbm(Eigen::MatrixXd::Zero(784, 10), Eigen::VectorXd::Constant(784, bias),
                     Eigen::VectorXd::Constant(10, -bias));
    const double truth = 784 * softplus(bias) + 10 * softplus(-bias);
    const ExactLogZ result = exact_log_z(model);
    // The closed form itself: two products and a sum, 4 u of the larger term.
    CHECK(std::abs(result.log_z - truth) <= result.error_bound + 5e-16 * truth);
    CHECK(result.states == 1024);
    CHECK(result.enumerated_units == 10);
  }
}

TEST_CASE("a product of more factors than a double's exponent is renormalised on the way", "[log_z]") {
  const Layered model = Layered::rbm(Eigen::MatrixXd::Zero(1100, 1), Eigen::VectorXd::Zero(1100),
                                     Eigen::VectorXd::Zero(1));
  const double truth = 1101 * std::log(2.0);
  CHECK(log_of(PlainSum(enumerate_side(model, 1))) == Approx(truth).epsilon(1e-14));
  CHECK(exact_log_z(model).log_z == Approx(truth).epsilon(1e-14));
  CHECK(ExactSampler(model).log_z() == Approx(truth).epsilon(1e-14));
}

TEST_CASE("a plain sum's bound holds the roundings of its additions", "[log_z]") {
  // Of one continuous unit of bias b and 14 free ones log Z is 14 log 2 + log(2 sinh b / b): all terms are
  // alike, and what is rounded is rounded the same way 2^14 times.
  for (int n = 1; n <= 100; ++n) {
    const double b = 0.05 * n;
    const Layered model({{Unit::continuous(), Eigen::VectorXd::Constant(1, b), {}},
                         {Unit::bernoulli(), Eigen::VectorXd::Zero(14), {}}},
                        {Eigen::MatrixXd::Zero(1, 14)});
    const Bipartite sides = enumerate_side(model, 1);
    const PlainSum plain(sides);
    const auto truth =
        static_cast<double>(14 * std::log(2.0L) + std::log(2 * std::sinh(1.0L * b) / b));
    INFO(b);
    REQUIRE(std::abs(log_of(plain) - truth) <= plain.error_bound() + 4e-15);
  }
}

TEST_CASE("a plain sum's bound holds the roundings of log sigma of Gaussian units", "[log_z]") {
  // Without weights log Z is log 2 + m log(sqrt(2 pi) sigma): m equal numbers, hundreds in a row of which are
  // rounded the same way. Most sums here are off by 2 to 10 times what the bound of units of sigma 1 allows.
  constexpr int m = 1000;
  for (int k = -150; k <= 150; k += 5) {
    if (std::abs(k) < 100) continue;
    const double sigma = std::pow(10.0, k);
    const Layered model(
        {{Unit::gaussian(), Eigen::VectorXd::Zero(m), Eigen::VectorXd::Constant(m, sigma)},
         {Unit::bernoulli(), Eigen::VectorXd::Zero(1), {}}},
        {Eigen::MatrixXd::Zero(m, 1)});
    const Bipartite sides = enumerate_side(model, 1);
    const PlainSum plain(sides);
    const long double of_one = std::log(2 * std::numbers::pi_v<long double>) / 2 +
                               std::log(static_cast<long double>(sigma));
    const auto truth = static_cast<double>(std::log(2.0L) + m * of_one);
    INFO("sigma = " << sigma);
    CHECK(std::abs(log_of(plain) - truth) <= plain.error_bound() + last_log(truth));
  }
}

TEST_CASE("784 visible units with strong weights do not overflow", "[log_z]") {
  for (const double scale : {1.0, 20.0, 100.0}) {
    const Layered model = random_rbm(784, 6, scale, 5);
    check_against(model, oracle::log_z_two_layers(oracle::network(model)), 1e-7);
  }
}

TEST_CASE("softplus is nowhere cut off", "[log_z]") {
  // log(1 + e^x) cut at x > 10 would lose up to 4.5e-5 nats a unit, 0.003 over 500 units at 12.
  const Layered model =
      Layered::rbm(Eigen::MatrixXd::Zero(500, 3), Eigen::VectorXd::Constant(500, 12.0),
                   Eigen::VectorXd::Zero(3));
  const double truth = 500 * (12 + std::log1p(std::exp(-12.0))) + 3 * std::log(2.0);
  CHECK(std::abs(exact_log_z(model).log_z - truth) < 1e-10);
  CHECK(std::abs(log_of(PlainSum(enumerate_side(model, 1))) - truth) < 1e-10);
}

TEST_CASE("states beyond 2^32 are counted and reached", "[log_z]") {
  // Without weights every state counts 2 e^{bias of unit 39 if on}; unit 39 is the top bit.
  Eigen::VectorXd hidden_bias = Eigen::VectorXd::Zero(40);
  hidden_bias[39] = 1;
  const Layered model =
      Layered::rbm(Eigen::MatrixXd::Zero(1, 40), Eigen::VectorXd::Zero(1), hidden_bias);
  const Bipartite sides = enumerate_side(model, 1);
  CHECK(sides.states == std::uint64_t{1} << 40);
  const auto fast = FastSum<float>::make(sides);
  REQUIRE(fast);
  // 2^25 slabs of 16 planes of 2^11 states in 2^14 chunks: one chunk is 2^26 states.
  REQUIRE(fast->chunks() == 16384);
  CHECK(std::abs(fast->sum(8191).log() - 27 * std::log(2.0)) < 1e-5);
  CHECK(std::abs(fast->sum(8192).log() - 27 * std::log(2.0) - 1) < 1e-5);
  const Bipartite fewer = enumerate_side(
      Layered::rbm(Eigen::MatrixXd::Zero(1, 33), Eigen::VectorXd::Zero(1), hidden_bias.tail(33)),
      1);
  const PlainSum plain(fewer);
  REQUIRE(plain.chunks() == 16384);  // of 2^19 states
  CHECK(std::abs(plain.sum(8191).log() - 20 * std::log(2.0)) < 1e-9);
  CHECK(std::abs(plain.sum(8192).log() - 20 * std::log(2.0) - 1) < 1e-9);
  StateWalk walk(sides, (std::uint64_t{1} << 39) - 1);
  CHECK(walk.linear() == 0);
  walk.next();
  CHECK(walk.linear() == 1);
  CHECK(walk.value(39) == 1);
}

TEST_CASE("more than 40 enumerated units are refused", "[log_z]") {
  const Layered model = random_rbm(41, 50, 0.1, 1);
  CHECK_THROWS_AS(exact_log_z(model), InvalidArgument);
  CHECK_THROWS_WITH(exact_log_z(model),
                    Catch::Contains("enumerated_units = 41") && Catch::Contains("at most 40"));
  CHECK_THROWS_AS(exact_log_z(random_rbm(3, 3, 1, 1), {.max_enumerated_units = 2}),
                  InvalidArgument);
  CHECK_THROWS_AS(exact_log_z(random_rbm(3, 3, 1, 1), {.max_enumerated_units = 63}),
                  InvalidArgument);
  CHECK_THROWS_AS(exact_log_z(random_network({-1, -1}, {3, 3}, 1, 1)), InvalidArgument);
  CHECK_THROWS_AS(exact_log_z(random_network({15, 15}, {20, 20}, 1, 1)), InvalidArgument);
}

TEST_CASE("float log Z stays within its stated bound and uses float where it can", "[log_z]") {
  for (const double scale : {0.01, 0.5, 3.0}) {
    const Layered model = random_rbm(784, 12, scale, 9);
    const ExactLogZ exact = exact_log_z(model);
    const ExactLogZ coarse = exact_log_z(model, {.precision = Precision::float_precision});
    CAPTURE(scale, exact.log_z, coarse.log_z, coarse.error_bound);
    CHECK(std::abs(exact.log_z - coarse.log_z) <= exact.error_bound + coarse.error_bound);
    CHECK(coarse.error_bound > 1e-7);  // a float bound: the float kernel ran
    CHECK(coarse.error_bound < 1e-3);
  }
}

TEST_CASE("log Z is the same to the bit for any number of threads", "[log_z]") {
  const Layered model = random_rbm(300, 16, 0.5, 21);
  for (const Precision precision : {Precision::double_precision, Precision::float_precision}) {
    std::vector<double> results;
    for (const int threads : {1, 2, 3}) {
      const ThreadLimit limit(threads);
      results.push_back(exact_log_z(model, {.precision = precision}).log_z);
    }
    CHECK(results[0] == results[1]);
    CHECK(results[0] == results[2]);
  }
}
