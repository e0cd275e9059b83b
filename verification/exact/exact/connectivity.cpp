#include "boltzmark/exact/spectrum/connectivity.hpp"

#include <catch2/catch.hpp>

#include "verification/exact/support/transition_models.hpp"

using namespace boltzmark;
using namespace transition_models;

TEST_CASE("components and period are those of brute force on the dense support") {
  std::vector<Layered> models = {zero_rbm(1, 1), zero_rbm(2, 2), zero_rbm(1, 3)};
  for (std::uint64_t i = 0; i < 12; ++i) {
    models.push_back(tied_network({2, 2}, 500 + i));
    models.push_back(tied_network({1, 2, 2}, 520 + i));
    models.push_back(tied_network({3, 2}, 540 + i));
  }
  int reducible = 0, periodic = 0;
  for (const Layered& model : models) {
    const StateSpace space(model);
    for (const Rule& rule : all_rules()) {
      CAPTURE(rule.name(), model.units(), model.layers());
      const auto expected = oracle::transition::support(sweep_of(model, rule));
      const Connectivity found = connectivity(space, rule);
      REQUIRE(found.components == static_cast<std::size_t>(expected.components));
      REQUIRE(found.irreducible == (expected.components == 1));
      REQUIRE(found.period == expected.period);
      const auto random = oracle::transition::support(
          oracle::transition::random_scan_matrix(network(model), law(rule), rule.blend));
      const Connectivity random_found = connectivity(space, rule, Scan::random);
      REQUIRE(random_found.components == static_cast<std::size_t>(random.components));
      REQUIRE(random_found.period == random.period);
      reducible += found.irreducible ? 0 : 1;
      periodic += found.period > 1 ? 1 : 0;
    }
  }
  // The comparison has seen both kinds of failure.
  REQUIRE(reducible > 0);
  REQUIRE(periodic > 0);
}

TEST_CASE("without the tie rule the sweep has period 2 at zero weights and biases") {
  const Connectivity found = connectivity(StateSpace(zero_rbm(2, 2)), Rule::metropolis());
  REQUIRE(found.period == 2);
  REQUIRE(found.components == 8);
  const Connectivity flip = connectivity(StateSpace(zero_rbm(2, 2)), Rule::flip());
  REQUIRE(flip.aperiodic);
}

TEST_CASE("weights whose transitions underflow do not disconnect the support") {
  const Layered model = uniform_rbm(3, 3, 3000, 600);
  for (const Rule& rule : {Rule::gibbs(), Rule::flip(), Rule::blended(0.5)})
    REQUIRE(connectivity(StateSpace(model), rule).aperiodic);
}

TEST_CASE("biases so small that a flip is all but sure leave it a chance to stay") {
  const Layered model =
      Layered::rbm(Eigen::MatrixXd::Zero(2, 2), Eigen::VectorXd::Constant(2, 1e-17),
                   Eigen::VectorXd::Constant(2, 1e-17));
  const Connectivity found = connectivity(StateSpace(model), Rule::flip());
  REQUIRE(found.irreducible);
  REQUIRE(found.period == 1);
}

TEST_CASE("the support of 2^18 states is judged without a matrix") {
  const Connectivity found = connectivity(StateSpace(uniform_rbm(9, 9, 2, 601)), Rule::flip());
  REQUIRE(found.irreducible);
  REQUIRE(found.period == 1);
}
