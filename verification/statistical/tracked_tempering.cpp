// With the exact Zhat of the model that it moved to, tracked tempering visits each rung as often as
// its prior says: the chains forget the model that they started with.
#include "boltzmark/sample/tempering/tracked_tempering.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "boltzmark/exact/log_z.hpp"
#include "decide.hpp"

using namespace boltzmark;
using namespace boltzmark::verification;

namespace {

const StatisticalTest kTop({.name = "estimate: occupancy of the top rung after a change of model",
                            .false_alarm = 1e-9,
                            .deviation = 0.03,
                            .cases = 1});
constexpr int kTrackedRungs = 4;

std::shared_ptr<const TemperedModel> model(double sign) {
  Eigen::MatrixXd weights(4, 2);
  weights << 2, -1.5, -2.5, 1, 1.5, -2, 1, 1;
  const Layered rbm = Layered::rbm(sign * weights, Eigen::VectorXd::Constant(4, 0.5 * sign),
                                   Eigen::VectorXd::Constant(2, -sign));
  return std::make_shared<const TemperedModel>(rbm, Base::uniform(rbm));
}

// log Z_b with p1 normalised: tempered() leaves (1 - b) times p1's normaliser out.
Eigen::VectorXd rung_log_z(const TemperedModel& target, const Ladder& ladder) {
  Eigen::VectorXd log_z(kTrackedRungs);
  for (int k = 0; k < kTrackedRungs; ++k)
    log_z[k] = exact_log_z(tempered(target.model, target.base, ladder[k])).log_z -
               (1 - ladder[k]) * target.packed.log_base();
  return log_z;
}

}  // namespace

TEST_CASE("tracked tempering visits the rungs of a model that it moved to by their prior") {
  const Ladder ladder = Ladder::linear(kTrackedRungs);
  const Eigen::VectorXd log_prior = Eigen::VectorXd::LinSpaced(kTrackedRungs, 0, 1.5);
  const double expected = std::exp(1.5) / log_prior.array().exp().sum();
  const auto end = model(-1);
  const Decision decision = decide_mean(kTop, expected, 0, 1, [&](std::size_t n, StreamKey key) {
    TrackedTempering tracked(model(1),
                             {.chains = static_cast<int>(n),
                              .sweeps = 200,
                              .ladder = ladder,
                              .log_prior = log_prior,
                              .alpha = 0,
                              .key = key},
                             rung_log_z(*end, ladder), 20);
    tracked.advance(end);
    return std::vector<double>(tracked.weights().begin(), tracked.weights().end());
  });
  INFO(decision.summary);
  CHECK(decision.holds);
}
