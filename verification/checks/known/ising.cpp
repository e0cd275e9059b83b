#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "boltzmark/core/error.hpp"
#include "verification/checks/known/known_model.hpp"

namespace boltzmark {
namespace {

void check_lattice(int size, double coupling, int most) {
  if (size < 4 || size > most || size % 2 != 0)
    throw InvalidArgument(fmt::format("size = {} (must be even, from 4 to {})", size, most));
  if (!(coupling >= 1e-6 && coupling <= 10))
    throw InvalidArgument(fmt::format("coupling = {} (must be from 1e-6 to 10)", coupling));
}

double log_2cosh(double x) { return std::abs(x) + std::log1p(std::exp(-2 * std::abs(x))); }

double log_2sinh(double x) {  // of |x|
  return std::abs(x) + std::log(-std::expm1(-2 * std::abs(x)));
}

// gamma_r of Kaufman's formula, from cosh gamma_r = cosh^2 2K / sinh 2K - cos(pi r / L); that of
// r = 0 has the sign of K - K_c.
double rotation(int r, int size, double coupling) {
  if (r == 0) return 2 * coupling + std::log(std::tanh(coupling));
  const double s = std::sinh(2 * coupling), half = std::sin(std::numbers::pi * r / (2.0 * size));
  return 2 * std::asinh(std::sqrt((1 - s) * (1 - s) / (2 * s) + half * half));
}

}  // namespace

double critical_coupling() { return std::asinh(1.0) / 2; }

Layered ising_lattice(int size, double coupling) {
  check_lattice(size, coupling, kMostLattice);
  const int units = size * size / 2;
  const Layer layer{
      .unit = Unit::multivalued(1), .bias = Eigen::VectorXd::Zero(units), .sigma0 = {}};
  Eigen::MatrixXd weights = Eigen::MatrixXd::Zero(units, units);
  const auto place = [&](int row, int column) { return (row * size + column) / 2; };
  for (int row = 0; row < size; ++row)
    for (int column = row % 2; column < size; column += 2)
      for (const auto& [down, right] : {std::array{0, 1}, {0, size - 1}, {1, 0}, {size - 1, 0}})
        weights(place(row, column), place((row + down) % size, (column + right) % size)) +=
            coupling;
  return Layered({layer, layer}, {std::move(weights)});
}

//   Z = (2 sinh 2K)^{L^2/2} / 2 * (prod 2 cosh(L g_odd / 2) + prod 2 sinh(L g_odd / 2)
//                                 + prod 2 cosh(L g_even / 2) + prod 2 sinh(L g_even / 2))
double ising_log_z(int size, double coupling) {
  check_lattice(size, coupling, 256);
  std::array<double, 4> logs{};  // of the products
  for (int r = 0; r < size; ++r) {
    const double odd = size / 2.0 * rotation(2 * r + 1, size, coupling),
                 even = size / 2.0 * rotation(2 * r, size, coupling);
    logs[0] += log_2cosh(odd);
    logs[1] += log_2sinh(odd);
    logs[2] += log_2cosh(even);
    logs[3] += log_2sinh(even);
  }
  const double sign = rotation(0, size, coupling) < 0 ? -1 : 1;
  const double top = *std::max_element(logs.begin(), logs.end());
  const double sum = std::exp(logs[0] - top) + std::exp(logs[1] - top) + std::exp(logs[2] - top) +
                     sign * std::exp(logs[3] - top);
  return size * size / 2.0 * std::log(2 * std::sinh(2 * coupling)) - std::log(2.0) + top +
         std::log(sum);
}

}  // namespace boltzmark
