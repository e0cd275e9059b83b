// Named ladders against their published rungs, and where equalise places rungs, against the length that it equalises.
#include "boltzmark/target/ladder.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "boltzmark/core/error.hpp"
#include "boltzmark/random/stream.hpp"

using namespace boltzmark;

namespace {

// Length from 0 to b: trapezoids between rungs, linear inside an interval.
double length_to(const Ladder& ladder, const Eigen::VectorXd& density, double b) {
  double length = 0;
  for (int k = 0; k + 1 < ladder.rungs() && ladder[k] < b; ++k)
    length += (std::min(b, ladder[k + 1]) - ladder[k]) * (density[k] + density[k + 1]) / 2;
  return length;
}

}  // namespace

TEST_CASE("a constant density makes the equalised ladder linear whatever ladder it was given at") {
  for (const int rungs : {2, 3, 10, 100})
    for (const Ladder& given : {Ladder::linear(7), Ladder::geometric(20)}) {
      const Ladder equal = equalise(given, Eigen::VectorXd::Constant(given.rungs(), 3.5), rungs);
      REQUIRE(equal.rungs() == rungs);
      // Both round a value below 1 to float32.
      for (int k = 0; k < rungs; ++k)
        CHECK(std::abs(equal[k] - Ladder::linear(rungs)[k]) <= std::ldexp(1.0, -23));
    }
}

TEST_CASE("equalised rungs are equally far apart in the length that their density gives") {
  for (std::uint64_t i = 0; i < 50; ++i) {
    Stream stream(make_key(i, "equalise"), Purpose::test);
    const Ladder given = Ladder::geometric(4 + static_cast<int>(stream.below(10)));
    Eigen::VectorXd density(given.rungs());
    for (double& d : density) d = stream.uniform(0.1, 10);
    const int rungs = 2 + static_cast<int>(stream.below(30));
    const Ladder equal = equalise(given, density, rungs);
    REQUIRE(equal.rungs() == rungs);
    const double whole = length_to(given, density, 1);
    // A rung is rounded by 2^-25 at most, and the density is at most 10.
    for (int k = 0; k < rungs; ++k)
      REQUIRE(std::abs(length_to(given, density, equal[k]) - whole * k / (rungs - 1)) <=
              10 * std::ldexp(1.0, -25) + 1e-12);
  }
}

TEST_CASE("named ladders have their published rungs") {
  // e^(log(1000) / 2) = 31.6228: half-way of log b + 1 / 999.
  CHECK(Ladder::geometric(3)[1] == Approx((std::sqrt(1000.0) - 1) / 999).epsilon(1e-6));
  CHECK(Ladder::geometric(4)[1] == Approx(9.0 / 999).epsilon(1e-6));
  CHECK(Ladder::geometric(4)[2] == Approx(99.0 / 999).epsilon(1e-6));
  // 14,500 steps in [Salakhutdinov & Murray 2008]: 500 to 0.5, 4,000 to 0.9, 10,000 to 1; here 29.
  const Ladder ladder = Ladder::salakhutdinov_murray(30);
  CHECK(ladder[1] == Approx(0.5));
  CHECK(ladder[5] == Approx(0.7));
  CHECK(ladder[9] == Approx(0.9));
  CHECK(ladder[19] == Approx(0.95));
}

TEST_CASE(
    "where nothing is long a thousandth of the longest counts, and what is no length is refused") {
  // Of densities 1, 0.001, 0.001 the halves are 0.25025 and 0.0005 long: half of their sum, 0.125375,
  // is reached at 0.5 of 0.125375 / 0.25025.
  CHECK(equalise(Ladder({0, 0.5, 1}), Eigen::Vector3d(1, 0, 0), 3)[1] ==
        Approx(0.2504995).epsilon(1e-6));
  const Ladder three = Ladder::linear(3);
  for (const Eigen::Vector3d& wrong : {Eigen::Vector3d(1, -1, 1), Eigen::Vector3d(1, NAN, 1),
                                       Eigen::Vector3d(0, 0, 0), Eigen::Vector3d(1, INFINITY, 1)})
    CHECK_THROWS_AS(equalise(three, wrong, 3), InvalidArgument);
  CHECK_THROWS_AS(equalise(three, Eigen::Vector2d(1, 1), 3), InvalidArgument);
  CHECK_THROWS_AS(Ladder::salakhutdinov_murray(3), InvalidArgument);
  CHECK_NOTHROW(Ladder::salakhutdinov_murray(4));
}
