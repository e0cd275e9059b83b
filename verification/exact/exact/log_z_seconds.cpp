// What an enumeration is foretold to take.
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "boltzmark/exact/log_z.hpp"
#include "verification/exact/support/enumeration_models.hpp"

using namespace enumeration_test;

namespace {

/// Foretells a model of these unit codes and sizes, in ns a state and unit of the other side.
double nanoseconds(const std::vector<int>& codes, const std::vector<int>& sizes, double states,
                   double others, double scale = 0.1) {
  return 1e9 * exact_log_z_seconds(random_network(codes, sizes, scale, 1)) / states / others;
}

}  // namespace

// In ns a state and unit, measured: 60 / 784 for a factor of two terms; where the kernel does not serve, 9 for a
// softplus, 80 for log phi_s, 45 for log phi_inf, 5 for a Gaussian integral and 3.5 for each of the two columns
// of inputs that are made anew for a state of binary units.
TEST_CASE(
    "the time of an enumeration is foretold by the values of its units and by how they are summed",
    "[log_z][seconds]") {
  const double binary = 60.0 / 784, million = std::exp2(20);
  CHECK(nanoseconds({0, 0}, {784, 20}, million, 784) == Approx(binary).epsilon(1e-9));
  CHECK(nanoseconds({1, 0}, {200, 20}, million, 200) == Approx(binary).epsilon(1e-9));
  // As many terms more of a factor; 20 ns a unit in every slab of 32,768 states are the same.
  for (const int s : {2, 4, 8})
    CHECK(nanoseconds({s, 0}, {200, 20}, million, 200) == Approx(s * binary).epsilon(0.01));
  // Nine values fill 9 of 32 columns, and 9 rows of two groups of eight: 512 cells for 81 states.
  CHECK(nanoseconds({0, 8}, {200, 7}, std::pow(9, 7), 200) ==
        Approx(512.0 / 81 * binary).epsilon(0.1));
  // 101 values fill no column and no row: of 256 cells one is a state, and a slab, for 20 ns a unit.
  CHECK(nanoseconds({0, 100}, {64, 3}, std::pow(101, 3), 64) ==
        Approx(256 * binary + 20).epsilon(0.01));
  // What the kernel does not know is summed unit by unit.
  const double few = std::exp2(14);
  CHECK(nanoseconds({9, 0}, {64, 14}, few, 64) == Approx(87).epsilon(0.01));
  CHECK(nanoseconds({-1, 0}, {64, 14}, few, 64) == Approx(52).epsilon(0.01));
  CHECK(nanoseconds({-2, 0}, {64, 14}, few, 64) == Approx(12).epsilon(0.03));
  // One layer of such units makes the others as slow, and so do weights beyond the kernel.
  CHECK(nanoseconds({0, 0, 9}, {50, 12, 1}, std::exp2(12), 51) == Approx(17.8).epsilon(0.01));
  CHECK(nanoseconds({0, 0}, {64, 14}, few, 64, 1e6) == Approx(16.3).epsilon(0.01));
}
