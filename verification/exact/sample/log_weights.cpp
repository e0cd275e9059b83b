// Means of importance weights, their errors, and the tail of their law.
#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/diagnose/pareto.hpp"
#include "boltzmark/sample/estimate.hpp"

using namespace boltzmark;

namespace {

// The quantiles of a generalised Pareto law of scale 1 at the middles of n equal steps.
std::vector<double> pareto_quantiles(double shape, int n) {
  std::vector<double> values;
  for (int i = 0; i < n; ++i)
    values.push_back(std::expm1(-shape * std::log1p(-(i + 0.5) / n)) / shape);
  return values;
}

Estimate estimate_at(double log_z, double half) {
  Estimate e;
  e.log_z = log_z;
  e.std_error = half / 2;
  e.lower = log_z - half;
  e.upper = log_z + half;
  return e;
}

}  // namespace

TEST_CASE("the jackknife error of a log mean is that of leaving each weight out") {
  const std::vector<double> weights = {1, 2, 4, 0.5, 7, 3};
  Eigen::VectorXd logs(6);
  for (int i = 0; i < 6; ++i) logs[i] = std::log(weights[i]) + 800;  // beyond the range of exp
  Eigen::VectorXd without(6);
  for (int i = 0; i < 6; ++i) without[i] = std::log((17.5 - weights[i]) / 5);
  const double variance = 5.0 / 6 * (without.array() - without.mean()).square().sum();
  const WeightSummary summary = summarise(logs);
  CHECK(summary.log_mean == Approx(std::log(17.5 / 6) + 800).epsilon(1e-14));
  CHECK(summary.std_error == Approx(std::sqrt(variance)).epsilon(1e-10));
  CHECK(summary.effective_samples == Approx(17.5 * 17.5 / 79.25).epsilon(1e-12));
  CHECK(std::isnan(summary.pareto_k));
}

TEST_CASE("weights that count n times are n weights that stand together") {
  const Eigen::VectorXd logs = Eigen::Vector4d(0.3, -1, 2, 0.5),
                        counts = Eigen::Vector4d(1, 3, 2, 5);
  const Eigen::ArrayXd weights = logs.array().exp() * counts.array();
  Eigen::VectorXd without(4);
  for (int i = 0; i < 4; ++i)
    without[i] = std::log((weights.sum() - weights[i]) / (counts.sum() - counts[i]));
  const WeightSummary summary = summarise(logs, counts);
  CHECK(summary.log_mean == Approx(std::log(weights.sum() / counts.sum())).epsilon(1e-14));
  CHECK(summary.std_error ==
        Approx(std::sqrt(3.0 / 4 * (without.array() - without.mean()).square().sum()))
            .epsilon(1e-12));
  CHECK(summary.effective_samples ==
        Approx(weights.sum() * weights.sum() / weights.square().sum()).epsilon(1e-12));
  CHECK(summary.count == 4);
  // Equal counts are none.
  CHECK(summarise(logs, Eigen::VectorXd::Constant(4, 7)).std_error ==
        Approx(summarise(logs).std_error).epsilon(1e-12));
  CHECK_THROWS_AS(summarise(logs, Eigen::Vector4d(1, 0, 1, 1)), InvalidArgument);
}

TEST_CASE("the interval is Student's, and log 40 bounds it where Markov's inequality does") {
  const WeightSummary summary{
      .log_mean = 3, .std_error = 1, .effective_samples = 80, .pareto_k = 0.1, .count = 3};
  const double half = 0.95 * std::sqrt(2 / (1 - 0.95 * 0.95));  // the quantile of 2 degrees
  const Estimate below = estimate_from_weights(summary, Bound::lower);
  CHECK(below.log_z == 3);
  CHECK(below.lower == Approx(3 - std::log(40.0)).epsilon(1e-14));
  CHECK(below.upper == Approx(3 + half).epsilon(1e-12));
  const Estimate above = estimate_from_weights(summary, Bound::upper);
  CHECK(above.log_z == -3);
  CHECK(above.lower == Approx(-3 - half).epsilon(1e-12));
  CHECK(above.upper == Approx(-3 + std::log(40.0)).epsilon(1e-14));
  CHECK(above.status == Status::ok);
}

