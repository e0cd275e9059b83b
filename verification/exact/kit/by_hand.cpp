// The kit's statistics, powers, spreads and intervals, against numbers that were worked out by hand.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "boltzmark/random/stream.hpp"
#include "experiments/kit/bands.hpp"
#include "experiments/kit/errors.hpp"
#include "experiments/kit/evidence.hpp"
#include "experiments/kit/measures.hpp"
#include "experiments/kit/paired.hpp"
#include "experiments/kit/results.hpp"
#include "experiments/kit/statistics/bootstrap.hpp"
#include "experiments/kit/statistics/interval.hpp"
#include "experiments/kit/statistics/power.hpp"
#include "experiments/kit/statistics/proportion.hpp"
#include "experiments/kit/statistics/trend.hpp"
#include "experiments/kit/statistics/wilcoxon.hpp"
#include "experiments/kit/summary.hpp"
#include "verification/checks/verifier.hpp"

using namespace boltzmark;

namespace {

constexpr double kBeyond = std::numeric_limits<double>::infinity();
constexpr double kTables = 1e-6;  // of the quantiles below, which have seven digits
constexpr double kNormal975 = 1.959964;

/// Simulated shares are within five standard deviations of the truth, at a fixed seed.
void check_simulated(const Interval& power, double truth) {
  CHECK(std::abs(power.estimate - truth) <= 5 * std::sqrt(truth * (1 - truth) / 2000));
  CHECK(power.lower <= power.estimate);
  CHECK(power.estimate <= power.upper);
}

SimulatedPower simulated_by_hand() { return {.key = make_key(1, "by hand")}; }

Interval bootstrapped_median(const std::vector<double>& values, BootstrapMethod method) {
  return bootstrap(
      values, median,
      {.key = make_key(2, "by hand"), .replicates = 4000, .level = 0.6, .method = method});
}

}  // namespace

TEST_CASE("BCa moves the limits of a skewed mean towards its long tail") {
  // Of a mean z0 is about a, and to first order its limits move by 2 z0 + a z^2 standard errors: to the
  // right where the skewness is positive. An acceleration of the wrong sign moves them to the left.
  std::vector<double> values, mirrored;
  for (int i = 0; i < 30; ++i) {
    values.push_back(-std::log((i + 0.5) / 30));  // of an exponential law
    mirrored.push_back(-values.back());
  }
  const auto limits = [](const std::vector<double>& of, BootstrapMethod method) {
    return bootstrap_mean(of,
                          {.key = make_key(3, "by hand"), .replicates = 20000, .method = method});
  };
  const BootstrapInterval plain = limits(values, BootstrapMethod::percentile),
                          moved = limits(values, BootstrapMethod::bca);
  CHECK(moved.lower > plain.lower + 0.05 * plain.std_error);
  CHECK(moved.upper > plain.upper + 0.05 * plain.std_error);
  const BootstrapInterval reversed = limits(mirrored, BootstrapMethod::bca);
  CHECK(reversed.upper == Approx(-moved.lower).margin(0.1 * plain.std_error));
  CHECK(reversed.lower == Approx(-moved.upper).margin(0.1 * plain.std_error));
}

TEST_CASE("BCa gives replicates that are tied with the estimate half to either side") {
  // The median of {0, 0, 1} is 0. Of a resample it is 1 where two or three draws are: 7 of 27.
  //   z0 = q(10 / 27) = -0.3309; leaving one out gives 1/2, 1/2, 0, and a = 0.0680
  //   upper level at 80 %: F(z0 + (z0 + 0.8416) / (1 - a (z0 + 0.8416))) = F(0.198) = 0.578
  // below the 20 of 27 that are 0; the percentile's 0.8 is above, and so is 0.99, where ties count
  // as below: z0 = q(20 / 27) = 0.6457.
  const std::vector<double> values{0, 0, 1};
  const Interval bca = bootstrapped_median(values, BootstrapMethod::bca);
  CHECK(bca.estimate == 0);
  CHECK(bca.lower == 0);
  CHECK(bca.upper == 0);
  CHECK(bootstrapped_median(values, BootstrapMethod::percentile).upper == 1);
  // The mirror image: from the other side of the ties.
  const Interval mirrored = bootstrapped_median({1, 1, 0}, BootstrapMethod::bca);
  CHECK(mirrored.lower == 1);
  CHECK(mirrored.upper == 1);
  CHECK(bootstrapped_median({1, 1, 0}, BootstrapMethod::percentile).lower == 0);
}

