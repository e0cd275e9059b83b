#include <fmt/format.h>

#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "verification/checks/known/known_model.hpp"

namespace boltzmark {
namespace {

struct Star {
  Eigen::VectorXd weights, below;
  double above = 0;

  double log_f(double h) const {
    double log_f = above * h;
    for (Eigen::Index i = 0; i < weights.size(); ++i)
      log_f += log_partition(Unit::continuous(), below[i] + weights[i] * h);
    return log_f;
  }
};

/// Of a star, and what it may be off by.
struct Integral {
  double log_z;
  double error;
};

// log f is convex: its peaks are at the ends, and so is its largest value. Panels that halve towards the ends hold
// what lies there at any strength.
double integrate_panels(const Star& star, double highest, int parts) {
  constexpr int kHalvings = 40;
  const auto scaled = [&](double h) { return std::exp(star.log_f(h) - highest); };
  double sum = 0;
  for (const double end : {-1.0, 1.0})
    for (int k = 0; k <= kHalvings; ++k) {
      const double outer = k == kHalvings ? 0 : std::ldexp(1, -k - 1),
                   step = (std::ldexp(1, -k) - outer) / parts;
      for (int part = 0; part < parts; ++part) {
        const double from = outer + part * step;  // the distance from the end
        sum += boost::math::quadrature::gauss<double, 30>::integrate(
            [&](double distance) { return scaled(end * (1 - distance)); }, from, from + step);
      }
    }
  return sum;
}

Integral integrate(const Star& star) {
  const double highest = std::max(star.log_f(-1), star.log_f(1));
  const double sum = integrate_panels(star, highest, 4);
  const double error = std::abs(sum - integrate_panels(star, highest, 1));
  const double rounding = std::numeric_limits<double>::epsilon() *
                          (4.0 * static_cast<double>(star.weights.size()) + 4) *
                          (1 + star.weights.cwiseAbs().sum() + star.below.cwiseAbs().sum() +
                           std::abs(star.above) + std::abs(highest));
  return {highest + std::log(sum), error / sum + rounding};
}

}  // namespace

KnownModel make_stars(const Stars& stars, Stream& draws) {
  const int visible = stars.count * stars.visible;
  const std::vector<int> rows = permutation(visible, draws), cols = permutation(stars.count, draws);
  Layer below{.unit = Unit::continuous(), .bias = Eigen::VectorXd(visible), .sigma0 = {}},
      above{.unit = Unit::continuous(), .bias = Eigen::VectorXd(stars.count), .sigma0 = {}};
  Eigen::MatrixXd weights = Eigen::MatrixXd::Zero(visible, stars.count);
  KnownLogZ known{.by = fmt::format("quadrature of {} independent parts", stars.count)};
  for (int s = 0; s < stars.count; ++s) {
    const double tilt = std::min(stars.strength, 1.0);
    const Star star{
        .weights = normal_parameters(stars.visible, 1, stars.strength, draws),
        .below = normal_parameters(stars.visible, 1, tilt / std::sqrt(stars.visible), draws),
        .above = tilt * draws.normal() / 2};
    const Integral part = integrate(star);
    known.log_z += part.log_z;
    known.error += part.error;
    const int col = cols[static_cast<std::size_t>(s)];
    for (int i = 0; i < stars.visible; ++i) {
      const int row = rows[static_cast<std::size_t>(stars.visible * s + i)];
      weights(row, col) = star.weights[i];
      below.bias[row] = star.below[i];
    }
    above.bias[col] = star.above;
  }
  known.error += 1e-15 * stars.count * std::abs(known.log_z);
  return {.model = Layered({std::move(below), std::move(above)}, {std::move(weights)}),
          .known = known};
}

}  // namespace boltzmark