TEST_CASE("weights that are all equal have an interval of their rounding, not of nothing") {
  const WeightSummary summary = summarise(Eigen::VectorXd::Constant(100, 500.1));
  for (const Bound bound : {Bound::lower, Bound::upper}) {
    const Estimate estimate = estimate_from_weights(summary, bound);
    CHECK(estimate.std_error < 1e-12);
    CHECK(estimate.upper - estimate.log_z > 1e-10);
    CHECK(estimate.log_z - estimate.lower > 1e-10);
    CHECK(estimate.upper - estimate.lower < 2e-9);
  }
}

TEST_CASE("few effective samples or a heavy tail make an estimate of weights untrusted") {
  WeightSummary summary{.std_error = 1, .effective_samples = 49, .pareto_k = 0.1, .count = 90};
  CHECK(estimate_from_weights(summary, Bound::lower).status == Status::few_effective_samples);
  summary.effective_samples = 60;
  summary.pareto_k = 0.51;
  CHECK(estimate_from_weights(summary, Bound::lower).status == Status::few_effective_samples);
  CHECK(estimate_from_weights(summary, Bound::lower).warnings.size() == 1);
  CHECK_THROWS_AS(summarise(Eigen::VectorXd::Zero(1)), InvalidArgument);
  CHECK_THROWS_AS(summarise(Eigen::Vector2d(0, std::nan(""))), InvalidArgument);
}

TEST_CASE("a sandwich takes the outer limits, and tells when they cross") {
  const Estimate joined = sandwich(estimate_at(1, 0.5), estimate_at(2, 0.25));
  CHECK(joined.log_z == 1.5);
  CHECK(joined.lower == 0.5);
  CHECK(joined.upper == 2.25);
  CHECK(joined.std_error == Approx(std::hypot((0.25 + 0.125) / 2, std::sqrt(1.0 / 12))));
  CHECK(joined.status == Status::ok);
  const Estimate crossed = sandwich(estimate_at(2, 0.25), estimate_at(1, 0.5));
  CHECK(crossed.status == Status::not_converged);
  CHECK(crossed.lower <= crossed.upper);
  CHECK(crossed.std_error == Approx((0.25 + 0.125) / 2));  // no gap is between them
  // The worse of both says what the sandwich is worth.
  Estimate many = estimate_at(1, 0.5), few = estimate_at(2, 0.25);
  many.effective_samples = 80;
  few.effective_samples = 50;
  CHECK(sandwich(many, few).effective_samples == 50);
  std::swap(many.effective_samples, few.effective_samples);
  CHECK(sandwich(many, few).effective_samples == 50);
  Estimate refused = estimate_at(2, 0.25);
  refused.refuse(Status::few_effective_samples, "few");
  CHECK(sandwich(estimate_at(1, 0.5), refused).status == Status::few_effective_samples);
  CHECK(sandwich(refused, estimate_at(3, 0.5)).status == Status::few_effective_samples);
  CHECK(sandwich(estimate_at(1, 0.5), refused).warnings == std::vector<std::string>{"few"});
}

// By the paper's formulas in another program (Python, doubles): the grid of theta from the first
// quartile, 1 of five and 2 of eight values.
TEST_CASE("the fitted Pareto law is Zhang's and Stephens' posterior mean") {
  const GeneralisedPareto five = fit_generalised_pareto(std::vector<double>{0.5, 1, 2, 4, 9});
  CHECK(five.shape == Approx(0.4162062874027015).epsilon(1e-10));
  CHECK(five.scale == Approx(2.287851373123067).epsilon(1e-10));
  const GeneralisedPareto eight =
      fit_generalised_pareto(std::vector<double>{1, 2, 3, 4, 5, 6, 7, 20});
  CHECK(eight.shape == Approx(0.127612785941329).epsilon(1e-10));
  CHECK(eight.scale == Approx(5.352385506490091).epsilon(1e-10));
  // Two more of seven are known to be at least 3 and 6.
  const GeneralisedPareto cut =
      fit_generalised_pareto(std::vector<double>{0.5, 1, 2, 4, 9}, std::vector<double>{3, 6});
  CHECK(cut.shape == Approx(0.2272952295556724).epsilon(1e-10));
  CHECK(cut.scale == Approx(4.493454260837357).epsilon(1e-10));
}