TEST_CASE("the bootstrap of two values has their four resamples") {
  // Means 0, 1/2, 1/2 and 1: a standard deviation of sqrt(1/8), and 95 % limits 0 and 1.
  const auto result = bootstrap_mean(std::vector<double>{0, 1}, {.key = make_key(3, "by hand")});
  CHECK(result.estimate == 0.5);
  CHECK(result.std_error == Approx(std::sqrt(0.125)).epsilon(0.03));  // 10,000 replicates: 0.5 %
  CHECK(result.lower == 0);
  CHECK(result.upper == 1);
}

TEST_CASE("the noise of a bootstrap's limits is that of a quantile, and of a standard deviation") {
  std::vector<double> values;
  Stream stream(make_key(4, "noise"), Purpose::test);
  for (int i = 0; i < 400; ++i) values.push_back(stream.normal());
  const BootstrapOptions options{
      .key = make_key(5, "noise"), .replicates = 2000, .method = BootstrapMethod::percentile};
  const BootstrapInterval mean = bootstrap_mean(values, options);
  // Of N(0, s^2) the 0.975 quantile of 2,000 is off by sqrt(0.975 * 0.025 / 2000) / (0.05845 / s), and
  // 1.96 times that in 95 of 100: 0.1170 s. Two ends of one sample tell it to a third.
  for (const double noise : {mean.lower_noise, mean.upper_noise})
    CHECK(noise == Approx(0.1170 * mean.std_error).epsilon(0.4));
  const std::vector<std::size_t> sizes = {5};
  const auto positive = [](const Strata& strata) {
    double sum = 0;
    for (const std::size_t row : strata[0]) sum += 1 + static_cast<double>(row);
    return sum / static_cast<double>(strata[0].size());
  };
  const BootstrapInterval strata = bootstrap_strata(sizes, positive, options);
  // A deviation of 2,000 is known to one in sqrt(4000), and log(upper / estimate) is a multiple of it.
  const double off = std::log(strata.upper / strata.estimate) * 1.96 / std::sqrt(4000.0);
  CHECK(strata.lower_noise == Approx(strata.lower * off).epsilon(1e-9));
  CHECK(strata.upper_noise == Approx(strata.upper * off).epsilon(1e-9));
}

TEST_CASE("powers of exact tests are sums over the outcomes that they reject") {
  // Two throws, p0 = 1/2: p = 1/4 where both succeed.
  CHECK(binomial_power(2, 0.5, 0.8, 0.3, Alternative::greater) == Approx(0.64));
  CHECK(binomial_power(2, 0.5, 0.8, 0.2, Alternative::greater) == 0);
  CHECK(binomial_power(2, 0.5, 0.8, 0.3, Alternative::less) == Approx(0.04));
  CHECK(binomial_power(2, 0.5, 0.8, 0.6, Alternative::two_sided) == Approx(0.68));
  // Of five differences p = 1/32 where all are above 0, two-sided 1/16; of four 1/16.
  check_simulated(signed_rank_power(5, 0, 0.05, Alternative::greater, simulated_by_hand()),
                  1.0 / 32);
  check_simulated(signed_rank_power(6, 0, 0.05, Alternative::two_sided, simulated_by_hand()),
                  1.0 / 32);
  CHECK(signed_rank_power(5, 0, 0.05, Alternative::two_sided, simulated_by_hand()).estimate == 0);
  CHECK(signed_rank_power(4, 9, 0.05, Alternative::greater, simulated_by_hand()).estimate == 0);
  CHECK(signed_rank_power(5, 50, 0.05, Alternative::greater, simulated_by_hand()).estimate == 1);
  CHECK(signed_rank_power(5, -50, 0.05, Alternative::less, simulated_by_hand()).estimate == 1);
  // Beyond 200 differences the tails are the normal law's.
  const auto power = [](std::uint64_t n, double effect, Alternative alternative) {
    return signed_rank_power(n, effect, 0.05, alternative, simulated_by_hand()).estimate;
  };
  CHECK(power(201, 50, Alternative::greater) == 1);
  CHECK(power(201, -50, Alternative::less) == 1);
  CHECK(power(201, -50, Alternative::greater) == 0);
  CHECK(power(201, 0.1, Alternative::greater) ==
        Approx(power(200, 0.1, Alternative::greater)).margin(0.03));
  // One trial a cell: z = sqrt(2) where 0 of 1 rises to 1 of 1, p = 0.0786; a quarter of all cases.
  const std::vector<double> even{0.5, 0.5}, certain{0, 1}, scores{1, 2};
  check_simulated(share_trend_power(even, scores, 1, 0.1, simulated_by_hand()), 0.25);
  CHECK(share_trend_power(even, scores, 1, 0.05, simulated_by_hand()).estimate == 0);
  CHECK(share_trend_power(certain, scores, 5, 0.05, simulated_by_hand()).estimate == 1);
}

