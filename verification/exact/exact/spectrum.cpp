#include "boltzmark/exact/spectrum/spectrum.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <complex>
#include <utility>
#include <vector>

#include "verification/exact/support/transition_models.hpp"

using namespace boltzmark;
using namespace transition_models;

namespace {

// The bound. The oracle's own error is the rounding of a dense solver on the matrix as it
// stands, whose eigenvectors are conditioned by sqrt(max p / min p): below e^7 for the scales here.
constexpr double kAgreement = 1e-8;

void require_dense_agreement(const Layered& model, const Rule& rule) {
  CAPTURE(rule.name(), model.units());
  const Spectrum found = spectrum(model, rule);
  const auto expected = oracle::transition::dense_edges(sweep_of(model, rule));
  REQUIRE(found.converged);
  REQUIRE(found.slem == Approx(expected.slem).margin(kAgreement).epsilon(0));
  REQUIRE(found.second_eigenvalue == Approx(expected.second).margin(kAgreement).epsilon(0));
  REQUIRE(found.relaxation_time.value() == Approx(1 / (1 - found.slem)));
  REQUIRE(found.stationarity_error < 1e-13 * model.units());
  REQUIRE(found.irreducible);
  REQUIRE(found.aperiodic);
}

std::vector<Rule> ergodic() { return {Rule::gibbs(), Rule::flip(), Rule::blended(0.5)}; }

}  // namespace

TEST_CASE("spectra of RBMs up to 4x4 are those of dense eigenvalues") {
  for (const Rule& rule : ergodic())
    for (const double scale : {0.3, 1.0, 2.0})
      for (int size = 1; size <= 4; ++size)
        require_dense_agreement(uniform_rbm(size, 5 - size + size % 2, scale, 100 + size), rule);
}

TEST_CASE("spectra of 5x5 RBMs are those of dense eigenvalues") {
  for (const Rule& rule : ergodic()) require_dense_agreement(uniform_rbm(5, 5, 1, 55), rule);
}

TEST_CASE("spectra of deep networks are those of dense eigenvalues") {
  for (const Rule& rule : ergodic())
    for (std::uint64_t i = 0; i < 4; ++i) {
      require_dense_agreement(tied_network({2, 2, 2}, 20 + i), rule);
      require_dense_agreement(tied_network({1, 2, 2, 2}, 30 + i), rule);
    }
}

TEST_CASE("every method finds the same spectrum, large weights included") {
  for (const double scale : {1.0, 5.0, 10.0}) {
    for (std::uint64_t i = 0; i < 3; ++i) {
      const Layered model = uniform_rbm(4, 4, scale, 200 + i, 0);
      for (const Rule& rule : ergodic()) {
        CAPTURE(rule.name(), scale, i);
        using Method = SpectrumOptions::Method;
        const Spectrum dense = spectrum(model, rule, Scan::periodic, {.method = Method::dense});
        const Spectrum chosen = spectrum(model, rule);
        const Spectrum krylov = spectrum(model, rule, Scan::periodic, {.method = Method::krylov});
        REQUIRE(krylov.converged);
        for (const Spectrum& other : {chosen, krylov}) {
          REQUIRE(std::abs(other.slem - dense.slem) < 1e-10);
          REQUIRE(std::abs(other.second_eigenvalue - dense.second_eigenvalue) < 1e-10);
        }
      }
    }
  }
}

// Small weights: T flips almost surely, and many of its eigenvalues lie near the edge.
TEST_CASE("a short Krylov space finds the edges of clustered spectra") {
  using Method = SpectrumOptions::Method;
  for (const double scale : {0.05, 0.1, 0.4}) {
    CAPTURE(scale);
    const Layered model = uniform_rbm(5, 4, scale, 500, 0);
    const Spectrum dense = spectrum(model, Rule::flip(), Scan::periodic, {.method = Method::dense});
    const Spectrum found =
        spectrum(model, Rule::flip(), Scan::periodic, {.method = Method::krylov, .columns = 20});
    REQUIRE(found.converged);
    REQUIRE(std::abs(found.slem - dense.slem) < kAgreement);
    REQUIRE(std::abs(found.second_eigenvalue - dense.second_eigenvalue) < kAgreement);
  }
}

