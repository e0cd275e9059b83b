// Updates of continuous units by the production kernels, and F^-1, which they are.

#include <algorithm>

#include "boltzmark/random/stream.hpp"
#include "verification/checks/check_unit_functions.hpp"
#include "verification/exact/support/unit_updates.hpp"

using namespace unit_test;

TEST_CASE("F^-1 of the continuous unit inverts F, from a zero input to +-700") {
  for (const double input : {0.0, 1e-300, 1e-12, 1e-6, 0.01, 1.0, 5.0, 36.0, 88.0, 300.0, 700.0})
    for (const double sign : {1.0, -1.0})
      for (int i = 0; i <= 1000; ++i) {
        const double u = i / 1000.0;
        CAPTURE(input, sign, u);
        const double x = continuous_quantile(sign * input, u);
        CHECK(std::abs(x) <= 1);
        CHECK(std::abs(continuous_cdf(sign * input, x) - u) <= 1e-12);
      }
  CHECK(continuous_quantile(0, 0.75) == 0.5);
  CHECK(continuous_quantile(1e-20, 0.75) == Approx(0.5));
  // Within 1/700 of the likelier end: F^-1(1/2) = 1 - ln 2 / 700.
  CHECK(1 - continuous_quantile(700, 0.5) == Approx(std::log(2) / 700).epsilon(1e-12));
  CHECK(1 + continuous_quantile(-700, 0.5) == Approx(std::log(2) / 700).epsilon(1e-12));
}

TEST_CASE("an update of a continuous unit is F^-1 of its draw, whatever the rule") {
  std::vector<std::uint32_t> script = {0, 1, 0x7fffffffU, 0x80000000U, 0xfffffffeU, 0xffffffffU};
  Stream stream(make_key(44), Purpose::test);
  for (int i = 0; i < 2000; ++i) script.push_back(stream() >> stream.below(32));
  for (int i = 0; i < 2000; ++i) script.push_back(~(stream() >> stream.below(32)));
  std::sort(script.begin(), script.end());
  const std::vector<float> biases = inputs();
  const Layered model = isolated(Unit::continuous(), biases);
  TableDraws draws(biases.size(), script.size());
  for (std::size_t i = 0; i < biases.size(); ++i)
    for (std::size_t c = 0; c < script.size(); ++c) draws.at(i, c) = script[c];
  const Eigen::MatrixXf from = Eigen::MatrixXf::Zero(static_cast<Eigen::Index>(biases.size()),
                                                     static_cast<Eigen::Index>(script.size()));
  const Eigen::MatrixXf next = moved(model, from, draws, Rule::gibbs());
  for (const Rule& rule : kRules) CHECK(moved(model, from, draws, rule) == next);
  for (std::size_t i = 0; i < biases.size(); ++i) {
    const auto input = static_cast<double>(biases[i]);
    const double rate = std::abs(input);
    for (std::size_t c = 0; c < script.size(); ++c) {
      CAPTURE(input, script[c]);
      const auto x =
          static_cast<double>(next(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(c)));
      REQUIRE(std::abs(x) <= 1);
      // The distance t from the likelier end: (1 - S) expm1 carries 2 u + 8 u, of which log1p makes
      // at most 1.45 times as much and adds 4 u, the quotient u; the other form less. Then 1 - t is
      // rounded to u. F moves by the density, a e^{-at} / (1 - e^{-2a}), times that.
      const double t = input > 0 ? 1 - x : 1 + x;
      const double density =
          rate < 1e-6 ? 0.5 : -rate * std::exp(-rate * t) / std::expm1(-2 * rate);
      const double error = 1.5 * density * (20 * t + 1) * kRoundoff;
      const double u = 1 - (script[c] + 0.5) * 0x1p-32;
      REQUIRE(std::abs(continuous_cdf(input, x) - u) <= error + 1e-15);
      if (c > 0)
        REQUIRE(x <= static_cast<double>(
                         next(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(c) - 1)) +
                         20 * kRoundoff * t);
    }
  }
}