TEST_CASE("the fitted Pareto law is the same where its largest values are known by a limit alone") {
  for (const double shape : {0.2, 0.8, 1.5}) {
    std::vector<double> whole = pareto_quantiles(shape, 2000);
    std::sort(whole.begin(), whole.end());
    const std::vector<double> at_least(400, whole[1600]);
    whole.resize(1600);
    CAPTURE(shape);
    CHECK(std::abs(fit_generalised_pareto(whole, at_least).shape - shape) < 0.06);
    // Taken for whole they seem to be all that there is.
    whole.insert(whole.end(), at_least.begin(), at_least.end());
    CHECK(fit_generalised_pareto(whole).shape < shape - 0.2);
  }
  const std::vector<double> five = {0.5, 1, 2, 4, 9};
  CHECK_THROWS_AS(fit_generalised_pareto(five, std::vector<double>{0}), InvalidArgument);
  CHECK_THROWS_AS(fit_generalised_pareto(std::vector<double>{1, 2, 3, 4}, five), InvalidArgument);
}

TEST_CASE("the fit of a generalised Pareto law finds the shape and scale of its quantiles") {
  for (const double shape : {-0.3, 0.2, 0.5, 1.0}) {
    std::vector<double> values = pareto_quantiles(shape, 2000);
    for (double& value : values) value *= 3;
    const GeneralisedPareto fit = fit_generalised_pareto(values);
    CAPTURE(shape);
    // The asymptotic errors of n = 2000 draws are (1 + shape) / sqrt(n) and less; quantiles lie
    // well inside one of them, 0.03.
    CHECK(std::abs(fit.shape - shape) < 0.03);
    CHECK(std::abs(fit.scale / 3 - 1) < 0.03);
  }
  CHECK_THROWS_AS(fit_generalised_pareto(pareto_quantiles(0.5, 4)), InvalidArgument);
  CHECK_THROWS_AS(fit_generalised_pareto(std::vector<double>{1, 2, 3, 4, 0}), InvalidArgument);
}

TEST_CASE("Pareto k tells weights of finite variance from those without") {
  // Weights with P(w > x) = x^(-1/k) have a tail of shape k; 10 values of 1/2 are added to the fit
  // of the largest 3 sqrt(4000) = 190.
  for (const double k : {0.2, 0.9}) {
    std::vector<double> logs;
    for (int i = 0; i < 4000; ++i) logs.push_back(-k * std::log((i + 0.5) / 4000) + 1000);
    CHECK(std::abs(pareto_shape(logs) - (190 * k + 5) / 200) < 0.05);
    // The weights fall with i: the tail is the first 190 less the next, relative to the first.
    std::vector<double> tail;
    for (int i = 0; i < 190; ++i)
      tail.push_back(std::exp(logs[i] - logs[0]) - std::exp(logs[190] - logs[0]));
    const double fitted = (190 * fit_generalised_pareto(tail).shape + 5) / 200;
    CHECK(pareto_shape(logs) == Approx(fitted).epsilon(1e-12));
  }
  CHECK(std::isnan(pareto_shape(std::vector<double>(20, 0.0))));   // too few for a tail
  CHECK(std::isnan(pareto_shape(std::vector<double>(200, 0.0))));  // no tail
  CHECK_THROWS_AS(pareto_shape(std::vector<double>{0, std::nan("")}), InvalidArgument);
}

