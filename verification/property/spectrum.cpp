#include "boltzmark/exact/spectrum.hpp"

#include <rapidcheck.h>
#include <rapidcheck/catch.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "boltzmark/exact/check_cases.hpp"

using namespace boltzmark;

namespace {

// A model of the checks' kind: zeros, ties and +-100 among moderate parameters, all multiples of
// 2^-8, so that the identities below hold without rounding of inputs.
Layered model_of(std::uint64_t seed) {
  Stream stream(make_key(seed, "spectrum properties"), Purpose::test);
  return draw_check_model(stream, 3);
}

Rule rule_of(std::uint64_t choice) { return ergodic_rules()[choice % ergodic_rules().size()]; }

// The same arithmetic in another order moves a simple eigenvalue by the rounding, a defective pair
// by its root, 1e-8. At weights of 100 a sweep is nearly deterministic and has nilpotent blocks:
// with k states in a chain of sure moves the eigenvalue 0 moves by the rounding's k-th root, 1e-4
// at k = 4, so numbers below that are all alike.
bool same(double a, double b) {
  return std::abs(a - b) < 1e-7 || std::max(std::abs(a), std::abs(b)) < 1e-4;
}

void require_same(const Spectrum& a, const Spectrum& b) {
  RC_ASSERT(a.converged && b.converged);
  RC_ASSERT(same(a.slem, b.slem));
  RC_ASSERT(same(a.second_eigenvalue, b.second_eigenvalue));
  RC_ASSERT(a.irreducible == b.irreducible && a.aperiodic == b.aperiodic);
}

}  // namespace

TEST_CASE("renaming units leaves the spectrum unchanged") {
  rc::prop("reversing the order of every layer", [](std::uint64_t seed, std::uint64_t choice) {
    const Layered model = model_of(seed);
    std::vector<Layer> layers;
    std::vector<Eigen::MatrixXd> weights;
    for (int l = 0; l < model.layers(); ++l) {
      layers.push_back(model.layer(l));
      layers.back().bias.reverseInPlace();
    }
    for (const Eigen::MatrixXd& w : model.weights()) weights.push_back(w.reverse());
    const Rule rule = rule_of(choice);
    require_same(spectrum(model, rule), spectrum(Layered(layers, weights), rule));
  });
}

TEST_CASE("exchanging 0 and 1 in one unit leaves the spectrum unchanged") {
  rc::prop("flipping the first visible unit", [](std::uint64_t seed, std::uint64_t choice) {
    const Layered model = model_of(seed);
    // x -> 1 - x: a.x + x w h = a + w h - (a x' + x' w h).
    std::vector<Layer> layers;
    for (int l = 0; l < model.layers(); ++l) layers.push_back(model.layer(l));
    std::vector<Eigen::MatrixXd> weights = model.weights();
    layers[1].bias += weights[0].row(0).transpose();
    layers[0].bias[0] = -layers[0].bias[0];
    weights[0].row(0) *= -1;
    const Rule rule = rule_of(choice);
    require_same(spectrum(model, rule), spectrum(Layered(layers, weights), rule));
  });
}

TEST_CASE("exchanging the two sides leaves the spectrum of the sweep unchanged") {
  // T_h T_v and T_v T_h have the same eigenvalues.
  rc::prop("transposing an RBM", [](std::uint64_t seed, std::uint64_t choice) {
    const Layered model = model_of(seed);
    RC_PRE(model.is_rbm());
    const Layered turned = Layered::rbm(model.weights(0).transpose(), model.bias(1), model.bias(0));
    const Rule rule = rule_of(choice);
    require_same(spectrum(model, rule), spectrum(turned, rule));
  });
}

TEST_CASE("the sweep of T, G and their blend is ergodic on every model, ties included") {
  rc::prop("one component of period 1", [](std::uint64_t seed, std::uint64_t choice) {
    const Spectrum found = spectrum(model_of(seed), rule_of(choice));
    RC_ASSERT(found.irreducible);
    RC_ASSERT(found.aperiodic);
    RC_ASSERT(found.stationarity_error < 1e-12);
  });
}
