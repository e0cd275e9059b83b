// The law of a continuous inverse temperature given D, against its integral.
#include "boltzmark/estimate/estimators/continuous_tempering.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "boltzmark/random/stream.hpp"
#include "verification/exact/support/noting_target.hpp"

using namespace boltzmark;

namespace {

struct KnotCase {
  Ladder knots;
  Eigen::VectorXd log_z_hat;
  double log_ratio;
};

KnotCase draw_knot_case(Stream& stream) {
  const int rungs = 2 + static_cast<int>(stream.below(8));
  const bool linear = stream.below(2) == 0;
  KnotCase c{linear ? Ladder::linear(rungs) : Ladder::geometric(rungs),
             Eigen::VectorXd::Zero(rungs), stream.uniform(-30, 30)};
  for (int k = 1; k < rungs; ++k)
    c.log_z_hat[k] = c.log_z_hat[k - 1] + stream.uniform(-1, 1) * 20 / rungs;
  return c;
}

double log_density(const KnotCase& c, int k, double b) {
  const double share = (b - c.knots[k]) / (c.knots[k + 1] - c.knots[k]);
  return b * c.log_ratio - (1 - share) * c.log_z_hat[k] - share * c.log_z_hat[k + 1];
}

// Simpson's rule on 4,000 intervals: with exponents up to 50 its error is below
// 50^4 / (180 * 4000^4) = 1.4e-10 of the integral.
double integral(const KnotCase& c, int k, double to) {
  constexpr int kParts = 4000;
  const double from = c.knots[k], step = (to - from) / kParts;
  double sum = 0;
  for (int i = 0; i <= kParts; ++i) {
    const double weight = i == 0 || i == kParts ? 1 : i % 2 == 1 ? 4 : 2;
    sum += weight * std::exp(log_density(c, k, from + i * step));
  }
  return sum * step / 3;
}

}  // namespace

TEST_CASE("a continuous inverse temperature is drawn by inverting the integral of its density") {
  for (std::uint64_t i = 0; i < 100; ++i) {
    Stream stream(make_key(i, "continuous tempering"), Purpose::test);
    const KnotCase c = draw_knot_case(stream);
    const int intervals = c.knots.rungs() - 1;
    Eigen::VectorXd exact(intervals);
    for (int k = 0; k < intervals; ++k) exact[k] = integral(c, k, c.knots[k + 1]);
    const double u = stream.uniform(), place = stream.uniform();
    Eigen::VectorXd masses;
    int interval = 0;
    const double b =
        draw_inverse_temperature(c.knots, c.log_z_hat, c.log_ratio, u, place, masses, interval);
    CAPTURE(i, u, place, interval);
    REQUIRE((masses - exact / exact.sum()).cwiseAbs().maxCoeff() < 1e-9);
    REQUIRE(masses.head(interval).sum() <= u);
    REQUIRE((interval == intervals - 1 || u < masses.head(interval + 1).sum()));
    REQUIRE(c.knots[interval] <= b);
    REQUIRE(b <= c.knots[interval + 1]);
    REQUIRE(std::abs(integral(c, interval, b) / exact[interval] - place) < 1e-8);
  }
}

TEST_CASE("a continuous inverse temperature goes on from the rung where the first half ended") {
  const NotingTarget target;
  continuous_tempering(
      target, {.chains = 9, .sweeps = 400, .knots = Ladder::linear(5), .key = make_key(3)});
  REQUIRE(target.moves.size() == 400);
  CHECK(target.moves[200] == target.moves[199]);
  CHECK(target.moves[201] != target.moves[200]);
}

TEST_CASE("a continuous inverse temperature is finite at any D and uniform at none") {
  const Ladder knots = Ladder::linear(5);
  const Eigen::VectorXd flat = Eigen::VectorXd::Zero(5);
  Eigen::VectorXd masses;
  int interval = 0;
  for (const double place : {0.1, 0.5, 0.9}) {
    CHECK(std::abs(draw_inverse_temperature(knots, flat, 0, 0.3, place, masses, interval) -
                   (1 + place) / 4) < 1e-15);
    CHECK(draw_inverse_temperature(knots, flat, 1e6, 0.3, place, masses, interval) > 0.9999);
    CHECK(draw_inverse_temperature(knots, flat, -1e6, 0.3, place, masses, interval) < 0.0001);
  }
}
