// Whether the interval of a search for a small standard error keeps its promise.
#include <catch2/catch.hpp>

#include "boltzmark/estimate/estimators/rts.hpp"
#include "boltzmark/estimate/held/attempts.hpp"
#include "decide.hpp"
#include "verification/exact/support/gaussian_tempering.hpp"

namespace {

using namespace estimate_test;
using verification::Claim;
using verification::decide_proportion;
using verification::one_by_one;
using verification::StatisticalTest;

// Of five groups the standard error itself varies by a third. Stopping at the first that is small
// enough covers in 0.90 of the searches here.
const StatisticalTest kSearch({.name = "search for a standard error: coverage",
                               .false_alarm = 1e-9,
                               .deviation = 0.035});

// Five chains; independent samples, so that nothing but the search is tested.
Estimate run(const GaussianTarget& target, int sweeps, Stream& stream) {
  const SampleStore store =
      independent_store(target, {.rungs = 4, .sweeps = sweeps, .chains = 5}, stream);
  RungSums sums = sum_by_rung(store, Assignment::soft);
  Eigen::MatrixXd chains(sums.rungs(), 5);
  for (Eigen::Index c = 0; c < 5; ++c)
    chains.col(c) = sums.weight.middleCols(c * sums.batches, sums.batches).rowwise().sum();
  sums.weight = chains;
  sums.batches = 1;
  return rts(sums, store.log_prior, store.log_z_hat);
}

}  // namespace

TEST_CASE(
    "the interval found by a search for a small standard error holds log Z as often as it says") {
  const GaussianTarget target;
  const auto decision =
      decide_proportion(kSearch, 0.94, Claim::at_least, one_by_one<int>([&](Stream& stream) {
                          const Estimate e = estimate_to_error(
                              {.std_error = 0.12, .sweeps = 20, .most_sweeps = 4000},
                              [&](int sweeps, int) { return run(target, sweeps, stream); });
                          return e.lower <= target.log_z(1) && target.log_z(1) <= e.upper ? 1 : 0;
                        }));
  INFO(decision.summary);
  CHECK(decision.holds);
}
