// The Gaussian mixture against closed forms and an independent quadrature.
#include "verification/checks/known/gaussian_mixture.hpp"

#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <catch2/catch.hpp>
#include <cmath>

#include "boltzmark/core/error.hpp"
#include "boltzmark/random/stream.hpp"
#include "boltzmark/target/ladder.hpp"

using namespace boltzmark;

namespace {

const GaussianMixtureOptions kCases[] = {
    {},
    {.dimension = 1, .separation = 0, .variance = 2, .base_variance = 3},
    {.dimension = 1, .separation = 12, .variance = 0.3, .base_variance = 100},
    {.dimension = 3, .separation = 0.1, .variance = 5, .base_variance = 0.5},
    {.dimension = 40, .separation = 30, .variance = 1, .base_variance = 400},
};

// The default mixture in one dimension, by adaptive Gauss-Kronrod quadrature of the definition.
double log_z_by_quadrature(const GaussianMixture& mixture, double b) {
  const auto density = [&](double x) {
    return std::exp(mixture.log_density(Eigen::VectorXd::Constant(1, x), b));
  };
  const double bends[] = {0, 2.5, 5, 10, 20, 60};  // p1's deviation is 5.5
  double sum = 0;
  for (int i = 0; i < 5; ++i)
    sum += boost::math::quadrature::gauss_kronrod<double, 31>::integrate(density, bends[i],
                                                                         bends[i + 1], 12, 1e-14);
  return std::log(2 * sum);
}

}  // namespace

TEST_CASE("base draws are the base's deviation times the stream's normal draws") {
  const GaussianMixture mixture({.dimension = 3, .base_variance = 9});
  Stream drawn(make_key(1), Purpose::test), normals(make_key(1), Purpose::test);
  Eigen::VectorXd x(3);
  mixture.draw_base(drawn, x);
  for (const double value : x) CHECK(value == 3 * normals.normal());
}

TEST_CASE("the mixture's log Z has its closed forms at both ends of the ladder") {
  for (const auto& options : kCases) {
    const GaussianMixture mixture(options);
    CAPTURE(options.dimension, options.separation);
    CHECK(std::abs(mixture.log_z(0)) < 1e-12 * options.dimension);
    const double log_z = 0.5 * options.dimension * std::log(2 * M_PI * options.variance);
    CHECK(std::abs(mixture.log_z(1) - log_z) < 1e-12 * options.dimension);
  }
}

TEST_CASE("the mixture's log Z is the paper's: 26.195 at b = 0 with p1 unnormalised and 5.7236") {
  const GaussianMixture mixture;
  const Eigen::VectorXd origin = Eigen::VectorXd::Zero(10);
  CHECK(std::abs(mixture.log_z(0) - mixture.log_base(origin) - 26.195) < 5e-4);
  CHECK(std::abs(mixture.log_z(1) - 5.7236) < 5e-5);
}

TEST_CASE("the mixture's log Z is the integral of its tempered density") {
  const GaussianMixture one({.dimension = 1}), ten;
  for (int k = 0; k < 20; ++k) {
    const double b = Ladder::geometric(20)[k];
    CAPTURE(b);
    const double first_axis = log_z_by_quadrature(one, b);
    CHECK(std::abs(one.log_z(b) - first_axis) < 1e-12);
    const double other_axis =
        0.5 * std::log(2 * M_PI / ten.precision(b)) - 0.5 * (1 - b) * std::log(2 * M_PI * 30.0);
    CHECK(std::abs(ten.log_z(b) - first_axis - 9 * other_axis) < 1e-11);
  }
}

TEST_CASE("the mixture without separation is one Gaussian at every inverse temperature") {
  const GaussianMixture mixture({.dimension = 4, .separation = 0});
  for (const double b : {0.0, 0.01, 0.5, 0.99, 1.0}) {
    const double precision = b / 0.5 + (1 - b) / 30;
    const double log_z =
        2 * std::log(2 * M_PI / precision) - 2 * (1 - b) * std::log(2 * M_PI * 30.0);
    CHECK(std::abs(mixture.log_z(b) - log_z) < 1e-12);
  }
}

TEST_CASE("a mixture of impossible sizes is refused") {
  CHECK_THROWS_AS(GaussianMixture({.dimension = 0}), InvalidArgument);
  CHECK_THROWS_AS(GaussianMixture({.separation = -1}), InvalidArgument);
  CHECK_THROWS_AS(GaussianMixture({.variance = 0}), InvalidArgument);
  CHECK_THROWS_AS(GaussianMixture({.base_variance = INFINITY}), InvalidArgument);
  CHECK_THROWS_AS(GaussianMixture().log_z(1.5), InvalidArgument);
  // Whose sum would not end, or overflow.
  CHECK_THROWS_WITH(GaussianMixture({.dimension = 1, .separation = 1e5, .variance = 1}),
                    Catch::Contains("less far apart"));
  CHECK_THROWS_AS(GaussianMixture({.separation = 5, .variance = 1e-9}), InvalidArgument);
  CHECK_THROWS_AS(GaussianMixture({.separation = 100, .base_variance = 1e12}), InvalidArgument);
  const GaussianMixture far({.dimension = 1, .separation = 2000, .variance = 1});
  // Terms of 2000^2 / 8 nats cancel: some 5e5 roundings.
  CHECK(far.log_z(1) == Approx(0.5 * std::log(2 * M_PI)).margin(5e5 * 1e-15));
}