// Of independent units: the products of their eigenvalues -e^-|b|.
TEST_CASE("the spectrum of 2^17 states with zero weights is that of products of units") {
  Eigen::VectorXd b(9), c(8);
  b << 0.3, -0.9, 1.1, 1.2, -1.4, 1.5, 1.6, 2, -2.5;
  c << -0.5, 0.8, 1, 1.3, 1.7, -1.8, 2.2, 3;
  const Spectrum found = spectrum(Layered::rbm(Eigen::MatrixXd::Zero(9, 8), b, c), Rule::flip());
  REQUIRE(found.converged);
  REQUIRE(found.method == "krylov");
  REQUIRE(std::abs(found.slem - std::exp(-0.3)) < kAgreement);
  REQUIRE(std::abs(found.second_eigenvalue - std::exp(-0.3 - 0.5)) < kAgreement);
}

// Units that no weight joins move on their own: the sweep's eigenvalues are the products of theirs.
TEST_CASE("the spectrum of 2^17 states with weights is that of products of independent RBMs") {
  const std::vector<Layered> parts = {uniform_rbm(3, 3, 1.5, 701), uniform_rbm(3, 3, 1.5, 702),
                                      uniform_rbm(3, 2, 1.5, 703)};
  Eigen::MatrixXd weights = Eigen::MatrixXd::Zero(9, 8);
  Eigen::VectorXd b(9), c(8);
  std::vector<std::complex<double>> values{1};
  Eigen::Index v = 0, h = 0;
  for (const Layered& part : parts) {
    weights.block(v, h, part.size(0), part.size(1)) = part.weights(0);
    b.segment(v, part.size(0)) = part.bias(0);
    c.segment(h, part.size(1)) = part.bias(1);
    v += part.size(0);
    h += part.size(1);
    const Eigen::EigenSolver<Eigen::MatrixXd> own(sweep_of(part, Rule::flip()).cast<double>(),
                                                  false);
    std::vector<std::complex<double>> products;
    for (const std::complex<double> value : values)
      for (const std::complex<double> factor : own.eigenvalues())
        products.push_back(value * factor);
    values = std::move(products);
  }
  double slem = 0, second = -1;
  int ones = 0;
  for (const std::complex<double> value : values) {
    if (std::abs(value - 1.0) < 1e-9 && ++ones) continue;
    slem = std::max(slem, std::abs(value));
    second = std::max(second, value.real());
  }
  REQUIRE(ones == 1);
  const Spectrum found = spectrum(Layered::rbm(weights, b, c), Rule::flip());
  CAPTURE(slem, second, found.slem - slem, found.second_eigenvalue - second);
  REQUIRE(found.states == (1U << 17));
  REQUIRE(found.method == "krylov");
  REQUIRE(found.converged);
  REQUIRE(std::abs(found.slem - slem) < kAgreement);
  REQUIRE(std::abs(found.second_eigenvalue - second) < kAgreement);
  REQUIRE(found.stationarity_error < 1e-13 * 17);
}

TEST_CASE("the chain of one side has the edges of the whole Gibbs sweep") {
  const Layered model = uniform_rbm(9, 9, 1, 600);
  const Spectrum side = spectrum(model, Rule::gibbs());
  const Spectrum whole =
      spectrum(model, Rule::gibbs(), Scan::periodic, {.method = SpectrumOptions::Method::krylov});
  REQUIRE(side.method == "marginal krylov");
  REQUIRE(whole.method == "krylov");
  REQUIRE(side.converged);
  REQUIRE(whole.converged);
  REQUIRE(std::abs(side.slem - whole.slem) < kAgreement);
  REQUIRE(std::abs(side.second_eigenvalue - whole.second_eigenvalue) < kAgreement);
}

TEST_CASE("the random scan's spectrum is that of dense eigenvalues and is real") {
  for (const Rule& rule : ergodic()) {
    for (const int size : {2, 4}) {
      const Layered model = uniform_rbm(size, size, 1.5, 300 + size);
      const Spectrum found = spectrum(model, rule, Scan::random);
      const auto expected = oracle::transition::dense_edges(
          oracle::transition::random_scan_matrix(network(model), law(rule), rule.blend));
      REQUIRE(found.converged);
      REQUIRE(std::abs(found.slem - expected.slem) < kAgreement);
      REQUIRE(std::abs(found.second_eigenvalue - expected.second) < kAgreement);
    }
  }
}