TEST_CASE("numbers that are known by a limit alone lengthen the tail of Pareto k") {
  std::map<std::int64_t, std::int64_t> numbers = {{0, 700}};
  for (int n = 1; n <= 40; ++n) numbers[n] = 3000 / (n * n);
  const double shape = pareto_shape_of_numbers(numbers);
  // Of 5,543 the tail is the largest 224; those above 10 are 196, and of 5,573 they are 201.
  std::vector<double> tail;
  for (int n = 11; n <= 40; ++n)
    tail.insert(tail.end(), static_cast<std::size_t>(numbers[n]), n - 10);
  const auto k_of = [&](const std::vector<double>& at_least) {
    const double m = static_cast<double>(tail.size());
    return (m * fit_generalised_pareto(tail, at_least).shape + 5) / (m + 10);
  };
  CHECK(shape == Approx(k_of({})).epsilon(1e-12));
  const std::map<std::int64_t, std::int64_t> cut = {{3, 20}, {8, 5}, {30, 5}};
  CHECK(pareto_shape_of_numbers(numbers, cut) ==
        Approx(k_of(std::vector<double>(5, 20))).epsilon(1e-12));
  // So many that the largest 225 of 5,603 begin above 12.
  tail.clear();
  for (int n = 13; n <= 40; ++n)
    tail.insert(tail.end(), static_cast<std::size_t>(numbers[n]), n - 12);
  CHECK(pareto_shape_of_numbers(numbers, {{30, 60}}) ==
        Approx(k_of(std::vector<double>(60, 18))).epsilon(1e-12));
}

TEST_CASE("a generalised Pareto fit has a number where its grid meets the exponential law") {
  // Of 100 ones one point of the grid is 1 + (1 - sqrt(40 / 2.5)) / 3 = 0.
  const GeneralisedPareto law = fit_generalised_pareto(std::vector<double>(100, 1.0));
  CHECK(std::isfinite(law.shape));
  CHECK(law.scale > 0);
}

TEST_CASE("what is above the largest number is the fitted tail's mean there, by hand") {
  std::map<std::int64_t, std::int64_t> numbers = {{0, 700}};
  double sum = 0;
  std::vector<double> tail;  // above 10, as above
  for (int n = 1; n <= 40; ++n) {
    numbers[n] = 3000 / (n * n);
    sum += static_cast<double>(n * numbers[n]);
    if (n > 10) tail.insert(tail.end(), static_cast<std::size_t>(numbers[n]), n - 10);
  }
  const auto by_hand = [&](const std::vector<double>& at_least, double all, double largest) {
    const GeneralisedPareto law = fit_generalised_pareto(tail, at_least);
    double mean = 0;  // by the midpoint rule, of what lies from the largest to ten times it
    const double from = largest - 10, to = 10 * largest - 10, width = (to - from) / 1e5;
    for (int i = 0; i < 100'000; ++i) {
      const double x = from + (i + 0.5) * width;
      mean += (10 + x) * width / law.scale *
              std::pow(std::max(1 + law.shape * x / law.scale, 0.0), -1 / law.shape - 1);
    }
    return static_cast<double>(tail.size() + at_least.size()) * mean / all;
  };
  const double missing = sum_above_largest(numbers);
  CHECK(missing == Approx(by_hand({}, sum, 40)).epsilon(1e-5));
  CHECK(missing > 0.001);
  CHECK(sum_above_largest(numbers, {{3, 20}, {8, 5}, {60, 5}}) ==
        Approx(by_hand(std::vector<double>(5, 50), sum + 400, 60)).epsilon(1e-5));
  CHECK(sum_above_largest({{3, 20}}) == 0);
  CHECK(sum_above_largest({}) == 0);
  // Heavier tails miss more, those with an end nothing beyond it.
  std::map<std::int64_t, std::int64_t> heavy, even;
  for (int i = 1; i <= 5000; ++i) {
    ++heavy[std::lround(std::pow(5000.0 / i, 0.9))];
    ++even[i % 100];
  }
  CHECK(sum_above_largest(heavy) > 0.1);
  CHECK(sum_above_largest(even) < 0.01);
}

