#include "boltzmark/sample/tempering/simulated_tempering.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/estimate/methods.hpp"
#include "boltzmark/random/stream.hpp"
#include "boltzmark/sample/tempering/adaptive_tempering.hpp"
#include "boltzmark/target/layered_target.hpp"
#include "verification/exact/support/noting_target.hpp"

using namespace boltzmark;

namespace {

LayeredTarget small_target() {
  Stream stream(make_key(3, "small target"), Purpose::test);
  Eigen::MatrixXd weights(7, 5);
  for (double& w : weights.reshaped()) w = stream.uniform(-2, 2);
  const Layered model =
      Layered::rbm(weights, Eigen::VectorXd::Constant(7, 0.5), Eigen::VectorXd::Constant(5, -1));
  return {model, Base::uniform(model)};
}

/// Chains whose D is one number, wherever they are.
class LevelChains final : public Population {
 public:
  LevelChains(int chains, double log_ratio) : chains_(chains), log_ratio_(log_ratio) {}
  int chains() const override { return chains_; }
  void draw_base() override {}
  void move(std::span<const float>) override {}
  void log_ratio(std::span<double> out) override { std::fill(out.begin(), out.end(), log_ratio_); }
  void log_densities(const Ladder&, std::span<double>) override {}
  void log_increment(float, float, std::span<double>) override {}
  void copy_chain(int, const Population&, int) override {}

 private:
  int chains_;
  double log_ratio_;
};

/// Makes chains whose D is 0, or -1000 where they have a certain key.
class OneLowIsland final : public Target {
 public:
  explicit OneLowIsland(StreamKey low) : low_(low) {}
  std::unique_ptr<Population> populate(int, int chains, StreamKey key) const override {
    return std::make_unique<LevelChains>(chains, key == low_ ? -1000 : 0);
  }

 private:
  StreamKey low_;
};

SimulatedTemperingOptions small_run() {
  return {.chains = 37,
          .sweeps = 400,
          .ladder = Ladder::linear(6),
          .states = States::collapsed,
          .key = make_key(5)};
}

bool same(const TemperedRun& a, const TemperedRun& b) {
  return a.store.log_ratio == b.store.log_ratio && a.store.rung == b.store.rung &&
         a.store.log_z_hat == b.store.log_z_hat && a.sums.weight == b.sums.weight &&
         a.sums.end_squares == b.sums.end_squares && a.initial_sweeps == b.initial_sweeps;
}

}  // namespace

TEST_CASE("a tempered run has the same bytes whatever the number of threads") {
  const LayeredTarget target = small_target();
  for (const States states : {States::joint, States::collapsed}) {
    SimulatedTemperingOptions options = small_run();
    options.states = states;
    const auto run = [&](int threads) {
      const ThreadLimit limit(threads);
      return simulated_tempering(target, options);
    };
    CHECK(same(run(1), run(2)));
  }
}

TEST_CASE("an adaptive run has the same bytes whatever the number of threads") {
  const LayeredTarget target = small_target();
  for (const Adaptation adaptation : {Adaptation::wang_landau, Adaptation::sams}) {
    const auto run = [&](int threads) {
      const ThreadLimit limit(threads);
      return adaptive_tempering(target, {.adaptation = adaptation,
                                         .chains = 70,
                                         .sweeps = 100,
                                         .ladder = Ladder::linear(6),
                                         .key = make_key(5)});
    };
    CHECK(run(1).top_log_z == run(2).top_log_z);
  }
}

TEST_CASE("an adaptive run's limits are Student's of its islands") {
  // 97.5 % of t, of one degree of freedom fewer than islands.
  for (const auto& [chains, student] :
       {std::pair{30, 2.3646242515927844}, {70, 2.7764451051977987}}) {
    const auto run = adaptive_tempering(
        small_target(),
        {.chains = chains, .sweeps = 100, .ladder = Ladder::linear(6), .key = make_key(5)});
    const Eigen::Index islands = run.top_log_z.cols();
    const Eigen::ArrayXd means = run.top_log_z.bottomRows(50).colwise().mean();
    CHECK(islands == (chains == 30 ? 8 : 5));
    const Estimate& e = run.estimate;
    CHECK(e.log_z == Approx(means.mean()).epsilon(1e-12));
    const double count = static_cast<double>(islands);
    CHECK(e.std_error ==
          Approx(std::sqrt((means - means.mean()).square().sum() / (count - 1) / count)));
    CHECK(e.upper - e.log_z == Approx(student * e.std_error).epsilon(1e-9));
    CHECK(e.log_z - e.lower == Approx(student * e.std_error).epsilon(1e-9));
  }
}