TEST_CASE("with zero weights SLEM(G) is 0 and SLEM(T) the largest (1-p*)/p* of a unit not tied") {
  Eigen::VectorXd b(3), c(3);
  b << 0, 0.7, -2;
  c << 0.25, 0, 1;
  const Layered model = Layered::rbm(Eigen::MatrixXd::Zero(3, 3), b, c);
  const double likelier = 1 / (1 + std::exp(-0.25));
  REQUIRE(spectrum(model, Rule::gibbs()).slem < 1e-12);
  REQUIRE(std::abs(spectrum(model, Rule::flip()).slem - (1 - likelier) / likelier) < 1e-12);
  // T_a is a T + (1 - a) G unit by unit, and G adds nothing.
  REQUIRE(std::abs(spectrum(model, Rule::blended(0.5)).slem - 0.5 * std::exp(-0.25)) < 1e-12);
}

TEST_CASE("with zero weights and biases T is G") {
  for (const Rule& rule : {Rule::gibbs(), Rule::flip()}) {
    for (const int size : {3, 4}) {
      const Spectrum found = spectrum(zero_rbm(size, size), rule);
      REQUIRE(found.converged);
      REQUIRE(found.slem < 1e-12);
      REQUIRE(std::abs(found.second_eigenvalue) < 1e-12);
    }
  }
}

TEST_CASE("a reducible or periodic kernel has SLEM 1 and no relaxation time") {
  const Spectrum found = spectrum(zero_rbm(3, 3), Rule::metropolis());
  REQUIRE(found.slem == 1);
  REQUIRE_FALSE(found.relaxation_time.has_value());
  REQUIRE_FALSE(found.irreducible);
  REQUIRE_FALSE(found.aperiodic);
  REQUIRE(found.stationarity_error < 1e-14);
}

TEST_CASE("a search that is cut short says so") {
  const Layered model = uniform_rbm(6, 6, 1, 400);
  const Spectrum found =
      spectrum(model, Rule::flip(), Scan::periodic,
               {.method = SpectrumOptions::Method::krylov, .tolerance = 1e-15, .max_restarts = 1});
  REQUIRE_FALSE(found.converged);
  REQUIRE(found.residual > 1e-15);
}

// Some eigenvalue of a symmetric S is within ||S y - x y|| of x, for any x and unit vector y. The
// random scan's of n independent units of bias b are 1 - k (1 + e^-|b|) / n, k units having flipped,
// and 0 or -1 where a search puts the stationary 1. With 5 vectors, n = 6 and b = 0.01 the first
// search ends at -0.857, which is 0.133 off, at a residual of 0.251, the second at 0.665 and 0.051:
// only the larger residual holds both.
TEST_CASE("a residual bounds how far off both numbers are, whichever search was the worse") {
  int cut = 0;
  for (const double b : {0.01, 0.1})
    for (const int visible : {3, 4})
      for (const int columns : {3, 4, 5, 6}) {
        const int n = visible + 3;
        std::vector<double> values = {0, -1};
        for (int k = 1; k <= n; ++k) values.push_back(1 - k * (1 + std::exp(-b)) / n);
        const Layered model =
            Layered::rbm(Eigen::MatrixXd::Zero(visible, 3), Eigen::VectorXd::Constant(visible, b),
                         Eigen::VectorXd::Constant(3, b));
        const Spectrum found = spectrum(
            model, Rule::flip(), Scan::random,
            {.method = SpectrumOptions::Method::krylov, .max_restarts = 0, .columns = columns});
        double of_slem = 2, of_second = 2;
        for (const double value : values) {
          of_slem = std::min(of_slem, std::abs(found.slem - std::abs(value)));
          of_second = std::min(of_second, std::abs(found.second_eigenvalue - value));
        }
        CAPTURE(b, n, columns, found.slem, found.second_eigenvalue);
        CHECK(of_slem <= found.residual + 1e-12);
        CHECK(of_second <= found.residual + 1e-12);
        cut += of_slem > 0.05 && of_second < 0.01;
      }
  CHECK(cut >= 2);  // of which the first search alone ended far off
}
