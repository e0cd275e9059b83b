#include "boltzmark/sample/tempering/tracked_tempering.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <memory>
#include <tuple>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/random/stream.hpp"
#include "boltzmark/transition/tempered_chains.hpp"

using namespace boltzmark;

namespace {

constexpr int kTrackedChains = 37;  // more than two blocks, not a whole number of them

std::shared_ptr<const TemperedModel> random_model(std::uint64_t index) {
  Stream stream(make_key(3, "tracked tempering"), Purpose::test, index);
  Eigen::MatrixXd weights(7, 5);
  for (double& w : weights.reshaped()) w = stream.uniform(-2, 2);
  const Layered model =
      Layered::rbm(weights, Eigen::VectorXd::Constant(7, 0.5), Eigen::VectorXd::Constant(5, -1));
  return std::make_shared<const TemperedModel>(model, Base::uniform(model));
}

TrackingOptions tracked_run() {
  const Ladder ladder = Ladder::linear(6);
  Eigen::VectorXd log_prior(6);
  for (int k = 0; k < 6; ++k) log_prior[k] = 2 * ladder[k];
  return {.chains = kTrackedChains,
          .sweeps = 3,
          .ladder = ladder,
          .log_prior = log_prior,
          .alpha = 0.3,
          .key = make_key(5)};
}

struct Densities {
  std::vector<double> joint = std::vector<double>(kTrackedChains);
  std::vector<double> marginal = std::vector<double>(kTrackedChains * 6);
  explicit Densities(TemperedChains& chains) {
    chains.log_ratio(joint);
    chains.log_densities(Ladder::linear(6).singles(), marginal);
  }
  friend bool operator==(const Densities&, const Densities&) = default;
};

}  // namespace

TEST_CASE("tempered chains that are given another model have its densities") {
  const auto first = random_model(0), second = random_model(1);
  TemperedChains moved(first, 0, kTrackedChains), fresh(second, 0, kTrackedChains);
  moved.sweep(std::vector<float>(kTrackedChains, 0.5F), PhiloxDraws(make_key(1)), 0);
  for (int l = 0; l < 2; ++l) fresh.set_layer(l, moved.states().get_layer(l));
  CHECK_FALSE(Densities(moved) == Densities(fresh));
  moved.set_model(second);
  CHECK(Densities(moved) == Densities(fresh));
}

TEST_CASE("tempered chains refuse a model of another shape") {
  const Layered other =
      Layered::rbm(Eigen::MatrixXd::Zero(7, 4), Eigen::VectorXd::Zero(7), Eigen::VectorXd::Zero(4));
  TemperedChains chains(random_model(0), 0, kTrackedChains);
  CHECK_THROWS_AS(chains.set_model(std::make_shared<TemperedModel>(other, Base::uniform(other))),
                  InvalidArgument);
}

TEST_CASE("an update moves log Zhat by alpha of the full estimate") {
  const TrackingOptions options = tracked_run();
  TrackedTempering tracked(random_model(0), options, Eigen::VectorXd::LinSpaced(6, 0, 3), 5);
  for (std::uint64_t update = 1; update <= 3; ++update) {
    const Eigen::VectorXd before = tracked.log_z_hat();
    tracked.advance(random_model(update));
    const Eigen::VectorXd& c = tracked.occupancy();
    CHECK(std::abs(c.sum() - 1) < 1e-14);
    double top = 0;
    for (const double weight : tracked.weights()) top += weight / kTrackedChains;
    CHECK(std::abs(c[5] - top) < 1e-15);
    for (int k = 0; k < 6; ++k) {
      // r_k = exp(2 b_k), b_k = k / 5.
      const double full = before[k] - 2.0 * k / 5 + std::log(c[k] / c[0]);
      CHECK(std::abs(tracked.log_z_hat()[k] - (0.7 * before[k] + 0.3 * full)) < 1e-6);
      if (k == 5) CHECK(std::abs(tracked.log_z_full() - full) < 1e-6);
    }
  }
}

TEST_CASE("without partial updates log Zhat stays") {
  TrackingOptions options = tracked_run();
  options.alpha = 0;
  const Eigen::VectorXd start = Eigen::VectorXd::LinSpaced(6, 0, 3);
  TrackedTempering tracked(random_model(0), options, start, 5);
  tracked.advance(random_model(0));
  CHECK(tracked.log_z_hat() == start);
}