TEST_CASE("a round that counts rungs has the squares of its ends' counts") {
  SimulatedTemperingOptions options = small_run();
  options.occupancies = Assignment::hard;
  const TemperedRun run = simulated_tempering(small_target(), options);
  REQUIRE_FALSE(run.rounds.empty());
  for (const InitialRound& round : run.rounds) {
    // An indicator is its own square, and no sample is on both ends.
    CHECK(round.sums.end_squares[0] == round.sums.weight.row(0).sum());
    CHECK(round.sums.end_squares[1] == round.sums.weight.row(5).sum());
    CHECK(round.sums.end_squares[2] == 0);
    CHECK(round.sums.end_squares[1] > 0);
  }
}

TEST_CASE("Wang and Landau's weights settle as 1/t of all chains of an island") {
  // Of D = 0 every visit of a rung adds a gain, which is K / (t chains) in the end or was so a little ago:
  // the least by which the top gains on the bottom is one of that.
  const ThreadLimit one(1);  // the target notes moves
  const NotingTarget target;
  constexpr int kRungs = 5, kIslandChains = 4;
  const auto run = adaptive_tempering(target, {.adaptation = Adaptation::wang_landau,
                                               .chains = 8 * kIslandChains,
                                               .sweeps = 1000,
                                               .ladder = Ladder::linear(kRungs),
                                               .log_z_hat = Eigen::VectorXd::Zero(kRungs),
                                               .key = make_key(5)});
  REQUIRE(run.top_log_z.cols() == 8);
  double least = 1000;
  for (Eigen::Index i = 0; i < 8; ++i)
    for (int t = 800; t < 1000; ++t) {
      const double gained = (run.top_log_z(t, i) - run.top_log_z(t - 1, i)) * (t + 1);
      if (std::abs(gained) > 1e-6)
        least = std::min(least, std::abs(gained) * kIslandChains / kRungs);
    }
  CHECK(least > 1 - 1e-6);
  CHECK(least < 1.3);
}

TEST_CASE(
    "an adaptive run's estimate is the mean of its second half, the middle sweep of an odd number in it") {
  const ThreadLimit one(1);  // the target notes moves
  const NotingTarget target;
  for (const int sweeps : {6, 7}) {
    const auto run = adaptive_tempering(target, {.adaptation = Adaptation::wang_landau,
                                                 .chains = 8,
                                                 .sweeps = sweeps,
                                                 .ladder = Ladder::linear(3),
                                                 .log_z_hat = Eigen::VectorXd::Zero(3),
                                                 .key = make_key(6)});
    REQUIRE(run.top_log_z.rows() == sweeps);
    REQUIRE(run.top_log_z.row(3).mean() != run.top_log_z.row(4).mean());
    CHECK(run.estimate.log_z == Approx(run.top_log_z.bottomRows(sweeps - 3).mean()).epsilon(1e-12));
  }
}

TEST_CASE("one island that has not visited its rungs evenly refuses an adaptive run") {
  // D is 0 on all islands but one, where b = 1 is e^1000 times less likely than b = 0: weights that
  // rise by one a visit, or by 32 and 17 nats in the two stages of SAMS, do not make up for that.
  AdaptiveTemperingOptions options{.chains = 32,
                                   .sweeps = 200,
                                   .ladder = Ladder::linear(5),
                                   .log_z_hat = Eigen::VectorXd::Zero(5),
                                   .key = make_key(5)};
  const auto run = [&](const char* island) {
    return adaptive_tempering(OneLowIsland(derive_key(options.key, "island", island)), options);
  };
  const auto is_uneven = [](const Estimate& estimate) {
    return std::any_of(
        estimate.warnings.begin(), estimate.warnings.end(),
        [](const std::string& said) { return said.find("evenly yet") != std::string::npos; });
  };
  for (const Adaptation adaptation : {Adaptation::wang_landau, Adaptation::sams}) {
    options.adaptation = adaptation;
    for (const char* island : {"0", "3", "7"}) {
      const AdaptiveTemperingRun one = run(island);
      REQUIRE(one.top_log_z.cols() == 8);
      CHECK(is_uneven(one.estimate));
      CHECK(one.estimate.status == Status::not_converged);
    }
    CHECK_FALSE(is_uneven(run("no such").estimate));
  }
}

TEST_CASE("the sums that a tempered run keeps are those of its store") {
  const LayeredTarget target = small_target();
  for (const int chains : {1, 37}) {
    SimulatedTemperingOptions options = small_run();
    options.chains = chains;
    options.keep_log_f = true;
    const TemperedRun collapsed = simulated_tempering(target, options);
    // The stored numbers are the ones that were summed, in the same order.
    const RungSums again = sum_collapsed(collapsed.store);
    CHECK(again.weight == collapsed.sums.weight);
    CHECK((again.end_squares - collapsed.sums.end_squares).norm() <
          1e-12 * again.end_squares.norm());
    options.keep_log_f = false;
    options.states = States::joint;
    const TemperedRun joint = simulated_tempering(target, options);
    const RungSums sums = sum_by_rung(joint.store, Assignment::soft);
    CHECK(sums.weight == joint.sums.weight);
    CHECK(sums.first == joint.sums.first);
    CHECK(sums.second == joint.sums.second);
  }
}

