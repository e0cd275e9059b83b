#include "boltzmark/exact/spectrum/spectrum.hpp"

#include <rapidcheck.h>
#include <rapidcheck/catch.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "verification/checks/check_cases.hpp"

using namespace boltzmark;

namespace {

// Parameters uniform on (-2, 2): inputs stay below 10 and no unit is tied, so no sweep is so nearly
// deterministic that its eigenvalues near 0 are those of a nilpotent block, which rounding moves by
// its k-th root.
Layered model_of(std::uint64_t seed) {
  Stream stream(make_key(seed, "spectrum properties"), Purpose::test);
  return draw_generic_model(stream, 3, 2);
}

Rule rule_of(std::uint64_t choice) { return ergodic_rules()[choice % ergodic_rules().size()]; }

// The same arithmetic in another order moves a simple eigenvalue by the rounding, and the two of a
// pair that nearly coincides by its root, 1e-8.
constexpr double kSame = 1e-7;

void require_same(const Spectrum& a, const Spectrum& b) {
  RC_ASSERT(a.converged && b.converged);
  RC_ASSERT(std::abs(a.slem - b.slem) < kSame);
  RC_ASSERT(std::abs(a.second_eigenvalue - b.second_eigenvalue) < kSame);
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
    Stream stream(make_key(seed, "spectrum properties"), Purpose::test);
    const Layered model = draw_generic_rbm(stream, 3, 2);
    const Layered turned = Layered::rbm(model.weights(0).transpose(), model.bias(1), model.bias(0));
    const Rule rule = rule_of(choice);
    require_same(spectrum(model, rule), spectrum(turned, rule));
  });
}

TEST_CASE("the sweep of T, G and their blend is ergodic on every model, ties included") {
  rc::prop("one component of period 1", [](std::uint64_t seed, std::uint64_t choice) {
    // The checks' models: zeros, ties, entries of +-100, up to five layers.
    Stream stream(make_key(seed, "ergodicity"), Purpose::test);
    const Spectrum found = spectrum(draw_check_model(stream, 3), rule_of(choice));
    RC_ASSERT(found.irreducible);
    RC_ASSERT(found.aperiodic);
    RC_ASSERT(found.stationarity_error < 1e-12);
  });
}
