// The rates that tests and intervals promise, on data whose law is known.
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "check_decision.hpp"
#include "experiments/kit/statistics/bootstrap.hpp"
#include "experiments/kit/statistics/power.hpp"
#include "experiments/kit/statistics/proportion.hpp"
#include "experiments/kit/statistics/trend.hpp"
#include "experiments/kit/statistics/wilcoxon.hpp"

namespace {

using boltzmark::Stream;
using boltzmark::verification::check;
using boltzmark::verification::Claim;
using boltzmark::verification::decide_mean;
using boltzmark::verification::decide_proportion;
using boltzmark::verification::one_by_one;
using boltzmark::verification::StatisticalTest;

const StatisticalTest rank_size{{.name = "the signed-rank test keeps its size", .deviation = 0.02}};
const StatisticalTest rank_ties{{.name = "the signed-rank test with ties", .deviation = 0.03}};
const StatisticalTest rank_power{{.name = "the simulated power is right", .deviation = 0.05}};
const StatisticalTest trend_size{{.name = "the trend test keeps its size", .deviation = 0.03}};
const StatisticalTest bca_covers{{.name = "the BCa interval covers a mean", .deviation = 0.07}};
const StatisticalTest strata_cover{
    {.name = "the interval of a ratio of four covers", .deviation = 0.06}};
const StatisticalTest median_covers{{.name = "the median interval covers", .deviation = 0.05}};
const StatisticalTest family{{.name = "agreement keeps its family-wise level", .deviation = 0.05}};
const StatisticalTest error_of_mean{{.name = "the bootstrap's standard error", .deviation = 0.02}};

std::vector<double> normals(Stream& stream, std::size_t n, double mean = 0) {
  std::vector<double> values(n);
  for (double& value : values) value = mean + stream.normal();
  return values;
}

}  // namespace

TEST_CASE("the signed-rank test rejects as often as its exact law says") {
  // The attained size for n = 12: the largest tail of the law that is at most 0.05.
  std::vector<long> doubled;
  for (long r = 1; r <= 12; ++r) doubled.push_back(2 * r);
  const auto law = boltzmark::signed_rank_law(doubled);
  double size = 0;
  for (std::size_t s = law.size(); s-- > 0 && size + law[s] <= 0.05;) size += law[s];
  check(decide_proportion(rank_size, size, Claim::equal, one_by_one<int>([](Stream& s) {
                            return boltzmark::signed_rank_test(normals(s, 12)).p_greater <= 0.05;
                          })));
}

TEST_CASE("the signed-rank test keeps its level with ties and zeros") {
  check(decide_proportion(rank_ties, 0.05, Claim::at_most, one_by_one<int>([](Stream& s) {
                            auto d = normals(s, 15);
                            for (double& x : d) x = std::round(2 * x);
                            return boltzmark::signed_rank_test(d).p_two_sided <= 0.05;
                          })));
}

TEST_CASE("the simulated power of the signed-rank test is its rejection rate") {
  // The power is simulated, too: its own error (2e5 replicates: 0.001) is within the deviation.
  const auto power = boltzmark::signed_rank_power(25, 0.5, 0.05, boltzmark::Alternative::two_sided,
                                                  {.key = {5, 5}, .replicates = 200000});
  check(decide_proportion(rank_power, power.estimate, Claim::equal, one_by_one<int>([](Stream& s) {
                            const auto test = boltzmark::signed_rank_test(normals(s, 25, 0.5));
                            return test.p_two_sided <= 0.05;
                          })));
}

TEST_CASE("the trend test of equal shares rejects at most its level") {
  const std::vector<double> scores{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  // The normal approximation to 1000 trials leaves 0.05 by less than 0.01.
  check(decide_proportion(trend_size, 0.06, Claim::at_most, one_by_one<int>([&](Stream& s) {
                            std::vector<boltzmark::Count> counts(10, {0, 100});
                            for (auto& count : counts)
                              for (int t = 0; t < 100; ++t) count.successes += s.uniform() < 0.6;
                            return boltzmark::share_trend(counts, scores).p_increasing <= 0.05;
                          })));
}

TEST_CASE("the BCa interval covers the mean of 25 skewed values") {
  // Exponential values: the literature's coverage is near 0.92 at this size.
  check(decide_proportion(
      bca_covers, 0.89, Claim::at_least, one_by_one<int>([](Stream& s) {
        std::vector<double> values(25);
        for (double& x : values) x = -std::log(s.uniform());
        const boltzmark::BootstrapOptions options{.key = {s(), s()}, .replicates = 1000};
        const auto interval = boltzmark::bootstrap_mean(values, options);
        return interval.lower <= 1 && 1 <= interval.upper;
      })));
}

TEST_CASE("the interval of a ratio of RMSEs of four runs each covers it as often as it says") {
  // Percentiles of the same replicates cover 0.88 of the ratios.
  check(decide_proportion(
      strata_cover, 0.95, Claim::at_least, one_by_one<int>([](Stream& s) {
        std::vector<double> squares(8);
        for (double& x : squares) x = -std::log(s.uniform());
        const auto mean = [&](const std::vector<std::size_t>& rows, std::size_t first) {
          double sum = 0;
          for (const std::size_t row : rows) sum += squares[first + row];
          return sum / static_cast<double>(rows.size());
        };
        const auto ratio = [&](const boltzmark::Strata& rows) {
          return std::sqrt(mean(rows[0], 0) / mean(rows[1], 4));
        };
        const auto interval = boltzmark::bootstrap_strata(std::vector<std::size_t>{4, 4}, ratio,
                                                          {.key = {s(), s()}, .replicates = 300});
        return interval.lower <= 1 && 1 <= interval.upper;
      })));
}

TEST_CASE("the interval of a median covers it at least as often as it says") {
  check(decide_proportion(median_covers, 0.95, Claim::at_least, one_by_one<int>([](Stream& s) {
                            const auto interval = boltzmark::median_interval(normals(s, 25));
                            return interval.lower <= 0 && 0 <= interval.upper;
                          })));
}

TEST_CASE("tables with equal probabilities disagree no more often than the family-wise level") {
  check(decide_proportion(family, 0.1, Claim::at_most, one_by_one<int>([](Stream& s) {
                            std::vector<boltzmark::Count> ours(30, {0, 50}), theirs(30, {0, 80});
                            for (std::size_t i = 0; i < ours.size(); ++i) {
                              const double p = static_cast<double>(i + 1) / 31;
                              for (int t = 0; t < 50; ++t) ours[i].successes += s.uniform() < p;
                              for (int t = 0; t < 80; ++t) theirs[i].successes += s.uniform() < p;
                            }
                            return !boltzmark::test_agreement(ours, theirs, 0.1).agrees;
                          })));
}

TEST_CASE("the bootstrap's standard error of a mean is the plug-in one") {
  // Of the values 0 and 1: the mean of two draws has standard deviation sqrt(1/8). With 400
  // replicates E[s] falls short of it by sqrt(1/8) (kurtosis - 1) / (8 400), below 2e-4.
  check(decide_mean(
      error_of_mean, std::sqrt(0.125), 0, 0.6, one_by_one<double>([](Stream& s) {
        const boltzmark::BootstrapOptions options{
            .key = {s(), s()}, .replicates = 400, .method = boltzmark::BootstrapMethod::percentile};
        return boltzmark::bootstrap_mean(std::vector<double>{0, 1}, options).std_error;
      })));
}
