// Wang-Landau and FPCD over the sets of a partition: weights, laws, and what is refused.
#include "verification/checks/laws/partition.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "boltzmark/core/error.hpp"
#include "verification/checks/laws/states.hpp"
#include "verification/checks/laws/two_spins.hpp"

using namespace boltzmark;

TEST_CASE("weights of a partition change as Eqs. 5 and 9 say") {
  std::vector<double> log_g(3);
  WeightRule::constant(10).apply(7, 1, log_g);
  WeightRule::vanishing(10).apply(5, 2, log_g);
  WeightRule::frozen().apply(1, 0, log_g);
  REQUIRE(log_g[0] == 0);
  REQUIRE(log_g[1] == Approx(std::log(11)).epsilon(1e-15));
  REQUIRE(log_g[2] == Approx(std::log(3)).epsilon(1e-15));
  std::vector<double> fast{1, 2, 4};
  WeightRule::fast_weights(0.25, 2, 0.5).apply(1, 0, fast);
  REQUIRE(fast == std::vector<double>{0.75, 1, 1.75});
  WeightRule::fast_weights(0.25, 2, 0.5).apply(2, 2, fast);
  REQUIRE(fast == std::vector<double>{0.375, 0.5, 0.875});
}

TEST_CASE("chains that end at a set are missing from the law, and no others") {
  const Partition spins = two_spin_partition();
  const WeightRule rule = WeightRule::constant(0.5);
  const Eigen::VectorXd start = point_law(spins, kTwoSpinStart);
  const Eigen::MatrixXd all = partition_law(spins, rule, {.law = start}, 20);
  const Eigen::MatrixXd before = partition_law(spins, rule, {.law = start, .ends = {0}}, 20);
  REQUIRE(before.row(3).sum() == 0);
  for (int t = 0; t <= 20; ++t) {
    REQUIRE(all.col(t).sum() == Approx(1).epsilon(1e-12));
    REQUIRE((all.col(t) - before.col(t)).minCoeff() > -1e-15);
    if (t > 0) REQUIRE(before.col(t).sum() < before.col(t - 1).sum());
  }
  // Of the first updates nothing else is lost: what is not there yet is in X_1.
  REQUIRE(before.col(1).sum() + all(3, 1) == Approx(1).epsilon(1e-14));
}

TEST_CASE("a sum over the sets of the two spins is the order in which the paper names them") {
  const Partition spins = two_spin_partition();
  REQUIRE(spins.sets() == 4);
  const State data = state_at(spins.space(), 3), start = state_at(spins.space(), kTwoSpinStart);
  REQUIRE(spins.set_of(3) == kTwoSpinData);
  REQUIRE((data[0][0] == 1 && data[1][0] == 1 && start[0][0] == -1 && start[1][0] == -1));
  REQUIRE(spins.sums(Eigen::Vector4d(1, 2, 4, 8)) == Eigen::Vector4d(8, 4, 2, 1));
  REQUIRE(state_at(spins.space(), 2)[0][0] == -1);  // X_2 = (-1, 1)
  REQUIRE(state_at(spins.space(), 2)[1][0] == 1);
}

TEST_CASE("a partition and its rules refuse what has no meaning") {
  const Layer unit{.unit = Unit::bernoulli(), .bias = Eigen::VectorXd::Zero(1), .sigma0 = {}};
  const Layered model({unit, unit}, {Eigen::MatrixXd::Zero(1, 1)});
  REQUIRE_THROWS_AS(Partition(model, {0, 1, 1}), InvalidArgument);
  REQUIRE_THROWS_AS(Partition(model, {0, 2, 2, 0}), InvalidArgument);
  REQUIRE_THROWS_AS(Partition(model, {0, -1, 1, 0}), InvalidArgument);
  for (const double size : {0.0, -1.0, std::nan("")}) {
    REQUIRE_THROWS_AS(WeightRule::constant(size), InvalidArgument);
    REQUIRE_THROWS_AS(WeightRule::vanishing(size), InvalidArgument);
    REQUIRE_THROWS_AS(WeightRule::fast_weights(size, 0), InvalidArgument);
  }
  REQUIRE_THROWS_AS(WeightRule::fast_weights(1, -1), InvalidArgument);
  for (const double keep : {1.5, 0.0, -0.5})
    REQUIRE_THROWS_AS(WeightRule::fast_weights(1, 0, keep), InvalidArgument);
  REQUIRE_THROWS_AS(WeightRule::constant(INFINITY), InvalidArgument);
  const Partition spins = two_spin_partition();
  const Eigen::VectorXd start = point_law(spins, 0);
  REQUIRE_THROWS_AS(partition_law(spins, WeightRule::vanishing(1), {.law = start}, 5),
                    InvalidArgument);
  REQUIRE_THROWS_AS(partition_law(spins, WeightRule::fast_weights(1, 0, 0.9), {.law = start}, 5),
                    InvalidArgument);
  REQUIRE_THROWS_AS(partition_law(spins, WeightRule::frozen(), {.law = start.head(3)}, 5),
                    InvalidArgument);
  REQUIRE_THROWS_AS(partition_law(spins, WeightRule::frozen(), {.law = start}, 200),
                    InvalidArgument);
  // 4 states of 162^3 visits are just above 2^24.
  REQUIRE_THROWS_AS(partition_law(spins, WeightRule::frozen(), {.law = start}, 161),
                    InvalidArgument);
  REQUIRE_THROWS_AS(partition_law(spins, WeightRule::frozen(), {.law = start}, -1),
                    InvalidArgument);
  // Sets are 0..3, and so are states.
  const WeightRule beyond = WeightRule::fast_weights(1, 4);
  REQUIRE_THROWS_AS(partition_law(spins, beyond, {.law = start}, 3), InvalidArgument);
  REQUIRE_THROWS_AS(PartitionChain(spins, beyond, 0), InvalidArgument);
  REQUIRE_THROWS_AS(PartitionChain(spins, WeightRule::frozen(), 4), InvalidArgument);
  REQUIRE_THROWS_AS(point_law(spins, 4), InvalidArgument);
  REQUIRE_NOTHROW(PartitionChain(spins, WeightRule::fast_weights(1, 3), 3));
}
