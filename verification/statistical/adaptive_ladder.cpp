// Whether the pilot's ladder has the rungs that the exact spread of D asks for.
#include <catch2/catch.hpp>
#include <cmath>

#include "boltzmark/core/numeric.hpp"
#include "boltzmark/sample/tempering/simulated_tempering.hpp"
#include "boltzmark/target/layered_target.hpp"
#include "decide.hpp"

using namespace boltzmark;
using namespace boltzmark::verification;

namespace {

constexpr int kLadderRungs = 6;
// Some 3,000 samples a rung give its deviation within 1.3 %, and so every rung within 0.02 nearly
// always; equal steps of the variance move rungs by 0.1 and more.
constexpr double kNear = 0.02;
const StatisticalTest kLadder({.name = "adaptive ladder: share of pilots near the exact ladder",
                               .false_alarm = 1e-9,
                               .deviation = 0.5});

// Units without weights: D is the sum of the biases that are on.
Layered independent_model() {
  return Layered::rbm(Eigen::MatrixXd::Zero(4, 1), Eigen::Vector4d(6, -5, 2, 1),
                      Eigen::VectorXd::Constant(1, -3));
}

// Var D = sum_i a_i^2 p_i (1 - p_i), p_i = sigmoid(b a_i).
double deviation(const Layered& model, double b) {
  double variance = 0;
  for (int l = 0; l < 2; ++l)
    for (const double bias : model.bias(l))
      variance += bias * bias * sigmoid(b * bias) * sigmoid(-b * bias);
  return std::sqrt(variance);
}

}  // namespace

TEST_CASE("the pilot's ladder has the rungs of equal thermodynamic length") {
  const Layered model = independent_model();
  const LayeredTarget target(model, Base::uniform(model));
  const Ladder linear = Ladder::linear(kLadderRungs);
  Eigen::VectorXd exact(kLadderRungs);
  for (int k = 0; k < kLadderRungs; ++k) exact[k] = deviation(model, linear[k]);
  const Ladder wanted = equalise(linear, exact, kLadderRungs);
  const Decision decision = decide_proportion(
      kLadder, 0.9, Claim::at_least, one_by_one<int>([&](Stream& stream) {
        const Ladder found = adaptive_ladder(
            target,
            {.rungs = kLadderRungs, .chains = 64, .sweeps = 500, .key = {stream(), stream()}});
        double worst = 0;
        for (int k = 0; k < kLadderRungs; ++k)
          worst = std::max(worst, std::abs(found[k] - wanted[k]));
        return worst < kNear ? 1 : 0;
      }));
  INFO(decision.summary);
  CHECK(decision.holds);
}
