// The vectorised exponential against the library's.
#include "boltzmark/core/exponentials.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

using namespace boltzmark;

TEST_CASE("exponentials of any number of values are those of each value") {
  for (std::size_t count = 0; count <= 40; ++count) {
    std::vector<double> values, expected;
    for (std::size_t i = 0; i < count; ++i) {
      values.push_back(3 - 0.77 * static_cast<double>(i * i));
      expected.push_back(std::exp(values.back() - 3));
    }
    exponentiate(values, 3);
    for (std::size_t i = 0; i < count; ++i)
      // A few units in the last place; below the smallest normal number either may give 0.
      REQUIRE(values[i] == Approx(expected[i]).epsilon(1e-15).margin(1e-300));
  }
  std::vector<double> far = {-1e6, -800, 0, -1e300};
  exponentiate(far, 0);
  CHECK(far == std::vector<double>{0, 0, 1, 0});
}
