#include "boltzmark/model/sides.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

using namespace boltzmark;

namespace {

Layered rbm(Unit visible, int visible_size, Unit hidden, int hidden_size) {
  const auto layer = [](Unit unit, int size) {
    return Layer{.unit = unit, .bias = Eigen::VectorXd::Zero(size), .sigma0 = {}};
  };
  return {{layer(visible, visible_size), layer(hidden, hidden_size)},
          {Eigen::MatrixXd::Zero(visible_size, hidden_size)}};
}

}  // namespace

TEST_CASE("the smaller side has fewer states, not fewer units, and is the hidden one when equal") {
  const Unit bit = Unit::bernoulli(), seven = Unit::multivalued(6);
  CHECK(log2_states(rbm(bit, 5, seven, 2), 0) == 5);
  CHECK(log2_states(rbm(bit, 5, seven, 2), 1) == Approx(2 * std::log2(7)));
  CHECK(smaller_side(rbm(bit, 5, seven, 2)) == 0);  // 32 states against 49
  CHECK(smaller_side(rbm(bit, 6, seven, 2)) == 1);
  CHECK(smaller_side(rbm(bit, 4, bit, 4)) == 1);
  CHECK(log2_states(rbm(Unit::continuous(), 1, bit, 9), 0) ==
        std::numeric_limits<double>::infinity());
  CHECK(smaller_side(rbm(Unit::continuous(), 1, bit, 9)) == 1);
}