TEST_CASE("the power of a normal statistic is its tail beyond the quantile") {
  CHECK(normal_power(0, 0.05, Alternative::greater) == Approx(0.05));
  CHECK(normal_power(1.6448536, 0.05, Alternative::greater) == Approx(0.5).epsilon(kTables));
  CHECK(normal_power(-1.6448536, 0.05, Alternative::less) == Approx(0.5).epsilon(kTables));
  CHECK(normal_power(0, 0.05, Alternative::two_sided) == Approx(0.05));
  // Beyond 1.96 with mean 1.96: a half, and 4.4e-5 beyond -3.92 on the other side.
  CHECK(normal_power(kNormal975, 0.05, Alternative::two_sided) ==
        Approx(0.5 + 4.43e-5).margin(1e-6));
  CHECK(mean_difference_power(7, 0, 0.05, Alternative::two_sided) == Approx(0.05));
  CHECK(mean_difference_power(7, 0, 0.05, Alternative::greater) == Approx(0.05));
}

TEST_CASE("the interval of an average difference of shares is that of its smoothed variances") {
  // 4/8 and 4/18 against 1/8 and 9/18: smoothed 1/2, 1/4, 1/5, 1/2.
  //   difference (3/8 - 5/18) / 2 = 0.0486111
  //   variance (0.25 / 8 + 0.1875 / 18 + 0.16 / 8 + 0.25 / 18) / 4 = 0.0188889
  const std::vector<Count> first{{4, 8}, {4, 18}}, second{{1, 8}, {9, 18}};
  const StratifiedDifference result = stratified_difference(first, second);
  const double half = kNormal975 * std::sqrt(0.0188888889);
  CHECK(result.estimate == Approx(0.0486111111).epsilon(1e-9));
  CHECK(result.upper - result.estimate == Approx(half).epsilon(kTables));
  CHECK(result.estimate - result.lower == Approx(half).epsilon(kTables));
  CHECK(result.p_greater == Approx(std::erfc(0.0486111111 / std::sqrt(0.0377777778)) / 2));
}

TEST_CASE("the slope of shares and its interval are least squares with smoothed variances") {
  // 1, 3 and 6 of 8 at scores 1, 2, 4, centre 7/3: statistic 23/3, spread 8 (16 + 1 + 25) / 9.
  const std::vector<Count> counts{{1, 8}, {3, 8}, {6, 8}};
  const ShareTrend trend = share_trend(counts, std::vector<double>{1, 2, 4});
  CHECK(trend.statistic == Approx(23.0 / 3));
  CHECK(trend.slope.estimate == Approx(23.0 / 112));
  // z over sqrt(10/24 14/24 112/3); variances 0.16, 0.24, 0.21 of 2/10, 4/10, 7/10.
  CHECK(trend.z == Approx(2.545104).epsilon(kTables));
  const double half = kNormal975 * std::sqrt(8 * (16 * 0.16 + 0.24 + 25 * 0.21) / 9) / (112.0 / 3);
  CHECK(trend.slope.upper - trend.slope.estimate == Approx(half).epsilon(kTables));
  CHECK(trend.slope.estimate - trend.slope.lower == Approx(half).epsilon(kTables));
}

