// Whether the interval of a log mean of weights keeps its promise where log weights are normal.
#include <catch2/catch.hpp>
#include <cmath>

#include "boltzmark/sample/estimate.hpp"
#include "decide.hpp"

using namespace boltzmark;
using namespace boltzmark::verification;

namespace {

constexpr int kChains = 100;
const StatisticalTest kNormal({.name = "normal log weights: coverage of trusted intervals",
                               .false_alarm = 1e-9,
                               .deviation = 0.03,
                               .cases = 3});

// Outcomes of trusted intervals alone; at a variance of 1 few are.
std::vector<int> covered(double variance, std::size_t samples, StreamKey key) {
  std::vector<int> outcomes;
  for (std::uint64_t run = 0; outcomes.size() < samples && run < 100 * samples; ++run) {
    Stream stream(key, Purpose::test, run);
    // E[w] = 1: log w has the mean -variance / 2.
    const Eigen::VectorXd log_weights = Eigen::VectorXd::NullaryExpr(
        kChains, [&] { return std::sqrt(variance) * stream.normal() - variance / 2; });
    const Estimate e = estimate_from_weights(summarise(log_weights), Bound::lower);
    if (e.status == Status::ok) outcomes.push_back(e.lower <= 0 && 0 <= e.upper ? 1 : 0);
  }
  REQUIRE(outcomes.size() == samples);
  return outcomes;
}

}  // namespace

TEST_CASE("trusted intervals of normal log weights cover up to a variance of 1") {
  for (const double variance : {0.04, 0.25, 1.0}) {
    const Decision decision = decide_proportion(
        kNormal, 0.94, Claim::at_least,
        [&](std::size_t samples, StreamKey key) { return covered(variance, samples, key); });
    INFO("variance " << variance << ": " << decision.summary);
    CHECK(decision.holds);
  }
}