TEST_CASE("the memory stated for a method holds what its run keeps") {
  const LayeredTarget target = small_target();
  MethodSettings settings{
      .chains = 37, .sweeps = 400, .ladder = Ladder::linear(6), .key = make_key(5)};
  for (const bool keep : {false, true}) {
    settings.keep_log_f = keep;
    const SampleStore store = run_tempering(target, settings).store;
    const double kept = 8.0 * store.log_ratio.size() + 4.0 * store.rung.size() +
                        8.0 * static_cast<double>(store.log_f.size());
    const double stated = method_bytes("rts", settings, target.tempered_model().model);
    CHECK(stated > kept);
    // Half of the sweeps may be initial ones, and chains and rungs take a little.
    CHECK(stated < 5 * kept);
  }
}

TEST_CASE("a tempered run spends at most half of its sweeps before it keeps samples") {
  const LayeredTarget target = small_target();
  for (const int sweeps : {1, 2, 3, 7, 20, 399}) {
    SimulatedTemperingOptions options = small_run();
    options.sweeps = sweeps;
    options.stop_early = false;
    const TemperedRun run = simulated_tempering(target, options);
    CHECK(run.initial_sweeps <= sweeps / 2);
    CHECK(run.initial_sweeps + run.store.sweeps() == sweeps);
  }
}

TEST_CASE("a rung that is met too seldom keeps the rounds from ending, as one met too often does") {
  // Of D = 0 the rungs are met as often as e^-Zhat says: the last one e^-50 or e^50 times.
  const ThreadLimit one(1);  // the target notes moves
  for (const double log_z_hat : {50.0, -50.0}) {
    INFO(log_z_hat);
    const NotingTarget target;
    const TemperedRun run =
        simulated_tempering(target, {.chains = 9,
                                     .sweeps = 100,
                                     .ladder = Ladder({0, 0.5, 1}),
                                     .start = Start::base,
                                     .log_z_hat = Eigen::Vector3d(0, 0, log_z_hat),
                                     .round_sweeps = 10,
                                     .max_rounds = 3});
    REQUIRE(run.rounds.size() == 2);  // the second round's Zhat are right
    CHECK(run.rounds[0].imbalance > 40);
    CHECK(run.rounds[1].imbalance < 1e-6);
    CHECK(run.settled);
  }
}

TEST_CASE("the initial stage alone makes the rounds that a whole run begins with") {
  SimulatedTemperingOptions options = small_run();
  options.start = Start::base;
  options.round_sweeps = 10;
  options.max_rounds = 4;
  options.stop_early = false;
  const TemperedRun whole = simulated_tempering(small_target(), options);
  options.sweeps = 40;
  options.initial_only = true;
  const TemperedRun alone = simulated_tempering(small_target(), options);
  REQUIRE(alone.rounds.size() == 4);
  for (std::size_t r = 0; r < 4; ++r) CHECK(alone.rounds[r].occupancy == whole.rounds[r].occupancy);
  CHECK(alone.store.log_z_hat == whole.store.log_z_hat);
  CHECK(alone.initial_sweeps == 40);
  CHECK(alone.store.sweeps() == 0);
}

TEST_CASE("a sample's rung is the one whose kernel moved it") {
  SimulatedTemperingOptions options = small_run();
  options.sweeps = 2;
  options.start = Start::base;
  options.max_rounds = 0;
  // Any state goes to the top rung next; the first sweep is made on uniform rungs.
  options.log_prior = Eigen::VectorXd::LinSpaced(6, 0, 5000);
  const TemperedRun run = simulated_tempering(small_target(), options);
  CHECK((run.store.rung.row(0).array() < 5).any());
  CHECK((run.store.rung.row(1).array() == 5).all());
}

TEST_CASE("a round starts from the rungs that its restart asks for") {
  SimulatedTemperingOptions options = small_run();
  options.start = Start::base;
  options.occupancies = Assignment::hard;
  options.round_sweeps = 1;
  options.max_rounds = 2;
  options.stop_early = false;
  // The prior takes every chain to the top rung, where the second round finds it if rungs are kept.
  options.log_prior = Eigen::VectorXd::Zero(6);
  options.log_prior[5] = 600;
  for (const bool uniform : {false, true}) {
    options.restart = {.keep_states = true, .uniform_rungs = uniform};
    const TemperedRun run = simulated_tempering(small_target(), options);
    REQUIRE(run.rounds.size() == 2);
    CHECK((run.rounds[1].occupancy[5] > 0.9) == !uniform);
  }
}