TEST_CASE("exact tests of few trials are fractions") {
  // 3 of 4 against 1 of 4: 1, 16, 36, 16, 1 of 70 orders.
  CHECK(fisher_test({3, 4}, {1, 4}, Alternative::greater) == Approx(17.0 / 70));
  CHECK(fisher_test({3, 4}, {1, 4}, Alternative::less) == Approx(69.0 / 70));
  CHECK(fisher_test({3, 4}, {1, 4}, Alternative::two_sided) == Approx(34.0 / 70));
  CHECK(binomial_test({3, 4}, 0.5, Alternative::greater) == Approx(5.0 / 16));
  CHECK(binomial_test({3, 4}, 0.5, Alternative::two_sided) == Approx(10.0 / 16));
  // The other outcome is likelier by 0.04 %: not one of those that are no likelier.
  CHECK(binomial_test({0, 1}, 0.5001, Alternative::two_sided) == Approx(0.4999).epsilon(1e-12));
  CHECK(holm(std::vector<double>{0.6, 0.7}) == std::vector<double>{1, 1});
  const std::vector<double> adjusted = holm(std::vector<double>{0.01, 0.04, 0.03});
  CHECK(adjusted[0] == Approx(0.03));
  CHECK(adjusted[1] == Approx(0.06));  // not below that of 0.03
  CHECK(adjusted[2] == Approx(0.06));
  // None of two: (1 - p)^2 = 0.025 at the upper limit.
  const Interval none = proportion_interval(0, 2);
  CHECK(none.lower == 0);
  CHECK(none.upper == Approx(1 - std::sqrt(0.025)));
  CHECK(proportion_interval(2, 2).lower == Approx(std::sqrt(0.025)));
}

TEST_CASE("the shift of six differences is the median of their 21 averages") {
  // W+ = 21 of 21: p = 1/64, and 95 % leaves no average out. Sorted, the 11th is (1 + 16) / 2.
  const SignedRank test = signed_rank_test(std::vector<double>{8, 2, 32, 1, 16, 4});
  CHECK(test.rank_sum == 21);
  CHECK(test.p_greater == 1.0 / 64);
  CHECK(test.p_less == 1);
  CHECK(test.p_two_sided == 2.0 / 64);
  CHECK(test.shift.estimate == 8.5);
  CHECK(test.shift.lower == 1);
  CHECK(test.shift.upper == 32);
}

TEST_CASE("beyond 200 differences the shift's limits are the normal law's") {
  // Of 1..201 the rank sum has mean 10150.5 and variance 201 202 403 / 24: 825.70^2, so that k is
  // floor(10150.5 - 1.959964 825.70) = 8532. Of the averages (i + j) / 2, i <= j, floor(s^2 / 4) have i + j
  // up to s: 8464 up to 184, and 8556 up to 185.
  std::vector<double> differences;
  for (int i = 1; i <= 201; ++i) differences.push_back(i);
  const Interval shift = signed_rank_test(differences).shift;
  CHECK(shift.estimate == 101);
  CHECK(shift.lower == 92.5);
  CHECK(shift.upper == 109.5);
}

TEST_CASE("differences that only rounding tells apart are tied, or none") {
  const SignedRank whole = signed_rank_test(std::vector<double>{1, 1, -1, 2, 0});
  const std::vector<double> tenths = {0.1, 0.3 - 0.2, 0.2 - 0.3, 0.7 - 0.5, 0.1 + 0.2 - 0.3};
  REQUIRE(tenths[1] != 0.1);
  REQUIRE(tenths[4] != 0);
  const SignedRank rounded = signed_rank_test(tenths);
  CHECK(rounded.zeros == 1);
  CHECK(rounded.rank_sum == 8);  // ranks 2, 2, 4 of 2, 2, 2, 4
  CHECK(rounded.p_greater == whole.p_greater);
  CHECK(rounded.p_less == whole.p_less);
  // What is not rounding has ranks of its own: 1.5, 1.5, 3 and 4.
  CHECK(signed_rank_test(std::vector<double>{1, 1.000001, -1, 2}).rank_sum == 8.5);
}

TEST_CASE("a repeat that is missing takes its pair with it, and no other") {
  using namespace experiments;
  const ByRepeat a = {{0, 10}, {2, 30}, {3, 40}}, b = {{0, 1}, {1, 2}, {3, 4}};
  CHECK(pairs_of(a, b) == std::vector<std::pair<double, double>>{{10, 1}, {40, 4}});
  CHECK(differences_of(a, b) == std::vector<double>{9, 36});
  CHECK(differences_of(b, a) == std::vector<double>{-9, -36});
  CHECK(values_of(a) == std::vector<double>{10, 30, 40});
}

