// Identities of continuous targets and of the leapfrog on random mixtures.
#include "boltzmark/target/continuous.hpp"

#include <rapidcheck.h>
#include <rapidcheck/catch.h>

#include <Eigen/LU>
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "boltzmark/target/continuous_target.hpp"
#include "verification/checks/known/gaussian_mixture.hpp"

using namespace boltzmark;

namespace {

/// A random mixture, an inverse temperature and a point of phase space.
struct MixtureCase {
  explicit MixtureCase(std::uint64_t seed)
      : stream(make_key(seed, "continuous"), Purpose::test),
        mixture({.dimension = 1 + static_cast<int>(stream.below(4)),
                 .separation = stream.uniform(0, 6),
                 .variance = stream.uniform(0.3, 2),
                 .base_variance = stream.uniform(1, 30)}),
        b(stream.below(8) == 0 ? 1 : stream.uniform()) {
    for (Eigen::VectorXd* values : {&phase.position, &phase.momentum}) {
      values->resize(mixture.dimension());
      for (double& value : *values) value = 2 * stream.normal();
    }
  }
  Stream stream;
  GaussianMixture mixture;
  double b;
  Phase phase;
};

/// Integrates from a point (position, momentum) given as one vector.
Eigen::VectorXd integrate(const MixtureCase& at, const Eigen::VectorXd& point, double step,
                          int steps) {
  const int d = at.mixture.dimension();
  Phase phase{point.head(d), point.tail(d)};
  leapfrog(at.mixture, at.b, step, steps, phase);
  Eigen::VectorXd end(2 * d);
  end << phase.position, phase.momentum;
  return end;
}

}  // namespace

TEST_CASE("the gradient is the slope of the tempered log density") {
  rc::prop("central differences", [](std::uint64_t seed) {
    const MixtureCase at(seed);
    Eigen::VectorXd gradient(at.mixture.dimension());
    at.mixture.gradient(at.phase.position, at.b, gradient);
    // Truncation h^2 / 6 |f'''| < 1e-10 tilt^3 <= 1e-7; rounding 1e3 eps / h = 1e-8.
    constexpr double h = 1e-5;
    for (int i = 0; i < at.mixture.dimension(); ++i) {
      Eigen::VectorXd up = at.phase.position, down = at.phase.position;
      up[i] += h;
      down[i] -= h;
      const double slope =
          (at.mixture.log_density(up, at.b) - at.mixture.log_density(down, at.b)) / (2 * h);
      RC_ASSERT(std::abs(gradient[i] - slope) < 1e-6);
    }
  });
}

TEST_CASE("the leapfrog is reversible") {
  rc::prop("with its momentum negated it returns", [](std::uint64_t seed) {
    MixtureCase at(seed);
    const double step = at.stream.uniform(0.01, 0.4);
    const int steps = 1 + static_cast<int>(at.stream.below(8)), d = at.mixture.dimension();
    Eigen::VectorXd start(2 * d);
    start << at.phase.position, at.phase.momentum;
    Eigen::VectorXd end = integrate(at, start, step, steps);
    end.tail(d) *= -1;
    Eigen::VectorXd back = integrate(at, end, step, steps);
    back.tail(d) *= -1;
    // Rounding grows by at most 1 + step sqrt(curvature), curvature <= tilt^2 + 1 / s <= 104: a
    // factor of 5 a step, 5^16 at the very worst, 1e4 where the path stays between the modes.
    RC_ASSERT((back - start).cwiseAbs().maxCoeff() < 1e-8);
  });
}

TEST_CASE("the leapfrog preserves volume") {
  rc::prop("its Jacobian has determinant 1", [](std::uint64_t seed) {
    MixtureCase at(seed);
    const double step = at.stream.uniform(0.01, 0.2);
    const int steps = 1 + static_cast<int>(at.stream.below(3)), d = at.mixture.dimension();
    Eigen::VectorXd start(2 * d);
    start << at.phase.position, at.phase.momentum;
    Eigen::MatrixXd jacobian(2 * d, 2 * d);
    constexpr double h = 1e-5;
    for (int i = 0; i < 2 * d; ++i) {
      Eigen::VectorXd up = start, down = start;
      up[i] += h;
      down[i] -= h;
      jacobian.col(i) =
          (integrate(at, up, step, steps) - integrate(at, down, step, steps)) / (2 * h);
    }
    RC_ASSERT(std::abs(jacobian.determinant() - 1) < 1e-4);
  });
}

TEST_CASE("antitonic values are the min-max of their means") {
  rc::prop("min over starts of max over ends", [](const std::vector<std::int8_t>& numbers) {
    const auto n = static_cast<Eigen::Index>(numbers.size());
    Eigen::VectorXd values(n);
    for (Eigen::Index i = 0; i < n; ++i) values[i] = numbers[static_cast<std::size_t>(i)];
    const Eigen::VectorXd result = antitonic(values);
    RC_ASSERT(result.size() == n);
    for (Eigen::Index i = 0; i < n; ++i) {
      double least = INFINITY;
      for (Eigen::Index a = 0; a <= i; ++a) {
        double most = -INFINITY;
        for (Eigen::Index e = i; e < n; ++e)
          most = std::max(most, values.segment(a, e - a + 1).mean());
        least = std::min(least, most);
      }
      RC_ASSERT(std::abs(result[i] - least) < 1e-10);
    }
  });
}
