// Tests and intervals for repeats against complete enumeration and hand counts.
#include <Eigen/Core>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/random/stream.hpp"
#include "experiments/kit/statistics/bootstrap.hpp"
#include "experiments/kit/statistics/class_changes.hpp"
#include "experiments/kit/statistics/interval.hpp"
#include "experiments/kit/statistics/power.hpp"
#include "experiments/kit/statistics/proportion.hpp"
#include "experiments/kit/statistics/ranking.hpp"
#include "experiments/kit/statistics/trend.hpp"
#include "experiments/kit/statistics/wilcoxon.hpp"
#include "oracle/diagnose_oracle.hpp"

namespace {

using boltzmark::Alternative;
using boltzmark::Count;
using boltzmark::Stream;

constexpr double infinity = std::numeric_limits<double>::infinity();

Stream stream(std::uint64_t index) {
  return Stream(boltzmark::make_key(1, "comparisons"), boltzmark::Purpose::test, index);
}

}  // namespace

TEST_CASE("the exact signed-rank law counts all signs, with ties and zeros") {
  // Counts are multiples of 2^-n and sums of them: exact in double up to n = 50.
  for (std::uint64_t trial = 0; trial < 200; ++trial) {
    Stream s = stream(trial);
    const std::size_t n = 1 + s.below(12);
    std::vector<double> d(n);
    // Few distinct sizes in every second trial: many ties and zeros.
    for (double& x : d)
      x = trial % 2 == 0 ? static_cast<double>(s.below(7)) - 2.0 : s.uniform(-1, 2);
    const auto test = boltzmark::signed_rank_test(d);
    if (test.differences == 0) {
      CHECK(test.p_two_sided == 1);
      continue;
    }
    const auto expected = oracle::signed_rank_tails(d);
    CHECK(test.exact);
    CHECK(test.p_greater == expected.greater);
    CHECK(test.p_less == expected.less);
  }
}

TEST_CASE("the area under a curve of errors counts pairs, ties half") {
  const std::vector<double> first = {3, 1}, second = {2, 1, 0};
  CHECK(boltzmark::area_under_roc(first, second) ==
        4.5 / 6);  // 3 beats all; 1 beats 0 and ties with 1
  CHECK(boltzmark::area_under_roc(second, first) == 1.5 / 6);
  const std::vector<double> same = {5, 5, 5};
  CHECK(boltzmark::area_under_roc(same, same) == 0.5);
  const std::vector<double> ends = {HUGE_VAL, -HUGE_VAL};
  CHECK(boltzmark::area_under_roc(ends, first) == 0.5);
  CHECK(boltzmark::area_under_roc(ends, ends) == 0.5);
  CHECK_THROWS_AS(boltzmark::area_under_roc({}, first), boltzmark::InvalidArgument);
  CHECK_THROWS_AS(boltzmark::area_under_roc(first, {}), boltzmark::InvalidArgument);
  CHECK_THROWS_AS(boltzmark::area_under_roc(first, std::vector<double>{std::nan("")}),
                  boltzmark::InvalidArgument);
}

TEST_CASE("Fisher's one-sided tests count all draws") {
  for (std::size_t n1 = 1; n1 <= 8; n1 += 7)
    for (std::size_t n2 = 3; n2 <= 12; n2 += 3)
      for (std::size_t x1 = 0; x1 <= n1; ++x1)
        for (std::size_t x2 = 0; x2 <= n2; ++x2) {
          const auto expected = oracle::hypergeometric_tails(x1, n1, x1 + x2, n1 + n2);
          const Count first{x1, n1}, second{x2, n2};
          CHECK(boltzmark::fisher_test(first, second, Alternative::greater) ==
                Approx(expected.greater).epsilon(1e-10));
          CHECK(boltzmark::fisher_test(first, second, Alternative::less) ==
                Approx(expected.less).epsilon(1e-10));
        }
}