TEST_CASE("means and quantiles of three and four values are those of tables") {
  // t of two degrees 4.302653, of one 12.706205.
  const Interval mean = mean_interval(std::vector<double>{1, 2, 3});
  CHECK(mean.estimate == 2);
  CHECK(mean.upper - 2 == Approx(4.302653 / std::sqrt(3)).epsilon(kTables));
  CHECK(2 - mean.lower == Approx(4.302653 / std::sqrt(3)).epsilon(kTables));
  CHECK(mean_std_error(std::vector<double>{1, 2, 3}) == Approx(1 / std::sqrt(3)));
  CHECK(quantile(std::vector<double>{8, 1, 4, 2}, 0.25) == 1.75);
  // Infinite values: of -inf, 3 and 5 the lower quartile lies between -inf and 3.
  CHECK(quantile(std::vector<double>{-kBeyond, 3, 5}, 0.25) == -kBeyond);
  CHECK(quantile(std::vector<double>{-kBeyond, 3, 5}, 0.5) == 3);
  CHECK(quantile(std::vector<double>{-kBeyond, 3, kBeyond}, 0.75) == kBeyond);
  CHECK(median(std::vector<double>{-kBeyond, 3}) == -kBeyond);
  CHECK(median(std::vector<double>{3, kBeyond}) == kBeyond);
  CHECK(median(std::vector<double>{8, 1, 4, 2}) == 3);
}

TEST_CASE("the errors of estimates add up to moments, coverage and spread by hand") {
  using experiments::Outcome;
  // Errors -1, 0, 1 and 4; the last is refused, and one without a number counts as refused alone.
  const std::vector<Outcome> outcomes = {
      {.truth = 2, .estimate = 1, .std_error = 0.5, .lower = 0, .upper = 1.9},
      {.truth = 2, .estimate = 2, .std_error = 1, .lower = 1, .upper = 3},
      {.truth = 2, .estimate = 3, .std_error = 2, .lower = 2, .upper = 7},
      {.truth = 2, .estimate = 6, .std_error = 0.5, .lower = 1, .upper = 9, .ok = false},
      {.truth = 2, .ok = false}};
  const experiments::ErrorCell cell = experiments::sum_up_errors(outcomes);
  CHECK(cell.estimates == 5);
  CHECK(cell.refused == 2);
  CHECK(cell.ok() == 3);
  CHECK(cell.covered == 2);
  CHECK(cell.coverage().estimate == Approx(2.0 / 3));
  CHECK(cell.mean == 1);
  CHECK(cell.std_dev == Approx(std::sqrt(14.0 / 3)));
  CHECK(cell.rmse == Approx(std::sqrt(4.5)));
  // Student's t of three degrees: 3.182446.
  CHECK(cell.bias().upper == Approx(1 + 3.182446 * std::sqrt(14.0 / 12)).epsilon(kTables));
  CHECK(cell.bias().lower == Approx(1 - 3.182446 * std::sqrt(14.0 / 12)).epsilon(kTables));
  CHECK(experiments::sum_up_errors({outcomes.data(), 1}).bias().upper == -1);
  CHECK(cell.mean_std_error == 1);
  // An estimate without an error has none that could be counted as 0.
  std::vector<Outcome> untold(outcomes.begin(), outcomes.begin() + 2);
  untold[1].std_error = NAN;
  CHECK(experiments::sum_up_errors(untold).mean_std_error == 0.5);
  // Chi-squared of four degrees: 11.143287 and 0.484419.
  CHECK(cell.lower == Approx(std::sqrt(18 / 11.143287)).epsilon(kTables));
  CHECK(cell.upper == Approx(std::sqrt(18 / 0.484419)).epsilon(2e-6));
  // -2, 0 and 1/2 standard errors.
  CHECK(cell.scaled == std::vector<double>{-2, 0, 0.5});
  CHECK(cell.scaled_spread() == Approx(std::sqrt(1.75)));
}

