// Updates of Gaussian units by the production kernels, and Phi^-1, which they are.

#include <algorithm>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/quantiles.hpp"
#include "boltzmark/learn/phases/negative.hpp"
#include "boltzmark/random/stream.hpp"
#include "verification/exact/support/unit_updates.hpp"

using namespace unit_test;

namespace {

// A visible layer of Gaussian units whose inputs are a / sigma^2, on one hidden unit.
Layered gaussian_rbm(const Eigen::VectorXd& a, const Eigen::VectorXd& sigma, double weight) {
  const Eigen::Index units = a.size();
  return {{{.unit = Unit::gaussian(), .bias = a, .sigma0 = sigma},
           {.unit = Unit::bernoulli(), .bias = Eigen::VectorXd::Zero(1), .sigma0 = {}}},
          {Eigen::MatrixXd::Constant(units, 1, weight)}};
}

Eigen::MatrixXf moved_visible(const Layered& model, const Draws& draws, int chains,
                              const Rule& rule, const Packing& packing) {
  Chains states(model, chains);
  half_sweep(PackedModel(model, packing), states, draws, {.rule = rule}, 0);
  return states.get_layer(0);
}

}  // namespace

TEST_CASE("Phi^-1 has the tabled values, in both tails") {
  CHECK(normal_quantile(0.5) == 0);
  CHECK(normal_quantile(0.975) == Approx(1.959963984540054).epsilon(1e-14));
  CHECK(normal_quantile(0.025) == Approx(-1.959963984540054).epsilon(1e-14));
  CHECK(normal_quantile(0x1p-33) == Approx(-6.33795775455379).epsilon(1e-12));
  CHECK(normal_quantile(1e-300) == Approx(-37.0471).epsilon(1e-6));
}

TEST_CASE("an update of a Gaussian unit is a + sigma Phi^-1 of its draw, whatever the rule") {
  std::vector<std::uint32_t> script = {0, 1, 0x7fffffffU, 0x80000000U, 0xfffffffeU, 0xffffffffU};
  Stream stream(make_key(45), Purpose::test);
  for (int i = 0; i < 2000; ++i) script.push_back(stream() >> stream.below(32));
  for (int i = 0; i < 2000; ++i) script.push_back(~(stream() >> stream.below(32)));
  std::sort(script.begin(), script.end());
  const int units = 9, chains = static_cast<int>(script.size());
  Eigen::VectorXd a(units), sigma(units);
  a << 0, 0, 1, -3.25, 100, -100, 1e-3, 0.5, 7;
  sigma << 1, 0.25, 1, 2, 0.5, 4, 1, 0.0625, 3;
  const Layered model = gaussian_rbm(a, sigma, 0);
  TableDraws draws(units, script.size());
  for (std::size_t i = 0; i < static_cast<std::size_t>(units); ++i)
    for (std::size_t c = 0; c < script.size(); ++c) draws.at(i, c) = script[c];
  const Eigen::MatrixXf next =
      moved_visible(model, draws, chains, Rule::gibbs(), {.chains = chains});
  for (const Rule& rule : kRules)
    CHECK(moved_visible(model, draws, chains, rule, {.chains = chains}) == next);
  for (int i = 0; i < units; ++i)
    for (int c = 0; c < chains; ++c) {
      CAPTURE(a[i], sigma[i], script[c]);
      const double z = -normal_quantile((script[c] + 0.5) * 0x1p-32);
      // The bound of the check `inverse-normal`, of one term.
      const double bound =
          sigma[i] * kRoundoff * (6 * std::abs(a[i]) / sigma[i] + 16 * std::abs(z));
      REQUIRE(std::abs(static_cast<double>(next(i, c)) - (a[i] + sigma[i] * z)) <= bound);
      if (c > 0) REQUIRE(next(i, c) <= next(i, c - 1) + 2 * bound);
    }
}

TEST_CASE("a Gaussian unit's mean is a + sigma^2 W h, and the hidden units see its value") {
  const Layered model = gaussian_rbm(Eigen::Vector2d(1, -2), Eigen::Vector2d(0.5, 3), 2);
  Chains chains(model, 2);
  chains.set(1, 0, 1, 1);
  const PackedModel packed(model);
  set_means(packed, chains, 0);
  Eigen::Matrix2f expected;
  expected << 1, 1 + 0.25F * 2, -2, -2 + 9 * 2;
  CHECK(chains.get_layer(0) == expected);
  std::vector<float> inputs;
  fill_inputs(packed, chains, 1, inputs);
  CHECK(inputs[0] == 2 * (1 - 2));
  CHECK(inputs[1] == 2 * (1.5F + 16));
}