TEST_CASE("tracked tempering has the same bytes whatever the number of threads") {
  const auto run = [](int threads) {
    const ThreadLimit limit(threads);
    TrackedTempering tracked(random_model(0), tracked_run(), Eigen::VectorXd::Zero(6), 5);
    for (std::uint64_t update = 0; update < 3; ++update) tracked.advance(random_model(update));
    Chains states(random_model(0)->model, kTrackedChains);
    tracked.copy_states(states);
    const std::vector<double> weights(tracked.weights().begin(), tracked.weights().end());
    return std::make_tuple(tracked.log_z_hat(), weights, states.get_layer(0), states.get_layer(1));
  };
  CHECK(run(1) == run(2));
}

TEST_CASE("tracked tempering refuses settings outside their range") {
  const auto model = random_model(0);
  const Eigen::VectorXd zeros = Eigen::VectorXd::Zero(6);
  TrackingOptions bad = tracked_run();
  bad.alpha = 1.5;
  CHECK_THROWS_AS(TrackedTempering(model, bad, zeros, 5), InvalidArgument);
  bad = tracked_run();
  bad.log_prior = Eigen::VectorXd::Zero(5);
  CHECK_THROWS_AS(TrackedTempering(model, bad, zeros, 5), InvalidArgument);
  CHECK_THROWS_AS(TrackedTempering(model, tracked_run(), Eigen::VectorXd::Zero(5), 5),
                  InvalidArgument);
  CHECK_THROWS_AS(TrackedTempering(model, tracked_run(), zeros, 0), InvalidArgument);
}

TEST_CASE("chains that are held move by the model that they were given last") {
  const auto first = random_model(0), second = random_model(1);
  TrackedTempering kept(first, tracked_run(), Eigen::VectorXd::Zero(6), 5),
      changed(first, tracked_run(), Eigen::VectorXd::Zero(6), 5);
  changed.set_model(second->model);
  const TrackedPlace start = kept.place();
  CHECK(changed.place().states == start.states);
  kept.hold(1);
  changed.hold(1);
  CHECK(changed.place().states != kept.place().states);
}

TEST_CASE("a rung that is as good as never met moves its Zhat by a finite step") {
  // log q of the top rung is -2000: an occupancy of 0 in double precision, raised to 1e-300.
  const Layered model =
      Layered::rbm(Eigen::MatrixXd::Zero(2, 1), Eigen::VectorXd::Zero(2), Eigen::VectorXd::Zero(1));
  const auto tempered = std::make_shared<const TemperedModel>(model, Base::uniform(model));
  TrackingOptions options{.chains = 4, .sweeps = 1, .ladder = Ladder({0, 1}), .alpha = 0.2};
  options.key = make_key(1);
  TrackedTempering tracked(tempered, options, Eigen::Vector2d(0, 2000), 1);
  tracked.advance(1);
  CHECK(tracked.log_z() == Approx(2000 + 0.2 * std::log(1e-300)).epsilon(1e-9));
}

TEST_CASE("tracked tempering refuses places beyond its ladder and states of other layers") {
  const auto model = random_model(0);
  TrackedTempering tracked(model, tracked_run(), Eigen::VectorXd::Zero(6), 5);
  TrackedPlace place = tracked.place();
  place.rungs[0] = 5;
  CHECK_NOTHROW(TrackedTempering(model, tracked_run(), place));
  for (const int rung : {6, -1}) {
    place.rungs[0] = rung;
    CHECK_THROWS_AS(TrackedTempering(model, tracked_run(), place), InvalidArgument);
  }
  TrackingOptions bad = tracked_run();
  bad.alpha = -0.1;
  CHECK_THROWS_AS(TrackedTempering(model, bad, Eigen::VectorXd::Zero(6), 5), InvalidArgument);
  const Layered wider =
      Layered::rbm(Eigen::MatrixXd::Zero(9, 5), Eigen::VectorXd::Zero(9), Eigen::VectorXd::Zero(5));
  Chains other(wider, kTrackedChains), fewer(model->model, kTrackedChains - 1);
  CHECK_THROWS_AS(tracked.copy_states(other), InvalidArgument);
  CHECK_THROWS_AS(tracked.copy_states(fewer), InvalidArgument);
}
