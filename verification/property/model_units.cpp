#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "boltzmark/core/error.hpp"
#include "boltzmark/model/unit.hpp"

using namespace boltzmark;

namespace {

/// The definition, term by term in long double: log( 2/(s+1) sum_k e^{x (2k-s)/s} ), with the
/// largest exponent taken out.
long double log_sum_over_values(int steps, long double x) {
  long double sum = 0;
  for (int k = 0; k <= steps; ++k) sum += std::exp(x * (2 * k - steps) / steps - std::abs(x));
  return std::abs(x) + std::log(2 * sum / (steps + 1));
}

/// The mean by the same sums, v and -v taken together: sum v (e^{xv} - e^{-xv}) / sum e^{xv}, which
/// does not cancel near x = 0.
long double mean_over_values(int steps, long double x) {
  const long double size = std::abs(x);
  long double sum = 0, weighted = 0;
  for (int k = 0; k <= steps; ++k) {
    const long double value = static_cast<long double>(2 * k - steps) / steps;
    const long double weight = std::exp(size * (value - 1));
    sum += weight;
    if (value > 0) weighted -= value * weight * std::expm1(-2 * size * value);
  }
  return std::copysign(weighted / sum, x);
}

// The distance to the next double.
double ulp(double value) {
  const double size = std::abs(value);
  return std::nextafter(size, 2 * size + 1) - size;
}

const double kInputs[] = {0,   1e-300, 1e-12, 1e-5, 1e-3, 0.01, 0.1, 0.5, 0.999, 1.0, 1.001,
                          2.5, 7,      20,    36.7, 40,   88,   300, 700, 745,   1e5};

}  // namespace

TEST_CASE("log_partition and mean_value of X(s) are the sums over its values") {
  for (const int steps : {1, 2, 3, 4, 10, 255, 65535}) {
    const Unit unit = Unit::multivalued(steps);
    for (const double size : kInputs) {
      for (const double x : {size, -size}) {
        CAPTURE(steps, x);
        const auto log_sum = static_cast<double>(log_sum_over_values(steps, x));
        const auto mean = static_cast<double>(mean_over_values(steps, x));
        // 4 units of the last place, and what the sum itself may be off by: steps long double
        // roundings of up to 65535 2^-64 < 2^-48.
        const double sum_error = steps * 0x1p-64;
        CHECK(std::abs(log_partition(unit, x) - log_sum) <= 4 * ulp(log_sum) + sum_error);
        CHECK(std::abs(mean_value(unit, x) - mean) <= 4 * ulp(mean) + sum_error * std::abs(mean));
      }
    }
  }
}

TEST_CASE("log_partition and mean_value are good to 4 units of the last place over their range") {
  for (const int steps : {1, 2, 3, 4, 5, 8, 16, 64}) {
    const Unit unit = Unit::multivalued(steps);
    for (double x = 0x1p-30; x < 1000; x *= 1.0371) {
      CAPTURE(steps, x);
      // The sums are off by 64 2^-64 at most, a 32nd of a unit of the last place.
      const long double log_error = log_partition(unit, x) - log_sum_over_values(steps, x);
      const long double mean_error = mean_value(unit, x) - mean_over_values(steps, x);
      CHECK(static_cast<double>(std::abs(log_error)) <= 4 * ulp(log_partition(unit, x)));
      CHECK(static_cast<double>(std::abs(mean_error)) <= 4 * ulp(mean_value(unit, x)));
    }
  }
  for (double x = 0x1p-4; x < 1000; x *= 1.0371) {
    CAPTURE(x);
    const long double y = x;
    const long double log_sinh = y + std::log(-std::expm1(-2 * y) / y);
    CHECK(static_cast<double>(std::abs(log_partition(Unit::continuous(), x) - log_sinh)) <=
          4 * ulp(log_partition(Unit::continuous(), x)));
    if (x < 1) continue;  // below, this mean cancels in long double too
    const long double mean = 1 + 2 / std::expm1(2 * y) - 1 / y;
    CHECK(static_cast<double>(std::abs(mean_value(Unit::continuous(), x) - mean)) <=
          4 * ulp(mean_value(Unit::continuous(), x)));
  }
}

TEST_CASE("the spin X(1) has log_partition log(2 cosh x) and mean tanh x") {
  const Unit spin = Unit::multivalued(1);
  for (const double x : kInputs) {
    CAPTURE(x);
    const auto expected =
        static_cast<double>(std::abs(static_cast<long double>(x)) +
                            std::log1p(std::exp(-2 * static_cast<long double>(x))));
    CHECK(log_partition(spin, x) == Approx(expected).epsilon(1e-15));
    CHECK(mean_value(spin, x) == Approx(std::tanh(x)).epsilon(4e-15));
  }
}

