// How a report writes numbers, and what it reads of published ones.
#include "experiments/kit/text.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "experiments/kit/errors.hpp"
#include "experiments/kit/measures.hpp"
#include "experiments/kit/progress.hpp"
#include "experiments/kit/published.hpp"
#include "experiments/kit/statistics/power.hpp"
#include "verification/interface/experiments/made_trials.hpp"

namespace boltzmark::experiments {

TEST_CASE("a measure's line has digits for its interval, and no p or power that is none") {
  Measure measure{.claim = "X", .estimate = 0.12345, .lower = 0.1, .upper = 0.15};
  CHECK(measure_text(measure) == "0.123 [0.100, 0.150]");
  measure.p_value = 0.0052;
  measure.n = 12;
  measure.power = 0.96;
  measure.power_against = "a shift";
  CHECK(measure_text(measure) ==
        "0.123 [0.100, 0.150], p = 0.0052, n = 12, power 0.96 against a shift");
  measure.p_value = 5e-5;
  measure.power = 0.9997;
  measure.post_hoc = true;
  CHECK(measure_text(measure) ==
        "0.123 [0.100, 0.150], p < 0.0001, n = 12, post hoc power > 0.999 against a shift");
  measure.power_of_n = true;
  CHECK(
      measure_text(measure) ==
      "0.123 [0.100, 0.150], p < 0.0001, n = 12, post hoc power > 0.999 against a shift (of n alone)");
  CHECK(power_text(measure) == "1.00 (n) post hoc");
  // Of width 3 one decimal, of width 30 none.
  CHECK(found_text({.claim = "X", .estimate = -1.234, .lower = -2.5, .upper = 0.5}) ==
        "−1.2 [−2.5, 0.5]");
  CHECK(found_text({.claim = "X", .estimate = 12.34, .lower = 0, .upper = 30}) == "12 [0, 30]");
}

TEST_CASE(
    "limits of an RMSE are chi-squared's without a bias, and Student's of one that is large") {
  // Four errors of mean 0: chi-squared of four degrees, 11.143287 and 0.484419.
  const WithInterval even = rmse_estimate(std::vector<double>{1, -1, 2, -2});
  CHECK(even.value == Approx(std::sqrt(2.5)));
  CHECK(even.lower == Approx(std::sqrt(2.5 * 4 / 11.143287)).epsilon(1e-6));
  CHECK(even.upper == Approx(std::sqrt(2.5 * 4 / 0.484419)).epsilon(1e-5));
  // Twenty of mean 57 and deviation 6.45 sqrt(20 / 19): 2.093 of their standard error is 3.097.
  std::vector<double> errors;
  for (int i = 0; i < 20; ++i) errors.push_back(57.11 + (i % 2 == 0 ? 6.45 : -6.45));
  const WithInterval biased = rmse_estimate(errors);
  CHECK(biased.lower == Approx(biased.value - 3.097).margin(0.2));
  CHECK(biased.upper == Approx(biased.value + 3.097).margin(0.2));
  CHECK(squares_freedom(std::vector<double>{0.3}) == 1);
  CHECK(squares_freedom(std::vector<double>{1, 3}) == 2);  // two know no spread
}

TEST_CASE("a p has its digits down to 0.0001, and is only told to be below from there on") {
  Measure measure{.claim = "X", .estimate = 0.12345, .lower = 0.1, .upper = 0.15, .p_value = 5e-4};
  CHECK(measure_text(measure) == "0.123 [0.100, 0.150], p = 0.0005");
  measure.p_value = 9e-5;
  CHECK(measure_text(measure) == "0.123 [0.100, 0.150], p < 0.0001");
}

TEST_CASE("numbers have four digits, six from ten thousand on, and powers of ten beyond") {
  CHECK(number_text(0) == "0");
  CHECK(number_text(-1.23456) == "−1.235");
  CHECK(number_text(9999.4) == "9999");
  CHECK(number_text(9999.7) == "9999.7");
  CHECK(number_text(999999.7) == "10⁶");
  CHECK(number_text(12345.678) == "12345.7");
  CHECK(number_text(1e6) == "10⁶");
  CHECK(number_text(-2.5e-4) == "−2.5 × 10⁻⁴");
  CHECK(number_text(std::nan("")) == "–");
  CHECK(number_text(-std::numeric_limits<double>::infinity()) == "−∞");
  CHECK(decimals_text(0.125, 1) == "0.1");
  CHECK(decimals_text(0.004, 2) == "0.004");
}

TEST_CASE("a cell of a table has its sign, its mark and both of its limits") {
  CHECK(decimals_text(-0.31, 2) == "−0.31");
  CHECK(cell_text(Cell(-0.31), 1) == "−0.3");
  CHECK(cell_text(Cell(std::int64_t{-3}), 1) == "−3");
  CHECK(cell_text(WithInterval{-1.5, -2, -1, "*"}, 1) == "−1.5* [−2.0, −1.0]");
}

TEST_CASE("a duration that is estimated is about so long, or under a second") {
  CHECK(about_text(0.1) == "under 1 s");
  CHECK(about_text(0.97) == "about 1 s");
  CHECK(about_text(200) == "about 3 min 20 s");
}

TEST_CASE("what is left of a run is foretold by its rate so far, once there is one") {
  CHECK(left_text(100, 0.25) == "5 min left");
  CHECK(left_text(90, 0.9) == "10 s left");
  CHECK(left_text(100, 0.01).empty());
}

TEST_CASE("what a quick run finds is told beside the verdict at paper size where they differ") {
  JudgedClaim claim;
  claim.verdict = Verdict::reproduced;
  CHECK(committed_text(claim, Profile::quick).empty());
  claim.claim.committed = CommittedVerdict{};
  CommittedVerdict& said = *claim.claim.committed;
  CHECK_THAT(committed_text(claim, Profile::quick), Catch::Contains("not\u00a0run"));
  said.verdict = Verdict::reproduced;
  said.run = said.parts = 2;
  CHECK(committed_text(claim, Profile::quick).empty());
  said.verdict = Verdict::undecided;
  CHECK_THAT(committed_text(claim, Profile::quick), Catch::EndsWith("undecided"));
  CHECK(committed_text(claim, Profile::paper).empty());
  said.verdict = Verdict::reproduced;
  said.run = 1;
  CHECK_THAT(committed_text(claim, Profile::quick),
             Catch::Contains("1 of 2 parts") && Catch::EndsWith("reproduced"));
}

TEST_CASE("a published curve has its own x and y, and is drawn dotted under its name") {
  const PublishedCurve curve =
      find_published("carlson2016_fig6_fig7_fig8", "8a_rmse_784x10", "RTS");
  REQUIRE(curve.x.size() == 9);
  CHECK(curve.x.front() == 1000);
  CHECK(curve.y.front() == 0.17583);
  CHECK(curve.x.back() == 99998);
  CHECK(curve.y.back() == 0.01712);
  const Series series = published_series(curve, "RTS", 3);
  CHECK(series.label == "published RTS");
  CHECK(series.x == curve.x);
  CHECK(series.y == curve.y);
  CHECK(series.mark == Mark::dotted);
  CHECK(series.colour == 3);
}

TEST_CASE("an outcome is what its estimate said, and covers between its limits") {
  const Json said = {
      {"log_z", 1}, {"std_error", 2}, {"lower", 0.5}, {"upper", 3}, {"status", "ok"}};
  const Outcome outcome = read_outcome(said, 0.75);
  CHECK(outcome.estimate == 1);
  CHECK(outcome.std_error == 2);
  CHECK(outcome.lower == 0.5);
  CHECK(outcome.upper == 3);
  CHECK(outcome.ok);
  CHECK(outcome.covered());
  CHECK_FALSE(read_outcome(said, 0.25).covered());
  // An exact estimate covers, however it is rounded.
  CHECK(Outcome{.truth = 1, .lower = 1 + 1e-13, .upper = 1 + 1e-13}.covered());
  CHECK(Outcome{.truth = 1, .lower = 1 - 1e-13, .upper = 1 - 1e-13}.covered());
  CHECK_FALSE(Outcome{.truth = 1, .lower = 1 + 1e-11, .upper = 2}.covered());
  CHECK_FALSE(Outcome{.truth = 1, .lower = 0, .upper = 1 - 1e-11}.covered());
}

TEST_CASE("the power of a mean is that of Student's test against one standard deviation") {
  const Measure measure = mean_measure({.claim = "X"}, std::vector<double>{1, 2, 3, 4, 5});
  CHECK(measure.power == mean_difference_power(5, 1, 0.05, Alternative::two_sided));
  CHECK(measure.power_against == "a mean of one standard deviation");
  CHECK(measure.power_of_n);
  CHECK_FALSE(measure.post_hoc);
  const Measure refused =
      mean_measure({.claim = "X", .decidable = false}, std::vector<double>{1, 2, 3, 4, 5});
  CHECK(refused.power == 0);
  CHECK_FALSE(refused.power_of_n);
  CHECK(refused.post_hoc);
}

}  // namespace boltzmark::experiments
