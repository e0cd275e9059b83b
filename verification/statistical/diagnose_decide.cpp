// The helper that decides statistical tests: its arithmetic is checked without chance.
#include <catch2/catch.hpp>
#include <cmath>
#include <set>
#include <string_view>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "decide.hpp"
#include "experiments/kit/statistics/power.hpp"

namespace {

using boltzmark::InvalidArgument;
using boltzmark::StreamKey;
using namespace boltzmark::verification;

// Scripted samplers: no chance, so these cases never alarm; the rates are those of a real use.
const StatisticalTest scripted{
    {.name = "scripted outcomes", .false_alarm = 1e-9, .deviation = 0.05, .cases = 8}};

DrawOutcomes<int> share_of_ones(double share) {
  return [share](std::size_t samples, StreamKey) {
    std::vector<int> outcomes(samples);
    const auto ones = static_cast<std::size_t>(share * static_cast<double>(samples));
    std::fill_n(outcomes.begin(), ones, 1);
    return outcomes;
  };
}

DrawOutcomes<double> always(double value) {
  return [value](std::size_t samples, StreamKey) { return std::vector<double>(samples, value); };
}

}  // namespace

TEST_CASE("all statistical tests together alarm falsely at most once in a million runs") {
  double total = 0;
  std::set<std::string_view> names;
  for (const Promise& promise : ledger()) {
    total += promise.false_alarm * static_cast<double>(promise.cases);
    CHECK(names.insert(promise.name).second);
    CHECK(promise.power >= 0.99);
  }
  CHECK(names.count("scripted outcomes") == 1);
  CHECK(total <= suite_false_alarm);
}

TEST_CASE("the number of samples is what the promised power needs") {
  const Promise promise{.name = "none", .false_alarm = 1e-8, .deviation = 0.03, .power = 0.999};
  for (const double p : {0.02, 0.3, 0.5, 0.9}) {
    const std::size_t n = proportion_samples(promise, p, Claim::at_most);
    const auto power = [&](std::size_t samples) {
      return boltzmark::binomial_power(samples, p, p + 0.03, 1e-8, boltzmark::Alternative::greater);
    };
    CHECK(power(n) >= 0.999);
    CHECK(power(n * 9 / 10) < 0.999);
  }
}

TEST_CASE("a value as claimed holds and one at the deviation does not") {
  // At the deviation the observed share is the expected one, so the test stands well inside its
  // rejection region: the region begins before the deviation, by the power above one half.
  CHECK(decide_proportion(scripted, 0.3, Claim::equal, share_of_ones(0.3)).holds);
  CHECK_FALSE(decide_proportion(scripted, 0.3, Claim::equal, share_of_ones(0.35)).holds);
  CHECK_FALSE(decide_proportion(scripted, 0.3, Claim::equal, share_of_ones(0.25)).holds);
  CHECK(decide_proportion(scripted, 0.3, Claim::at_least, share_of_ones(0.9)).holds);
  CHECK_FALSE(decide_proportion(scripted, 0.3, Claim::at_most, share_of_ones(0.35)).holds);
  CHECK(decide_mean(scripted, 0.5, 0, 1, always(0.51)).holds);
  CHECK_FALSE(decide_mean(scripted, 0.5, 0, 1, always(0.55)).holds);
  const std::vector<double> law{0.7, 0.2, 0.1};
  const auto wrong = decide_frequencies(scripted, law, [](std::size_t samples, StreamKey) {
    std::vector<std::size_t> outcomes(samples, 0);  // .70 .15 .15
    for (std::size_t i = 0; i < samples; ++i) outcomes[i] = i % 20 < 14 ? 0 : i % 20 < 17 ? 1 : 2;
    return outcomes;
  });
  CHECK_FALSE(wrong.holds);
  // The eight promised cases are used up: a ninth is refused, so the ledger cannot be overrun.
  CHECK_THROWS_AS(decide_mean(scripted, 0.5, 0, 1, always(0.5)), InvalidArgument);
}

TEST_CASE("a promise without a rate, a deviation or a new name is refused") {
  CHECK_THROWS_AS(StatisticalTest({.name = "scripted outcomes", .deviation = 1}), InvalidArgument);
  CHECK_THROWS_AS(StatisticalTest({.name = "a", .false_alarm = 0, .deviation = 1}),
                  InvalidArgument);
  CHECK_THROWS_AS(StatisticalTest({.name = "a"}), InvalidArgument);
  CHECK_THROWS_AS(StatisticalTest({.name = "", .deviation = 1}), InvalidArgument);
}

TEST_CASE("a one-by-one sampler gives every outcome its own stream of the key") {
  const auto draw = one_by_one<double>([](boltzmark::Stream& stream) { return stream.uniform(); });
  const auto few = draw(3, {1, 2}), more = draw(5, {1, 2}), other = draw(3, {1, 3});
  CHECK(std::equal(few.begin(), few.end(), more.begin()));
  CHECK(few != other);
  CHECK(few[0] != few[1]);
}