TEST_CASE("a measure's interval, its power and its band are Student's and the normal law's") {
  using namespace experiments;
  const Measure measure = mean_measure({.claim = "C"}, std::vector<double>{1, 2, 3});
  CHECK(measure.n == 3);
  CHECK(measure.upper - measure.estimate == Approx(4.302653 / std::sqrt(3)).epsilon(kTables));
  // P(|T| > 4.302653) of Student's t of two degrees about sqrt(3): an integral over chi squared.
  CHECK(measure.power == Approx(0.17925).epsilon(1e-4));
  // An interval of 1.96 either way is of one standard error.
  CHECK(interval_power({0, -1.96, 1.96}, 1.96) == Approx(0.5).margin(1e-4));
  CHECK(interval_power({0, -1.96, 1.96}, 0) == Approx(0.025));
  CHECK(interval_power({0, -0.98, 0.98}, 0.98 + 0.5 * 1.644854) == Approx(0.95).margin(1e-4));
  // One of 98.75 % is of 2.4977 standard errors either way.
  CHECK(interval_power({0, -2.497705, 2.497705}, 2.497705, 0.9875) == Approx(0.5).margin(1e-5));
  CHECK(interval_power({0, -1, 1}, 0, 0.9875) == Approx(0.00625));
  CHECK(interval_power({0, -kBeyond, kBeyond}, 1) == 0);
  CHECK(interval_power({0, 0, 0}, 1) == 1);
  const Series series = band({}, {0, 1}, {{1, 10}, {3, 10}});
  CHECK(series.y == std::vector<double>{2, 10});
  CHECK(series.upper[0] - 2 == Approx(12.706205).epsilon(kTables));
  CHECK(series.upper[1] == 10);
  Series point;
  add_normal(point, 3, 10, 0.5);
  CHECK(point.x == std::vector<double>{3});
  CHECK(point.lower[0] == Approx(9.02).epsilon(1e-12));
  CHECK(point.upper[0] == Approx(10.98).epsilon(1e-12));
  // Six pairs, all greater: p = 1/64. Of four the least p is 1/16, which decides nothing.
  const Measure six = paired_measure("C", "", {2, 3, 4, 5, 6, 7}, {1, 1, 1, 1, 1, 1}, true, "");
  CHECK(six.p_value == 1.0 / 64);
  CHECK(six.p_opposite == 1);
  CHECK(six.decidable);
  CHECK_FALSE(six.post_hoc);
  // The same six of seven pairs are as many differences, which was seen.
  const Measure seven =
      paired_measure("C", "", {2, 3, 4, 5, 6, 7, 1}, {1, 1, 1, 1, 1, 1, 1}, true, "");
  CHECK(seven.power == six.power);
  CHECK(seven.post_hoc);
  const Measure four = paired_measure("C", "", {2, 3, 4, 5}, {1, 1, 1, 1}, true, "");
  CHECK_FALSE(four.decidable);
  CHECK(four.power == 0);
}

TEST_CASE("a share over models is tested in both directions against its bound") {
  using namespace experiments;
  // One of four where at most a half is claimed: P(X <= 1) = 5/16, P(X >= 1) = 15/16.
  const Check& check = registered_checks().front();
  const Evidence evidence{"C", "", check.name.c_str(), check.subject.c_str(), Spread::share};
  const Experiment experiment =
      evidence_experiment({}, {.all = {&evidence, 1}, .models = {4, 4, 4}, .caption = ""});
  Trial trial;
  trial.inputs = experiment.trials(Profile::paper).at(0);
  trial.outputs = {{"value", 0.25}, {"bound", 0.5}, {"holds", true}, {"detail", ""}, {"cases", 4}};
  Summary summary;
  experiment.summarise(Results(Profile::paper, {trial.inputs}, {trial}), summary);
  const Measure& share = summary.measures().at(0);
  CHECK(share.estimate == 0.25);
  CHECK(share.p_value == Approx(5.0 / 16));
  CHECK(share.p_opposite == Approx(15.0 / 16));
  CHECK(share.lower == Approx(0.006309).epsilon(1e-3));  // Clopper and Pearson of 1 of 4
  CHECK(share.upper == Approx(0.805880).epsilon(1e-5));
  CHECK(share.power == 0);  // p = 1/16 even where none is
  // Of 20 up to five reject, P(X <= 5) = 0.0207 at 1/2: with chance P(X <= 5) = 0.2972 at 1/3.
  trial.outputs["cases"] = 20;
  Summary more;
  experiment.summarise(Results(Profile::paper, {trial.inputs}, {trial}), more);
  CHECK(more.measures().at(0).power == Approx(0.2972).epsilon(1e-3));
}
