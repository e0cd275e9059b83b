#include "verification/checks/laws/theorems.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <set>
#include <span>
#include <vector>

#include "verification/checks/laws/states.hpp"
#include "verification/exact/support/transition_models.hpp"

using namespace boltzmark;
using namespace transition_models;

namespace {

// M by its definition: p cannot be raised by changing one side alone; among equally probable
// states of a side the one of greatest index is the maximiser.
std::set<std::size_t> modes_by_definition(const Layered& model) {
  const StateSpace space(model);
  std::set<std::size_t> modes;
  for (std::size_t x = 0; x < space.states(); ++x) {
    bool best = true;
    for (std::size_t y = 0; y < space.states(); ++y) {
      const bool one_side = space.side_part(0, x) == space.side_part(0, y) ||
                            space.side_part(1, x) == space.side_part(1, y);
      if (!one_side || x == y) continue;
      const double gain = energy(model, state_at(space, x)) - energy(model, state_at(space, y));
      best = best && (gain < 0 || (gain == 0 && y < x));
    }
    if (best) modes.insert(x);
  }
  return modes;
}

}  // namespace

TEST_CASE("the modes are the states that neither side alone improves, ties by order") {
  for (std::uint64_t i = 0; i < 20; ++i) {
    for (const Layered& model :
         {tied_network({3, 2}, 700 + i), tied_network({1, 2, 2}, 720 + i), zero_rbm(2, 3)}) {
      const std::vector<std::size_t> found = local_modes(StateSpace(model));
      REQUIRE(std::set<std::size_t>(found.begin(), found.end()) == modes_by_definition(model));
      REQUIRE_FALSE(found.empty());
    }
  }
}

TEST_CASE("log transition probabilities of a side are those of the dense matrix") {
  for (const Layered& model : {tied_network({2, 2}, 740), uniform_rbm(2, 3, 3, 741)}) {
    const StateSpace space(model);
    for (const Rule& rule : all_rules()) {
      for (const int parity : {0, 1}) {
        oracle::transition::LongMatrix matrix =
            oracle::transition::LongMatrix::Identity(space.states(), space.states());
        for (const int unit : space.side(parity))
          matrix = (matrix *
                    oracle::transition::unit_matrix(network(model), law(rule), rule.blend, unit))
                       .eval();
        for (std::size_t x = 0; x < space.states(); ++x)
          for (std::size_t y = 0; y < space.states(); ++y)
            REQUIRE(std::exp(log_side_transition(space, rule, x, y, parity)) ==
                    Approx(static_cast<double>(matrix(x, y))).margin(1e-14));
      }
    }
  }
}

TEST_CASE("Lemma 1 and both theorems hold for T, G and their blend, ties included") {
  for (std::uint64_t i = 0; i < 30; ++i) {
    for (const Layered& model :
         {tied_network({3, 3}, 760 + i), zero_rbm(2, 2), uniform_rbm(3, 2, 200, 800 + i)}) {
      for (const Rule& rule : {Rule::gibbs(), Rule::flip(), Rule::blended(0.5)}) {
        const TheoremReport report = check_theorems(StateSpace(model), rule);
        REQUIRE(report.lemma1_holds());
        REQUIRE(report.theorem1_holds());
        REQUIRE(report.theorem2_holds());
        REQUIRE(report.modes_stay >= report.modes_joined);
      }
    }
  }
}

TEST_CASE("without the tie rule the statements fail at ties") {
  const TheoremReport report = check_theorems(StateSpace(zero_rbm(2, 2)), Rule::metropolis());
  REQUIRE_FALSE(report.lemma1_holds());
  REQUIRE_FALSE(report.theorem1_holds());
  REQUIRE_FALSE(report.theorem2_holds());
}

TEST_CASE(
    "a law that never goes back from a tie is refused on either side of the model, in both directions") {
  // Input 0 is a tie: there the law only climbs, to the value of greatest index; elsewhere it is Gibbs'.
  const Rule climbs = Rule::of("climbs", [](Unit, double input, int, std::span<double> next) {
    const double up = input == 0 ? 1 : 1 / (1 + std::exp(-input));
    next[0] = 1 - up;
    next[1] = up;
  });
  for (const int tied : {0, 1}) {
    std::vector<Eigen::VectorXd> biases(2, Eigen::VectorXd::Constant(2, 0.7));
    biases[static_cast<std::size_t>(tied)].setZero();
    const StateSpace space(Layered::rbm(Eigen::MatrixXd::Zero(2, 2), biases[0], biases[1]));
    const TheoremReport report = check_theorems(space, climbs);
    CHECK(report.unreached == 0);  // every state climbs to a mode
    CHECK(report.unreaching > 0);  // which leads to no other value of tied units
    CHECK_FALSE(report.lemma1_holds());
    CHECK_FALSE(report.theorem1_holds());
    CHECK(check_theorems(space, Rule::gibbs()).theorem2_holds());
  }
}
