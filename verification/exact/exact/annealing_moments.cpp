// What propagating the whole measure tells of AIS.

#include "verification/checks/laws/annealing_moments.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "verification/checks/check_cases.hpp"

using namespace boltzmark;

namespace {

Layered model_of(std::uint64_t seed) {
  Stream stream(make_key(seed, "annealing moments"), Purpose::test);
  return draw_generic_model(stream, 3, 2);
}

}  // namespace

TEST_CASE("with two rungs the moments of AIS are those of importance sampling") {
  const Layered model = model_of(1);
  const AnnealingRung low(model, Base::uniform(model), 0), high(model, Base::uniform(model), 1);
  const Eigen::ArrayXd p = low.space.p(), log_w = high.log_marginal - low.log_marginal;
  const double mean_log = (p * log_w).sum();
  const AnnealingMoments m = exact_ais_moments(model, Base::uniform(model), Ladder::linear(2));
  CHECK(m.log_mean == Approx(std::log((p * log_w.exp()).sum())).epsilon(1e-12));
  CHECK(m.log_second_moment == Approx(std::log((p * (2 * log_w).exp()).sum())).epsilon(1e-12));
  CHECK(m.mean_log == Approx(mean_log).epsilon(1e-12));
  CHECK(m.variance_log == Approx((p * (log_w - mean_log).square()).sum()).epsilon(1e-12));
}

TEST_CASE("with two rungs every moment of a weight is that of importance sampling, either way") {
  const Layered model = model_of(1);
  const AnnealingRung low(model, Base::uniform(model), 0), high(model, Base::uniform(model), 1);
  const Eigen::ArrayXd log_w = high.log_marginal - low.log_marginal;
  const auto moment = [&](double power) {
    return exact_log_weight_moment(model, Base::uniform(model), Ladder::linear(2), power);
  };
  for (const double power : {-2.0, -1.0, 0.0, 1.0, 2.0, 4.0}) {
    const double up = std::log((low.space.p().array() * (power * log_w).exp()).sum());
    const double down = std::log((high.space.p().array() * (-power * log_w).exp()).sum());
    CHECK(moment(power) == Approx(up).epsilon(1e-12).margin(1e-12));
    CHECK(moment(1 - power) - high.log_z == Approx(down).epsilon(1e-12).margin(1e-12));
  }
}

TEST_CASE("the moments of a weight over many rungs are those that AIS states") {
  const Layered model = model_of(3);
  const Base base = Base::uniform(model);
  const Ladder ladder = Ladder::linear(6);
  const AnnealingMoments m = exact_ais_moments(model, base, ladder);
  CHECK(exact_log_weight_moment(model, base, ladder, 0) == Approx(0).margin(1e-12));
  CHECK(exact_log_weight_moment(model, base, ladder, 1) == Approx(m.log_z).epsilon(1e-12));
  CHECK(exact_log_weight_moment(model, base, ladder, 2) ==
        Approx(m.log_second_moment).epsilon(1e-12));
}

TEST_CASE("the variance of AIS's log weight falls like one over the rungs") {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const Layered model = model_of(seed);
    const auto variance = [&](int rungs) {
      return exact_ais_moments(model, Base::uniform(model), Ladder::linear(rungs)).variance_log;
    };
    const double slope = std::log2(variance(1025) / variance(513));
    CAPTURE(seed, slope);
    CHECK(std::abs(slope + 1) < 0.1);  // C14
  }
}

TEST_CASE("marginal weights are biased under a rule that keeps the latent units") {
  const Layered model = model_of(2);
  const Ladder ladder = Ladder::linear(4);
  const auto bias = [&](const Rule& rule) {
    const AnnealingMoments m = exact_ais_moments(model, Base::uniform(model), ladder, {rule});
    return std::abs(m.log_mean - m.log_z);
  };
  CHECK(bias(Rule::gibbs()) < 1e-12);
  CHECK(bias(Rule::flip()) > 1e-3);
}