TEST_CASE("Jonckheere's statistic counts ordered pairs and its variance that of all orders") {
  // Groups {1, 4}, {2, 4}, {6}: pairs 1<2, 1<4, 4>2, 4=4, and three or two below 6.
  const std::vector<std::vector<double>> groups{{1, 4}, {2, 4}, {6}};
  const auto trend = boltzmark::jonckheere_test(groups);
  CHECK(trend.statistic == 2.5 + 4);
  // Over all 120 assignments of the values to the places, by hand-written enumeration.
  std::vector<double> values{1, 2, 4, 4, 6};
  std::vector<std::size_t> order{0, 1, 2, 3, 4};
  double count = 0, sum = 0, squares = 0;
  do {
    double j = 0;
    const std::size_t group[] = {0, 0, 1, 1, 2};
    for (std::size_t a = 0; a < 5; ++a)
      for (std::size_t b = 0; b < 5; ++b)
        if (group[a] < group[b]) {
          const double low = values[order[a]], high = values[order[b]];
          j += low < high ? 1 : low == high ? 0.5 : 0;
        }
    ++count;
    sum += j;
    squares += j * j;
  } while (std::next_permutation(order.begin(), order.end()));
  const double mean = sum / count, variance = squares / count - mean * mean;
  CHECK(trend.z == Approx((6.5 - mean) / std::sqrt(variance)).epsilon(1e-12));
}

TEST_CASE("a rise of shares is one-sided and nothing that does not vary has a trend") {
  const std::vector<double> scores{1, 2, 3};
  const auto rise =
      boltzmark::share_trend(std::vector<Count>{{10, 100}, {40, 100}, {80, 100}}, scores);
  CHECK(rise.p_increasing < 1e-12);
  CHECK(rise.p_decreasing > 1 - 1e-12);
  CHECK(rise.slope.estimate == Approx(0.35));
  const auto flat = boltzmark::share_trend(std::vector<Count>{{0, 10}, {0, 10}, {0, 10}}, scores);
  CHECK(flat.p_increasing == 1);
  CHECK(flat.z == 0);
}

TEST_CASE("tables of counts agree or not at the family-wise level") {
  const std::vector<Count> ours{{0, 100}, {9, 100}, {82, 100}};
  const std::vector<Count> near{{0, 400}, {44, 400}, {324, 400}};
  const std::vector<Count> far{{0, 400}, {44, 400}, {200, 400}};
  CHECK(boltzmark::test_agreement(ours, near).agrees);
  const auto differs = boltzmark::test_agreement(ours, far);
  CHECK_FALSE(differs.agrees);
  // 0 of 10 and 6 of 10: p = 2 C(10, 6) / C(20, 6) = 0.0108, which is no disagreement of tables.
  const auto unlucky =
      boltzmark::test_agreement(std::vector<Count>{{0, 10}}, std::vector<Count>{{6, 10}});
  CHECK(unlucky.smallest_p == Approx(420.0 / 38760));
  CHECK(unlucky.agrees);
  CHECK(differs.smallest_p == differs.adjusted_p[2]);
  CHECK(boltzmark::stratified_difference(ours, far).estimate == Approx((0 - 0.02 + 0.32) / 3));
}

TEST_CASE("the power of a binomial test is the total probability of its rejections") {
  const std::uint64_t n = 30;
  const double p0 = 0.4, p1 = 0.65, alpha = 0.05;
  for (const auto side : {Alternative::greater, Alternative::less, Alternative::two_sided}) {
    double expected = 0;
    for (std::uint64_t x = 0; x <= n; ++x) {
      const double greater = boltzmark::binomial_test({x, n}, p0, Alternative::greater);
      const double less = boltzmark::binomial_test({x, n}, p0, Alternative::less);
      const double p = side == Alternative::greater ? greater
                       : side == Alternative::less  ? less
                                                    : 2 * std::min(greater, less);
      const double choose =
          std::exp(std::lgamma(31) - std::lgamma(x + 1.0) - std::lgamma(31.0 - x));
      if (p <= alpha) expected += choose * std::pow(p1, x) * std::pow(1 - p1, 30.0 - x);
    }
    CHECK(boltzmark::binomial_power(n, p0, p1, alpha, side) == Approx(expected).epsilon(1e-10));
  }
}

