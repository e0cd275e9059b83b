#include "boltzmark/transition/rung_nodes.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <span>

#include "boltzmark/core/error.hpp"
#include "boltzmark/model/base.hpp"
#include "boltzmark/random/stream.hpp"
#include "boltzmark/target/ladder.hpp"
#include "boltzmark/transition/tempered_chains.hpp"

using namespace boltzmark;

namespace {

double softplus(double minus_z) { return std::log1p(std::exp(minus_z)); }

// The largest error of log(1 + e^{-b z}) at the rungs between the nodes.
double interpolation_error(const RungNodes& nodes, double z) {
  const double top = nodes.rungs() - 1;
  double worst = 0;
  for (const RungNodes::Interpolated& rung : nodes.interpolated()) {
    double value = 0;
    for (std::size_t i = 0; i < rung.weights.size(); ++i)
      value += rung.weights[i] * softplus(-z * nodes.nodes()[i + 1] / top);
    worst = std::max(worst, std::abs(value - softplus(-z * rung.rung / top)));
  }
  return worst;
}

// 12 x `units` with weights of 2^-4, so that float32 inputs are exact.
Layered wide_rbm(int units) {
  Stream stream(make_key(5, "rung nodes"), Purpose::test);
  const auto number = [&] { return (static_cast<double>(stream.below(129)) - 64) / 16; };
  Eigen::MatrixXd weights(12, units);
  for (double& w : weights.reshaped()) w = number();
  Eigen::VectorXd visible(12), hidden(units);
  for (double& b : visible) b = number();
  for (double& b : hidden) b = number();
  return {{{.unit = Unit::bernoulli(), .bias = visible, .sigma0 = {}},
           {.unit = Unit::bernoulli(), .bias = hidden, .sigma0 = {}}},
          {weights}};
}

}  // namespace

TEST_CASE("every rung of a linear ladder is a node or interpolated, once") {
  for (const int rungs : {2, 3, 4, 24, 25, 26, 38, 100, 101, 1001}) {
    const RungNodes nodes(rungs);
    std::vector<int> seen = nodes.nodes();
    CHECK(std::is_sorted(seen.begin(), seen.end()));
    for (const RungNodes::Interpolated& rung : nodes.interpolated()) seen.push_back(rung.rung);
    std::sort(seen.begin(), seen.end());
    REQUIRE(seen.size() == static_cast<std::size_t>(rungs));
    for (int k = 0; k < rungs; ++k) CHECK(seen[k] == k);
  }
  CHECK(RungNodes(100).nodes().size() == 31);
  CHECK(RungNodes(1001).nodes().size() == 45);
  CHECK_THROWS_AS(RungNodes(1), InvalidArgument);
}

// Measured: 2e-12 at 100 rungs, 2e-11 at 1,001, 1e-10 at 5,500.
TEST_CASE("the polynomial through the nodes gives log(1 + e^{-b z}) at every rung for every z") {
  for (const int rungs : {20, 25, 31, 38, 50, 77, 100, 101, 200, 1001, 5000}) {
    const RungNodes nodes(rungs);
    double worst = 0;
    for (double z = 0; z < 60; z += 0.25) worst = std::max(worst, interpolation_error(nodes, z));
    for (double z = 60; z < 1e6; z *= 1.1) worst = std::max(worst, interpolation_error(nodes, z));
    INFO("rungs " << rungs << ", error " << worst);
    CHECK(worst < 1e-10);
  }
}

// 129 rungs are k/128, exact in float32, so that both ways see the same b. Units of 1e-10 each, and
// sums of as many terms, of some hundreds, rounded to 2^-53. The factors of 1,100 units at b = 0
// have a product of 2^1100, which no double holds.
TEST_CASE("a linear ladder's densities are those of each rung alone") {
  for (const int units : {500, 1100}) {
    const Layered model = wide_rbm(units);
    constexpr int kChains = 17, kRungs = 129;
    TemperedChains chains(std::make_shared<const TemperedModel>(model, Base::uniform(model)), 0,
                          kChains);
    Stream stream(make_key(6, "rung nodes"), Purpose::test);
    Eigen::MatrixXf states(12, kChains);
    for (float& x : states.reshaped()) x = static_cast<float>(stream.below(2));
    chains.set_layer(0, states);
    std::vector<double> together(kChains * kRungs), alone(kChains);
    const Ladder ladder = Ladder::linear(kRungs);
    chains.log_densities(ladder.singles(), together);
    for (int k = 0; k < kRungs; ++k) {
      chains.log_densities(std::span(ladder.singles()).subspan(k, 1), alone);
      for (int c = 0; c < kChains; ++c)
        CHECK(std::abs(together[c * kRungs + k] - alone[c]) < units * 1e-10 + 1e-10);
    }
  }
}
