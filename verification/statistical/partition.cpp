// Chains of Wang-Landau and of FPCD on two spins against their exact law.
#include "verification/checks/laws/partition.hpp"

#include <catch2/catch.hpp>

#include "decide.hpp"
#include "verification/checks/laws/two_spins.hpp"

using namespace boltzmark;
using namespace boltzmark::verification;

namespace {

// A weight raised one update late moves these probabilities by 0.1 and more.
const StatisticalTest kPartitionLaw({.name = "chains on a partition: law of the state",
                                     .false_alarm = 1e-9,
                                     .deviation = 0.02,
                                     .cases = 4});

void check_chains(const WeightRule& rule, int updates) {
  const Partition spins = two_spin_partition();
  const Eigen::VectorXd law =
      partition_law(spins, rule, {.law = point_law(spins, kTwoSpinStart)}, updates).col(updates);
  const auto draw = [&](Stream& stream) {
    PartitionChain chain(spins, rule, kTwoSpinStart);
    for (int t = 0; t < updates; ++t) chain.update(stream);
    return chain.state();
  };
  const Decision decision =
      decide_frequencies(kPartitionLaw, {law.data(), 4}, one_by_one<std::size_t>(draw));
  INFO(decision.summary);
  CHECK(decision.holds);
}

}  // namespace

TEST_CASE("chains on a partition have the law that is propagated over states and visits") {
  check_chains(WeightRule::constant(10), 5);
  check_chains(WeightRule::constant(10), 20);
  check_chains(WeightRule::fast_weights(1, kTwoSpinData), 9);
  check_chains(WeightRule::fast_weights(1, kTwoSpinData), 11);
}