TEST_CASE("the median's interval stands on order statistics and bears censored values") {
  // P(Binomial(10, 1/2) < 2) = 11/1024 <= 0.025 < P(< 3) = 56/1024: the 2nd and the 9th of 10.
  const std::vector<double> ten{3, 1, 2, 5, 4, 9, 8, 7, 6, 10};
  const auto interval = boltzmark::median_interval(ten);
  CHECK(interval.estimate == 5.5);
  CHECK(interval.lower == 2);
  CHECK(interval.upper == 9);
  const std::vector<double> censored{3, 1, infinity, 5, 4, infinity, 8, 7, 6, infinity};
  const auto open = boltzmark::median_interval(censored);
  CHECK(open.estimate == 6.5);
  CHECK(open.upper == infinity);
  // Five values bound a median at 93.75 % at most.
  CHECK(boltzmark::median_interval(std::vector<double>{1, 2, 3, 4, 5}).lower == -infinity);
}

TEST_CASE("Fieller's limits solve his equation") {
  // At a limit q the mean of a - q b is t standard errors from 0: mean^2 = t^2 variance / n.
  const std::vector<double> a{2.1, 1.7, 2.6, 1.9, 2.3}, b{1.1, 0.8, 1.4, 1.0, 0.9};
  const auto interval = boltzmark::paired_ratio_interval(a, b);
  for (const double q : {interval.lower, interval.upper}) {
    std::vector<double> rest;
    for (std::size_t i = 0; i < a.size(); ++i) rest.push_back(a[i] - q * b[i]);
    const auto mean = boltzmark::mean_interval(rest);
    CHECK(std::min(std::abs(mean.lower), std::abs(mean.upper)) < 1e-12);
  }
  CHECK(boltzmark::paired_ratio_interval(a, std::vector<double>{1, -1, 2, -2, 0.1}).upper ==
        infinity);
  // Of -1 throughout: the mean of -a, 2 +- 12.706205 standard errors of 1.
  const auto negative =
      boltzmark::paired_ratio_interval(std::vector<double>{1, 3}, std::vector<double>{-1, -1});
  CHECK(negative.estimate == Approx(-2));
  CHECK(negative.lower == Approx(-14.706205).epsilon(1e-7));
  CHECK(negative.upper == Approx(10.706205).epsilon(1e-7));
}

TEST_CASE("the bootstrap gives the same bytes on one thread and on many") {
  std::vector<double> values;
  Stream s = stream(7);
  for (int i = 0; i < 25; ++i) values.push_back(s.normal());
  const boltzmark::BootstrapOptions options{.key = boltzmark::make_key(3, "bootstrap")};
  const auto many = boltzmark::bootstrap(values, boltzmark::median, options);
  const boltzmark::ThreadLimit limit(1);
  const auto one = boltzmark::bootstrap(values, boltzmark::median, options);
  CHECK(one.lower == many.lower);
  CHECK(one.upper == many.upper);
  CHECK(one.std_error == many.std_error);
  CHECK(many.lower < many.estimate);
  CHECK(many.estimate < many.upper);
}

TEST_CASE("the bootstrap of strata draws one row less than each has, of its own rows") {
  // Of the rows {1, 3} it draws one: the mean has standard deviation 1 = s / sqrt(2), its logarithm
  // log(3) / 2, and Student's quantile is that of one degree of freedom.
  const std::vector<double> values{1, 3};
  const std::vector<std::size_t> sizes{2, 5};
  const auto statistic = [&](const boltzmark::Strata& rows) {
    return values.at(rows.at(0).at(0)) + (rows.at(1).size() >= 4 ? 0 : 100) +
           (rows.at(1).at(0) < 5 ? 0 : 100);
  };
  const auto found = boltzmark::bootstrap_strata(
      sizes, statistic, {.key = boltzmark::make_key(4, "strata"), .replicates = 10000});
  CHECK(found.estimate == 1);
  CHECK(std::log(found.upper) == Approx(12.7062 * std::log(3.0) / 2).epsilon(0.005));
  CHECK(found.lower * found.upper == Approx(1.0).epsilon(1e-9));
  CHECK(found.std_error == Approx(1.0).epsilon(0.005));
  CHECK_THROWS_AS(boltzmark::bootstrap_strata(std::vector<std::size_t>{2, 1}, statistic, {}),
                  boltzmark::InvalidArgument);
  CHECK_THROWS_AS(boltzmark::bootstrap_strata({}, statistic, {}), boltzmark::InvalidArgument);
  const auto zero = [](const boltzmark::Strata&) { return 0.0; };
  CHECK_THROWS_AS(boltzmark::bootstrap_strata(sizes, zero, {}), boltzmark::InvalidArgument);
}