TEST_CASE("the continuous unit has log_partition log(2 sinh(x)/x) and mean coth x - 1/x") {
  const Unit unit = Unit::continuous();
  for (const double size : kInputs) {
    for (const double x : {size, -size}) {
      CAPTURE(x);
      const long double y = std::abs(static_cast<long double>(x));
      if (y < 1e-2L) {
        // The first neglected terms are y^4/2835*y^2 < 1e-15 and y^7/4725 < y * 1e-15.
        CHECK(log_partition(unit, x) ==
              Approx(static_cast<double>(std::log(2.0L) + y * y / 6 - y * y * y * y / 180))
                  .epsilon(1e-15));
        const auto mean = static_cast<double>(y / 3 - y * y * y / 45 + 2 * std::pow(y, 5) / 945);
        CHECK(mean_value(unit, x) == Approx(std::copysign(mean, x)).epsilon(2e-15));
      } else {
        const long double log_sinh = y + std::log(-std::expm1(-2 * y) / y);
        const long double mean = 1 + 2 / std::expm1(2 * y) - 1 / y;
        CHECK(log_partition(unit, x) == Approx(static_cast<double>(log_sinh)).epsilon(2e-15));
        // Below 1 long double loses 1/(y^2/3) of its 2^-64, at worst 3e4 * 5e-20 = 2e-15.
        CHECK(mean_value(unit, x) ==
              Approx(std::copysign(static_cast<double>(mean), x)).epsilon(4e-15));
      }
    }
  }
}

TEST_CASE("X(s) tends to the continuous unit as s grows") {
  // The midpoint-like sum differs from the integral by O(x^2 / s) relative.
  for (const double x : {0.3, 1.0, 4.0}) {
    const double limit = log_partition(Unit::continuous(), x);
    double before = std::numeric_limits<double>::infinity();
    for (const int steps : {1, 10, 100, 1000, 10000}) {
      const double gap = std::abs(log_partition(Unit::multivalued(steps), x) - limit);
      CHECK(gap < before);
      before = gap;
    }
    CHECK(before < x * x / 10000);
  }
}

TEST_CASE("mean_value is the derivative of log_partition") {
  const double h = 1e-5;
  for (const auto unit :
       {Unit::bernoulli(), Unit::multivalued(1), Unit::multivalued(5), Unit::continuous()}) {
    for (const double x : {-30.0, -3.0, -0.4, -1e-3, 0.0, 1e-3, 0.9, 1.1, 5.0, 50.0}) {
      CAPTURE(unit.name(), x);
      const double slope = (log_partition(unit, x + h) - log_partition(unit, x - h)) / (2 * h);
      // Truncation h^2/6 |third derivative| <= h^2/6; rounding 2 eps |log_partition| / (2h).
      const double bound = h * h / 6 + 4 * 2.3e-16 * (1 + std::abs(x)) / h;
      CHECK(std::abs(slope - mean_value(unit, x)) <= bound);
    }
  }
}

TEST_CASE("a unit's values, weights and names are those of its code") {
  CHECK(Unit::bernoulli().values() == 2);
  CHECK(Unit::bernoulli().value(1) == 1.0);
  CHECK(Unit::bernoulli().log_weight() == 0.0);
  const Unit x4 = Unit::from_code(4);
  CHECK(x4.values() == 5);
  CHECK(x4.value(0) == -1.0);
  CHECK(x4.value(1) == -0.5);
  CHECK(x4.value(4) == 1.0);
  CHECK(x4.log_weight() == std::log(2.0 / 5.0));
  CHECK(Unit::multivalued(1).log_weight() == 0.0);
  CHECK(x4.name() == "X(4)");
  CHECK(Unit::from_code(-1) == Unit::continuous());
  CHECK(Unit::from_code(-2).name() == "Gaussian");
}

TEST_CASE("unit codes and questions that make no sense are refused") {
  CHECK_THROWS_AS(Unit::from_code(-3), InvalidArgument);
  CHECK_THROWS_AS(Unit::from_code(Unit::max_steps + 1), InvalidArgument);
  CHECK_THROWS_AS(Unit::multivalued(0), InvalidArgument);
  CHECK_THROWS_AS(Unit::continuous().log_weight(), InvalidArgument);
  CHECK_THROWS_AS(log_partition(Unit::gaussian(), 0), InvalidArgument);
  CHECK_THROWS_AS(mean_value(Unit::gaussian(), 0), InvalidArgument);
}
