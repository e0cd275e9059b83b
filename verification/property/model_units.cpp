#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/model/unit.hpp"

using namespace boltzmark;

namespace {

static_assert(std::numeric_limits<long double>::digits >= 64, "the oracles need 11 bits to spare");

/// Adds long doubles and keeps what rounding takes off (Neumaier): the sum is good to 2^-63 of the
/// terms' sizes for any number of them.
class CompensatedSum {
 public:
  void add(long double term) {
    const long double sum = sum_ + term;
    lost_ += std::abs(sum_) >= std::abs(term) ? (sum_ - sum) + term : (term - sum) + sum_;
    sum_ = sum;
  }
  long double value() const { return sum_ + lost_; }

 private:
  long double sum_ = 0, lost_ = 0;
};

/// The definition, term by term: log( 2/(s+1) sum_k e^{x (2k-s)/s} ), with the largest exponent
/// taken out of each before it is rounded.
long double log_sum_over_values(int steps, long double x) {
  CompensatedSum sum;
  for (int k = 0; k <= steps; ++k) sum.add(std::exp(-2 * std::abs(x) * k / steps));
  return std::abs(x) + std::log(2 * sum.value() / (steps + 1));
}

/// The mean by the same sums, v and -v taken together: sum v (e^{xv} - e^{-xv}) / sum e^{xv}, which
/// does not cancel near x = 0.
long double mean_over_values(int steps, long double x) {
  const long double size = std::abs(x);
  CompensatedSum sum, weighted;
  for (int k = 0; k <= steps; ++k) {
    const long double value = static_cast<long double>(steps - 2 * k) / steps;
    const long double weight = std::exp(-2 * size * k / steps);
    sum.add(weight);
    if (value > 0) weighted.add(-value * weight * std::expm1(-2 * size * value));
  }
  return std::copysign(weighted.value() / sum.value(), x);
}

/// sinh(y)/y and y L(y) sinh(y)/y = cosh y - sinh(y)/y, y <= 4, by their series
/// sum_k y^{2k}/(2k+1)! and sum_k 2k y^{2k}/(2k+1)!: all terms are positive, and 40 leave nothing.
struct HyperbolicSeries {
  explicit HyperbolicSeries(long double y) {
    long double term = 1;
    for (int k = 0; k < 40; ++k) {
      sinhc += term;
      rest += 2 * k * term;
      term *= y * y / ((2 * k + 2) * (2 * k + 3));
    }
  }
  long double sinhc = 0, rest = 0;
};

/// log(sinh(y) / y) and coth y - 1/y of y >= 0 in long double: a few times 2^-64, absolute and
/// relative.
long double log_sinhc(long double y) {
  if (y <= 4) return std::log(HyperbolicSeries(y).sinhc);
  return y + std::log(-std::expm1(-2 * y) / (2 * y));
}
long double langevin(long double y) {
  if (y < 1e-100L) return y / 3;  // y^2 leaves the range of long double
  if (y > 4) return 1 + 2 / std::expm1(2 * y) - 1 / y;
  const HyperbolicSeries series(y);
  return series.rest / (y * series.sinhc);
}

/// Eqs. 6, 7 and 14 in long double. The differences lose a factor of (A + B)/(A - B) <= 5/3 of the
/// roundings for s >= 2, 2 for the spin.
long double closed_log_partition(Unit unit, long double x) {
  const long double size = std::abs(x), s = unit.code(), ln2 = std::log(2.0L);
  if (unit.is_bernoulli()) return std::max(x, 0.0L) + std::log1p(std::exp(-size));
  if (!unit.is_discrete()) return ln2 + log_sinhc(size);
  return ln2 + log_sinhc((s + 1) * size / s) - log_sinhc(size / s);
}
long double closed_mean(Unit unit, long double x) {
  const long double size = std::abs(x), s = unit.code();
  if (unit.is_bernoulli()) return 1 / (1 + std::exp(-x));
  if (!unit.is_discrete()) return std::copysign(langevin(size), x);
  return std::copysign(((s + 1) * langevin((s + 1) * size / s) - langevin(size / s)) / s, x);
}

/// How far a value is from the true one, in units of its last place.
double ulps(double value, long double truth) {
  const double size = std::abs(value);
  const double ulp = std::nextafter(size, std::numeric_limits<double>::infinity()) - size;
  return static_cast<double>(std::abs(value - truth) / ulp);
}

const double kInputs[] = {0,   1e-300, 1e-12, 1e-5, 1e-3, 0.01, 0.1, 0.5, 0.999, 1.0, 1.001,
                          2.5, 7,      20,    36.7, 40,   88,   300, 700, 745,   1e5};

/// Inputs of both signs: logarithmic from 1e-300 to 1e3, and 20,000 in [0.5, 20], where the ways of
/// computing meet.
std::vector<double> dense_inputs() {
  std::vector<double> inputs;
  const auto both = [&](double size) { inputs.insert(inputs.end(), {size, -size}); };
  for (double size = 1e-300; size < 1e-9; size *= 3.1) both(size);
  for (double size = 1e-9; size < 1000; size *= 1.0071) both(size);
  for (int i = 0; i < 10000; ++i) both(0.5 + 19.5 * (i + 0.37) / 10000);
  both(6.324458525407316);
  return inputs;
}

}  // namespace

TEST_CASE("log_partition and mean_value of X(s) are the sums over its values") {
  for (const int steps : {1, 2, 3, 4, 10, 255, 65535}) {
    const Unit unit = Unit::multivalued(steps);
    for (const double size : kInputs) {
      for (const double x : {size, -size}) {
        CAPTURE(steps, x);
        CHECK(ulps(log_partition(unit, x), log_sum_over_values(steps, x)) <= 4);
        CHECK(ulps(mean_value(unit, x), mean_over_values(steps, x)) <= 4);
      }
    }
  }
}

// The oracle's own error, ten roundings of 2^-64, is below a hundredth of a unit of the last place.
TEST_CASE("log_partition and mean_value are good to 4 units of the last place over their range") {
  const std::vector<double> inputs = dense_inputs();
  for (const int code : {-1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 64, 65535}) {
    const Unit unit = Unit::from_code(code);
    double worst = 0, worst_at = 0;
    for (const double x : inputs) {
      const double error = std::max(ulps(log_partition(unit, x), closed_log_partition(unit, x)),
                                    ulps(mean_value(unit, x), closed_mean(unit, x)));
      if (error <= worst) continue;
      worst = error;
      worst_at = x;
    }
    CAPTURE(unit.name(), worst_at);
    CHECK(worst <= 4);
  }
}

TEST_CASE("log_partition is log 2 and the mean 0 at 0, and far out |x| + a constant and 1") {
  for (const int code : {-1, 1, 2, 64, 65535}) {
    const Unit unit = Unit::from_code(code);
    CAPTURE(unit.name());
    CHECK(log_partition(unit, 0) == std::numbers::ln2);
    CHECK(mean_value(unit, 0) == 0);
    for (const double x : {1e17, 1e300, 1.7e308}) {
      CHECK(mean_value(unit, x) == 1);
      CHECK(mean_value(unit, -x) == -1);
      CHECK(ulps(log_partition(unit, x), closed_log_partition(unit, x)) <= 4);
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
