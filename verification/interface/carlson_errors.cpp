// What the experiments of carlson2016 compute themselves from errors and transitions.
#include <catch2/catch.hpp>
#include <cmath>

#include "experiments/carlson2016/support/crossing.hpp"
#include "experiments/carlson2016/support/rung_flux.hpp"

namespace boltzmark::experiments {
namespace {

constexpr double kTruth = 10;

/// Twelve repeats whose errors are +size and -size in turn: their RMSE is size.
void add_point(const std::string& method, int sweeps, double size, std::vector<Trial>& trials) {
  for (int repeat = 1; repeat <= kEnoughRepeats; ++repeat)
    trials.push_back(
        {.inputs = {{"model", "m"},
                    {"base", "rates"},
                    {"method", method},
                    {"sweeps", sweeps},
                    {"repeat", repeat}},
         .outputs = {{"log_z", kTruth + (repeat % 2 == 0 ? size : -size)}, {"status", "ok"}}});
}

Measure crossing_of(double rts, double ais, double ais_at_longest, const Truth& truth) {
  std::vector<Trial> trials;
  add_point("rts", 1000, rts, trials);
  add_point("ais", 1000, ais, trials);
  add_point("ais", 10000, ais_at_longest, trials);
  Summary summary;
  add_crossing(Results(Profile::quick, {}, trials),
               {.model = "m",
                .title = "m",
                .sweeps = {1000, 10000},
                .repeats = 12,
                .truth = truth,
                .published = "3b_rmse_500"},
               summary);
  return summary.measures().at(0);
}

ErrorCell cell_of(double mean, double spread) {
  std::vector<Outcome> outcomes;
  for (int repeat = 0; repeat < kEnoughRepeats; ++repeat)
    outcomes.push_back({.estimate = mean + (repeat % 2 == 0 ? spread : -spread)});
  return sum_up_errors(outcomes);
}

}  // namespace

TEST_CASE("a crossing that the longest run does not reach lies beyond it, with no upper limit") {
  const Measure measure = crossing_of(0.1, 2, 1, {.log_z = kTruth});
  CHECK(measure.estimate > 10000);
  CHECK(measure.lower > 10000);
  CHECK(std::isinf(measure.upper));
  CHECK(measure.decidable);
}

TEST_CASE("a crossing is interpolated on logarithmic scales") {
  // From 2 to 0.02 over a decade, 0.2 is half-way.
  const Measure measure = crossing_of(0.2, 2, 0.02, {.log_z = kTruth});
  CHECK(measure.estimate == Approx(std::sqrt(1e7)).epsilon(1e-9));
  CHECK(measure.lower < measure.estimate);
  CHECK(measure.upper > measure.estimate);
  CHECK(measure.upper < 10000);
}

TEST_CASE("the power of a crossing is that of the plan, whatever was found") {
  const double reached = crossing_of(0.2, 2, 0.02, {.log_z = kTruth}).power;
  CHECK(reached == crossing_of(0.1, 2, 1, {.log_z = kTruth}).power);
  CHECK(reached > 0);
  CHECK(reached < 1);
}

TEST_CASE("the truth's error widens what is compared, and too large a one decides nothing") {
  const ErrorCell a = cell_of(0.1, 0.3), b = cell_of(-0.2, 0.3);
  const Measure exact = bias_difference("C", "", a, b, {});
  const Measure widened = bias_difference("C", "", a, b, {.std_error = 0.05, .half_width = 0.1});
  // Means of opposite signs: a truth that lies 0.1 higher adds 0.2 to one side's difference.
  const double half = exact.upper - exact.estimate;
  CHECK(widened.upper - widened.estimate == Approx(std::hypot(half, 0.2)).epsilon(1e-9));
  CHECK(widened.decidable);
  CHECK(widened.power < exact.power);
  CHECK_FALSE(rmse_ratio("C", "", a, b, {.std_error = 0.2, .half_width = 0.4}).decidable);
  CHECK_FALSE(
      rmse_ratio("C", "", a, b, {.std_error = 0.01, .half_width = 0.02, .refused = 1}).decidable);
}

TEST_CASE("an RMSE ratio of fewer than twelve repeats decides nothing") {
  std::vector<Outcome> few(11);
  for (Outcome& outcome : few) outcome.estimate = 0.1;
  CHECK_FALSE(rmse_ratio("C", "", sum_up_errors(few), cell_of(0.2, 0.3), {}).decidable);
  CHECK(rmse_ratio("C", "", cell_of(0, 0.1), cell_of(0.2, 0.3), {}).decidable);
}

TEST_CASE("rungs drawn independently pass every cut with a relative flux of 1") {
  Eigen::VectorXd law(4);
  law << 0.1, 0.4, 0.2, 0.3;
  for (const double flux : relative_flux(1000 * law * law.transpose()))
    CHECK(flux == Approx(1.0).epsilon(1e-12));
}

}  // namespace boltzmark::experiments
