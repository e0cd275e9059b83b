// How the states of a small model are numbered, and what units' inputs are in them, in runs and one by one.
#include "boltzmark/exact/state_space.hpp"

#include <catch2/catch.hpp>

#include "verification/checks/laws/asymptotic.hpp"
#include "verification/checks/laws/states.hpp"

using namespace boltzmark;

namespace {

/// Layers of 2 X(2), 2 Bernoulli and 1 X(3) units: sides of 36 and 4 states, no two weights alike.
Layered unlike_units() {
  const auto ascending = [](Eigen::Index rows, Eigen::Index cols, double first) {
    return Eigen::MatrixXd::NullaryExpr(
        rows, cols, [=](Eigen::Index i, Eigen::Index j) { return first + i + 0.3 * j * j; });
  };
  const auto layer = [&](Unit unit, int size, double first) {
    return Layer{.unit = unit, .bias = ascending(size, 1, first), .sigma0 = {}};
  };
  return {{layer(Unit::multivalued(2), 2, 0.1), layer(Unit::bernoulli(), 2, -0.7),
           layer(Unit::multivalued(3), 1, 0.4)},
          {ascending(2, 2, -1.1), ascending(2, 1, 0.6)}};
}

}  // namespace

TEST_CASE("a side's states are numbered by their units' values, there and back") {
  const StateSpace space(unlike_units());
  REQUIRE(space.side_states(0) == 36);
  REQUIRE(space.side_states(1) == 4);
  for (const int parity : {0, 1})
    for (std::size_t part = 0; part < space.side_states(parity); ++part) {
      const std::size_t state = space.side_state(parity, part);
      CHECK(space.side_part(parity, state) == part);
      CHECK(space.side_part(1 - parity, state) == 0);
    }
  // The third value of the second X(2) unit, the second of the X(3) unit.
  const std::size_t state = space.side_state(0, 2 * 3 + 1 * 9);
  CHECK(space.value(1, state) == 1);
  CHECK(space.value(4, state) == Approx(-1.0 / 3));
}

TEST_CASE("inputs of a run of states are those of its states one by one, wherever it begins") {
  const StateSpace space(unlike_units());
  for (const int parity : {0, 1}) {
    const std::vector<int> units = parity == 0 ? std::vector{0, 1, 4} : std::vector{2, 3};
    const std::size_t states = space.side_states(1 - parity);
    for (std::size_t first = 0; first < states; ++first)
      for (std::size_t count = 1; first + count <= states; ++count) {
        const Eigen::MatrixXd inputs = space.inputs(parity, first, count);
        for (std::size_t i = 0; i < count; ++i)
          for (std::size_t j = 0; j < units.size(); ++j)
            REQUIRE(inputs(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) ==
                    Approx(space.input(units[j], space.side_state(1 - parity, first + i)))
                        .margin(1e-12));
      }
  }
}

TEST_CASE("energies of a space's states are the model's own, whatever its units") {
  const Layered model = unlike_units();
  const StateSpace space(model);
  const Eigen::VectorXd energies = state_energies(space);
  for (std::size_t x = 0; x < space.states(); ++x)
    REQUIRE(energies[static_cast<Eigen::Index>(x)] ==
            Approx(energy(model, state_at(space, x))).margin(1e-12));
}