TEST_CASE("Gaussian units are drawn alike in every form of the packed model") {
  Stream stream(make_key(46), Purpose::test);
  Eigen::MatrixXd weights(37, 21);
  for (double& w : weights.reshaped()) w = (static_cast<double>(stream.below(257)) - 128) / 256;
  Eigen::VectorXd a(37), sigma(37);
  for (int i = 0; i < 37; ++i) {
    a[i] = static_cast<double>(stream.below(64)) / 8 - 4;
    sigma[i] = i % 2 == 0 ? 1 : 0.5;  // powers of two: every sum is exact in any order
  }
  const Layered model(
      {{.unit = Unit::gaussian(), .bias = a, .sigma0 = sigma},
       {.unit = Unit::bernoulli(), .bias = Eigen::VectorXd::Zero(21), .sigma0 = {}}},
      {weights});
  const auto draw = [&](int chains, const Packing& packing) {
    Chains states(model, chains);
    for (int c = 0; c < chains; ++c)
      for (int j = 0; j < 21; ++j) states.set(1, j, c, static_cast<float>((c + j * j) % 3 % 2));
    half_sweep(PackedModel(model, packing), states, PhiloxDraws(make_key(47)), {}, 0);
    return states.get_layer(0);
  };
  const Eigen::MatrixXf products = draw(64, {.chains = 64, .values = false});
  CHECK(draw(64, {.chains = 64}) == products);
  CHECK(draw(64, {.chains = 64, .sweeps = 100}) == products);
  CHECK(draw(3, {.chains = 3, .sweeps = 100}) == products.leftCols(3));
}

TEST_CASE("Gaussian units start at a + sigma z, the same z whatever their unit of measurement") {
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(3), one = Eigen::VectorXd::Ones(3);
  const Eigen::VectorXd a = Eigen::Vector3d(5, -2, 0), sigma = Eigen::Vector3d(0.25, 8, 1);
  Chains plain(gaussian_rbm(zero, one, 0), 50), scaled(gaussian_rbm(a, sigma, 0), 50);
  plain.randomise(make_key(3));
  scaled.randomise(make_key(3));
  const Eigen::MatrixXf z = plain.get_layer(0), x = scaled.get_layer(0);
  CHECK(z.cwiseAbs().maxCoeff() > 1);
  for (int c = 0; c < 50; ++c)
    for (int u = 0; u < 3; ++u)
      CHECK(x(u, c) == Approx(a[u] + sigma[u] * z(u, c)).epsilon(0).margin(1e-5));
}

TEST_CASE("a Gaussian layer is not tempered, and none meets another") {
  const Layered model = gaussian_rbm(Eigen::Vector2d(1, -2), Eigen::Vector2d(0.5, 3), 2);
  CHECK_THROWS_AS(Base::uniform(model), InvalidArgument);
  CHECK_THROWS_AS(tempered(model, {{Eigen::VectorXd::Zero(2), Eigen::VectorXd::Zero(1)}}, 0.5),
                  InvalidArgument);
  Chains chains(model, 2);
  const std::vector<float> betas = {1.0F, 0.5F};
  CHECK_THROWS_AS(half_sweep(PackedModel(model), chains, PhiloxDraws(make_key(1)),
                             {.inverse_temperatures = betas}, 0),
                  InvalidArgument);
  const auto draws = std::make_shared<PhiloxDraws>(make_key(1));
  for (const NegativePhase& phase : negative_phases()) {
    CAPTURE(phase.form);
    const Negative negative = parse_negative(phase.example);
    const SamplerSetup setup{.model = model, .packing = {.chains = 4}, .draws = draws};
    if (negative.has_ladder())
      CHECK_THROWS_AS(make_sampler(negative, setup), InvalidArgument);
    else
      CHECK_NOTHROW(make_sampler(negative, setup));
  }
  CHECK_THROWS_AS(
      make_sampler(Negative::pt(1, 1), {.model = model, .packing = {.chains = 4}, .draws = draws}),
      InvalidArgument);
  CHECK_THROWS_AS(PackedModel(gaussian_rbm(Eigen::Vector2d(0, 0), Eigen::Vector2d(1, 1e39), 0)),
                  InvalidArgument);
  CHECK_THROWS_AS(PackedModel(gaussian_rbm(Eigen::Vector2d(0, 0), Eigen::Vector2d(1, 1e-39), 0)),
                  InvalidArgument);
  std::vector<Layer> both{model.layer(0), model.layer(0)};
  CHECK_THROWS_AS(PackedModel(Layered(both, {Eigen::MatrixXd::Zero(2, 2)})), InvalidArgument);
}
