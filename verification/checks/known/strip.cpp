#include <fmt/format.h>

#include <cmath>
#include <utility>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "verification/checks/known/known_model.hpp"
#include "verification/checks/known/transfer_sum.hpp"

namespace boltzmark {
namespace {

constexpr int kMostWidth = 16;

/// Couplings and fields of the spin at (row, place): to its right, and to the next row.
struct StripLattice {
  Eigen::MatrixXd right, down, field;  // [length x width]
};

StripLattice draw(const Strip& strip, Stream& draws) {
  const auto field = [&](double sd) {
    return normal_parameters(strip.length, strip.width, sd, draws);
  };
  StripLattice lattice{field(strip.strength), field(strip.strength), field(strip.field)};
  lattice.right.col(strip.width - 1).setZero();
  lattice.down.row(strip.length - 1).setZero();
  return lattice;
}

double spin(std::size_t row, int place) { return (row >> place & 1) != 0 ? 1 : -1; }

// Adds a row's own energy to the log weight of each of its states.
void add_row(const StripLattice& lattice, int m, TransferSum& sum) {
  const auto width = static_cast<int>(lattice.field.cols());
  sum.each([&](std::size_t row, double& log_weight) {
    for (int i = 0; i < width; ++i) {
      log_weight += lattice.field(m, i) * spin(row, i);
      if (i + 1 < width) log_weight += lattice.right(m, i) * spin(row, i) * spin(row, i + 1);
    }
  });
}

double log_z_of(const StripLattice& lattice) {
  const auto length = static_cast<int>(lattice.field.rows());
  const auto width = static_cast<int>(lattice.field.cols());
  TransferSum sum(width);
  add_row(lattice, 0, sum);
  for (int m = 1; m < length; ++m) {
    sum.rescale();
    for (int i = 0; i < width; ++i) sum.replace(i, lattice.down(m - 1, i));
    add_row(lattice, m, sum);
  }
  return sum.log_sum();
}

Layered lay_out(const StripLattice& lattice) {
  const auto length = static_cast<int>(lattice.field.rows());
  const auto width = static_cast<int>(lattice.field.cols());
  const int units = length * width;
  const auto side = [&](int m, int i) { return (m + i) % 2; };
  const auto number = [&](int m, int i) { return (m * width + i) / 2; };  // of its colour
  std::vector<Layer> layers(2);
  for (int l = 0; l < 2; ++l)
    layers[static_cast<std::size_t>(l)] = {
        .unit = Unit::multivalued(1), .bias = Eigen::VectorXd((units + 1 - l) / 2), .sigma0 = {}};
  Eigen::MatrixXd weights = Eigen::MatrixXd::Zero((units + 1) / 2, units / 2);
  const auto couple = [&](int m, int i, int n, int k, double coupling) {
    const bool even = side(m, i) == 0;
    weights(even ? number(m, i) : number(n, k), even ? number(n, k) : number(m, i)) = coupling;
  };
  for (int m = 0; m < length; ++m)
    for (int i = 0; i < width; ++i) {
      layers[static_cast<std::size_t>(side(m, i))].bias[number(m, i)] = lattice.field(m, i);
      if (i + 1 < width) couple(m, i, m, i + 1, lattice.right(m, i));
      if (m + 1 < length) couple(m, i, m + 1, i, lattice.down(m, i));
    }
  return {std::move(layers), {std::move(weights)}};
}

}  // namespace

KnownModel make_strip(const Strip& strip, Stream& draws) {
  if (strip.width < 1 || strip.width > kMostWidth || strip.length < 1 ||
      strip.width * strip.length < 2)
    throw InvalidArgument(
        fmt::format("width x length = {} x {} (must be 1 to {} wide, of two spins "
                    "or more)",
                    strip.width, strip.length, kMostWidth));
  const StripLattice lattice = draw(strip, draws);
  const double log_z = log_z_of(lattice);
  const double size = lattice.right.lpNorm<1>() + lattice.down.lpNorm<1>() +
                      lattice.field.lpNorm<1>() + static_cast<double>(lattice.field.size());
  // Some eight roundings for every spin of a row, of numbers of up to twice the row's size.
  constexpr double kRounding = 16 * 0x1p-53;
  const double last_sum = std::ldexp(1, strip.width - 53);  // a rounding a term
  return {lay_out(lattice),
          {log_z, kRounding * (strip.width + 1) * size + last_sum, "transfer matrices"}};
}

}  // namespace boltzmark