TEST_CASE("the bootstrap's error of a mean of few rows in strata is the unbiased one") {
  // Rows 0 0 3 0: s^2 = 2.25, of their mean 2.25 / 4; four of four would give 3/4 of that.
  const std::vector<double> values{0, 0, 3, 0};
  const std::vector<std::size_t> sizes{4};
  const auto mean = [&](const boltzmark::Strata& rows) {
    double sum = 0;
    for (const std::size_t row : rows[0]) sum += values[row];
    return sum / static_cast<double>(rows[0].size());
  };
  const auto found = boltzmark::bootstrap_strata(
      sizes, mean, {.key = boltzmark::make_key(5, "strata"), .replicates = 20000});
  CHECK(found.estimate == 0.75);
  CHECK(found.std_error == Approx(0.75).margin(0.02));  // five standard errors of 20,000 draws
  // Of rows 1 4 9 16 the logarithm of the 64 means' root has a standard deviation of 0.268789, and
  // Student's quantile with three degrees of freedom is 3.18245.
  const std::vector<double> squares{1, 4, 9, 16};
  const auto root = [&](const boltzmark::Strata& rows) {
    double sum = 0;
    for (const std::size_t row : rows[0]) sum += squares[row];
    return std::sqrt(sum / static_cast<double>(rows[0].size()));
  };
  const auto limits = boltzmark::bootstrap_strata(
      sizes, root, {.key = boltzmark::make_key(6, "strata"), .replicates = 20000});
  CHECK(std::log(limits.upper / limits.estimate) == Approx(3.18245 * 0.268789).epsilon(0.03));
  CHECK(limits.upper * limits.lower == Approx(7.5).epsilon(1e-9));
}

TEST_CASE("class changes follow the script, ambiguous samples left out") {
  const std::vector<int> classes{-1, 0, 0, -1, 0, 2, -1, 2, 1, -1, 1, 2};
  const auto counts = boltzmark::count_class_changes(classes);
  CHECK(counts.changes == 3);
  CHECK(counts.discarded == 4);
  CHECK(counts.first_change == 5U);
  // A change counts when it shows, across an ambiguous sample too.
  const auto across = boltzmark::count_class_changes(std::vector<int>{0, -1, 1, 1});
  CHECK(across.changes == 1);
  CHECK(across.first_change == 2U);
  const auto censored = boltzmark::count_class_changes(std::vector<int>{-1, 3, -1, 3, 3});
  CHECK(censored.changes == 0);
  CHECK_FALSE(censored.first_change.has_value());
  boltzmark::ClassTracker tracker(2);
  tracker.observe(std::vector<int>{0, -1});
  tracker.observe(std::vector<int>{1, 2});
  CHECK_FALSE(tracker.all_changed());
  tracker.observe(std::vector<int>{1, 0});
  CHECK(tracker.all_changed());
  CHECK(tracker.changes()[0].first_change == 1U);
  CHECK(tracker.changes()[1].first_change == 2U);
  CHECK_THROWS_AS(tracker.observe(std::vector<int>{1}), boltzmark::InvalidArgument);
}

TEST_CASE("a sample belongs to the nearest mode and a tie to none") {
  const Eigen::MatrixXf modes = boltzmark::artificial_modes(16);
  Eigen::MatrixXf samples(16, 6);
  samples.leftCols(4) = modes;
  samples.col(4) = modes.col(0);
  samples.col(4).tail(3).setOnes();  // 3 from all 0, 5 from the half
  samples.col(5) = modes.col(0);
  samples.col(5).tail(4).setOnes();  // 4 from either
  CHECK(boltzmark::nearest_modes(samples, modes) ==
        std::vector<int>{0, 1, 2, 3, 0, boltzmark::ambiguous});
  CHECK_THROWS_AS(boltzmark::nearest_modes(samples, modes.topRows(4)), boltzmark::InvalidArgument);
}