TEST_CASE("a round starts from the states that its restart asks for") {
  // At b = 1 the states (0, 0) and (1, 1) are left once in 1e13 sweeps, and the prior holds every
  // chain there from the first sweep on: what that sweep found stays unless states are redrawn.
  const Layered frozen =
      Layered::rbm(Eigen::MatrixXd::Constant(1, 1, 60), Eigen::VectorXd::Constant(1, -30),
                   Eigen::VectorXd::Constant(1, -29));
  const LayeredTarget target(frozen, Base::uniform(frozen));
  SimulatedTemperingOptions options = small_run();
  options.states = States::joint;
  options.start = Start::base;
  options.log_prior = Eigen::VectorXd::LinSpaced(6, 0, 5000);
  options.round_sweeps = 1;
  options.stop_early = false;
  const auto last = [&](int rounds, bool keep) {
    options.max_rounds = rounds;
    options.restart = {.keep_states = keep, .uniform_rungs = false};
    const TemperedRun run = simulated_tempering(target, options);
    REQUIRE(run.rounds.size() == static_cast<std::size_t>(rounds));
    return Eigen::RowVectorXd(run.store.log_ratio.bottomRows<1>());
  };
  const Eigen::RowVectorXd first = last(0, true);
  CHECK(first.minCoeff() < first.maxCoeff());
  CHECK(last(2, true) == first);
  CHECK(last(2, false) != first);
}

TEST_CASE("a tempered run refuses settings that make no sense") {
  const LayeredTarget target = small_target();
  const auto refused = [&](auto change) {
    SimulatedTemperingOptions options = small_run();
    change(options);
    CHECK_THROWS_AS(simulated_tempering(target, options), InvalidArgument);
  };
  refused([](auto& o) { o.chains = 0; });
  refused([](auto& o) { o.sweeps = 0; });
  refused([](auto& o) { o.log_prior = Eigen::VectorXd::Zero(3); });
  refused([](auto& o) { o.log_z_hat = Eigen::VectorXd::Zero(7); });
  refused([](auto& o) { o.max_rounds = -1; });
  refused([](auto& o) { o.states = States::joint, o.keep_log_f = true; });
}

TEST_CASE(
    "chains that begin at b = 1 stay there for a round and keep the weights that they are given") {
  SimulatedTemperingOptions options{.chains = 9,
                                    .sweeps = 101,
                                    .ladder = Ladder({0, 0.5, 1}),
                                    .log_z_hat = Eigen::Vector3d(3, 4, 5),
                                    .key = make_key(5)};
  int starts = 0;
  options.top_start = counting_start(starts);
  const NotingTarget target;
  const TemperedRun run = simulated_tempering(target, options);
  CHECK(starts == 1);
  CHECK(target.draws == 0);
  CHECK(run.initial_sweeps == 50);
  CHECK(run.rounds.empty());
  CHECK(run.store.log_ratio.rows() == 51);
  CHECK(run.store.log_z_hat == Eigen::Vector3d(0, 1, 2));
  REQUIRE(target.moves.size() == 101);
  const std::vector<float> top(9, 1.0F);
  for (int s = 0; s < 5; ++s)
    CHECK(target.moves[s] == top);  // a round of four, and the first sweep
  for (int s = 5; s < 101; ++s) CHECK(target.moves[s] != top);
  options.log_z_hat = {};
  CHECK_THROWS_AS(simulated_tempering(target, options), InvalidArgument);
}

TEST_CASE("a prior is normalised, whatever constant it is given up to") {
  SimulatedTemperingOptions options = small_run();
  options.ladder = Ladder({0, 1});
  options.log_prior = Eigen::Vector2d(0, 3);
  const Eigen::VectorXd found = simulated_tempering(small_target(), options).store.log_prior;
  CHECK(found[0] == Approx(-3.048587351573742).epsilon(1e-12));
  CHECK(found[1] == Approx(-0.048587351573742).epsilon(1e-12));
}

TEST_CASE("a first guess of Zhat counts under the default start too, and must be numbers") {
  const LayeredTarget target = small_target();
  SimulatedTemperingOptions options = small_run();
  options.max_rounds = 0;
  const int rungs = options.ladder.rungs();
  options.log_z_hat = Eigen::VectorXd::LinSpaced(rungs, 7, 7 + 100.0 * (rungs - 1));
  const TemperedRun run = simulated_tempering(target, options);
  for (int k = 0; k < rungs; ++k) CHECK(run.store.log_z_hat[k] == Approx(100.0 * k));
  for (const double wrong : {static_cast<double>(NAN), static_cast<double>(INFINITY)}) {
    options.log_z_hat[rungs - 1] = wrong;
    CHECK_THROWS_AS(simulated_tempering(target, options), InvalidArgument);
  }
}