TEST_CASE("Pareto k of numbers is that of weights of which each stands as often") {
  std::map<std::int64_t, std::int64_t> numbers = {{0, 700}};
  std::vector<double> logs(700, -std::numeric_limits<double>::infinity());
  for (int n = 1; n <= 40; ++n) {
    const auto count = static_cast<std::int64_t>(3000 / (n * n));
    numbers[n * n] = count;
    logs.insert(logs.end(), static_cast<std::size_t>(count), 2 * std::log(n));
  }
  const double shape = pareto_shape(logs);
  REQUIRE(std::isfinite(shape));
  CHECK(pareto_shape_of_numbers(numbers) == Approx(shape).epsilon(1e-12));
  // Of numbers that stand once each, the tail of 20 is the largest 20.
  std::map<std::int64_t, std::int64_t> once;
  std::vector<double> logs_once;
  for (int n = 1; n <= 100; ++n) {
    once[n * n * n] = 1;
    logs_once.push_back(3 * std::log(n));
  }
  CHECK(pareto_shape_of_numbers(once) == Approx(pareto_shape(logs_once)).epsilon(1e-9));
  CHECK(std::isnan(pareto_shape_of_numbers({{3, 20}})));
  CHECK(std::isnan(pareto_shape_of_numbers({})));
  CHECK_THROWS_AS(pareto_shape_of_numbers({{-1, 20}}), InvalidArgument);
  CHECK_THROWS_AS(pareto_shape_of_numbers({{1, -20}}), InvalidArgument);
  CHECK_THROWS_AS(pareto_shape_of_numbers({{1, 20}}, {{1, -20}}), InvalidArgument);
}

TEST_CASE("weights refused for their tail alone say so, and not that they are few") {
  Eigen::VectorXd log_weights(2000);
  for (int i = 0; i < 2000; ++i) log_weights[i] = -0.6 * std::log((i + 0.5) / 2000);
  const Estimate heavy = estimate_from_weights(summarise(log_weights), Bound::lower);
  CHECK(heavy.effective_samples > kFewEffectiveSamples);
  CHECK(heavy.status == Status::few_effective_samples);
  REQUIRE(heavy.warnings.size() == 1);
  CHECK_THAT(heavy.warnings[0],
             Catch::StartsWith("Pareto k = ") &&
                 Catch::Contains(fmt::format("that {:.4g} effective", heavy.effective_samples)));
}

TEST_CASE("the upper half of an odd number of log weights is what lies above their median") {
  // Of 0, 1 and 3: q = 2^2 above the median of 1, and t_2 = 4.3027.
  const Eigen::Vector3d log_weights(0, 1, 3);
  const double t = boost::math::quantile(boost::math::students_t(2), 0.975);
  CHECK(summarise(log_weights).normal_limit ==
        Approx(1 + 4 / 2.0 + t * std::sqrt(4 * (std::acos(-1) / 2 + 4) / 3)).epsilon(1e-12));
}

TEST_CASE("an interval reaches the limit that normal log weights have on the side of their tail") {
  // Log weights at the quantiles of N(0, 1), but for the upper sixteenth, which the sample missed.
  const boost::math::normal law;
  Eigen::VectorXd log_weights(64);
  for (int i = 0; i < 64; ++i)
    log_weights[i] = boost::math::quantile(law, (std::min(i, 59) + 0.5) / 64);
  const WeightSummary summary = summarise(log_weights);
  const double q = log_weights.tail(32).squaredNorm() / 32;  // the median is 0
  const double t = boost::math::quantile(boost::math::students_t(63), 0.975);
  const double limit = q / 2 + t * std::sqrt(q * (std::acos(-1) / 2 + q) / 64);
  CHECK(summary.normal_limit == Approx(limit).epsilon(1e-12));
  CHECK(summary.log_mean + t * summary.std_error < summary.normal_limit);
  const Estimate below = estimate_from_weights(summary, Bound::lower);
  CHECK(below.upper == Approx(limit).epsilon(1e-12));
  CHECK(below.lower == Approx(summary.log_mean - t * summary.std_error).epsilon(1e-12));
  const Estimate above = estimate_from_weights(summary, Bound::upper);
  CHECK(above.lower == Approx(-limit).epsilon(1e-12));
}

TEST_CASE("weights so far apart that all but one are 0 beside it have the heaviest of tails") {
  const auto spaced = [](double gap) {
    std::vector<double> log_weights;
    for (int i = 0; i < 1000; ++i) log_weights.push_back(gap * i);
    return pareto_shape(log_weights);
  };
  CHECK(spaced(30) > 100);
  CHECK(spaced(200) > spaced(30));
  CHECK(std::isnan(spaced(0)));
}
