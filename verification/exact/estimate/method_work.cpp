// The moves that methods make and book, and the states that they read.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cmath>
#include <mutex>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/estimate/methods.hpp"
#include "boltzmark/exact/log_z.hpp"
#include "boltzmark/random/stream.hpp"
#include "boltzmark/sample/tempering/adaptive_tempering.hpp"
#include "boltzmark/target/layered_target.hpp"

using namespace boltzmark;

namespace {

Layered small_model(double scale = 1) {
  Stream stream(make_key(8), Purpose::test);
  Eigen::MatrixXd weights(6, 4);
  for (double& w : weights.reshaped()) w = stream.uniform(-scale, scale);
  return Layered::rbm(weights, Eigen::VectorXd::Constant(6, 0.5),
                      Eigen::VectorXd::Constant(4, -0.5));
}

/// Chains of another population, whose moves are counted.
class Counted final : public Population {
 public:
  Counted(std::unique_ptr<Population> chains, std::atomic<std::int64_t>& moves)
      : chains_(std::move(chains)), moves_(&moves) {}
  int chains() const override { return chains_->chains(); }
  void draw_base() override { chains_->draw_base(); }
  void move(std::span<const float> b) override {
    *moves_ += chains();
    chains_->move(b);
  }
  void log_ratio(std::span<double> out) override { chains_->log_ratio(out); }
  void log_densities(const Ladder& ladder, std::span<double> out) override {
    chains_->log_densities(ladder, out);
  }
  void log_increment(float from, float to, std::span<double> out) override {
    chains_->log_increment(from, to, out);
  }
  void copy_chain(int chain, const Population& from, int source) override {
    chains_->copy_chain(chain, *dynamic_cast<const Counted&>(from).chains_, source);
  }

 private:
  std::unique_ptr<Population> chains_;
  std::atomic<std::int64_t>* moves_;
};

class CountingTarget final : public Target {
 public:
  explicit CountingTarget(const Layered& model) : target_(model, Base::uniform(model)) {}
  std::unique_ptr<Population> populate(int first, int chains, StreamKey key) const override {
    return std::make_unique<Counted>(target_.populate(first, chains, key), moves_);
  }
  std::int64_t moves() const { return moves_; }

 private:
  LayeredTarget target_;
  mutable std::atomic<std::int64_t> moves_ = 0;
};

}  // namespace

TEST_CASE("every method makes the moves that it books") {
  const Layered model = small_model();
  for (const Method& method : registered_methods())
    for (const int chains : {3, 7, 40})
      for (const int rungs : {0, 2, 5, 9}) {
        MethodSettings settings{
            .chains = chains, .sweeps = 101, .annealed_start = chains == 7, .key = make_key(1)};
        if (rungs > 0) settings.ladder = Ladder::linear(rungs);
        const CountingTarget target(model);
        estimate_log_z(method.name, target, settings);
        INFO(method.name << ", " << chains << " chains, " << rungs << " rungs");
        CHECK(static_cast<double>(target.moves()) == method_work(method.name, settings).moves);
      }
}

TEST_CASE("stepping stones make as many moves as other methods, up to one sweep of their ladders") {
  for (const int chains : {4, 20, 99, 150, 1000})
    for (const int sweeps : {100, 777}) {
      const MethodSettings settings{.chains = chains, .sweeps = sweeps};
      const MethodWork work = method_work("ss", settings);
      const double budget = double{1} * chains * sweeps;
      CHECK(work.chains % 100 == 0);
      CHECK(work.moves == double{1} * work.chains * work.sweeps);
      CHECK(work.moves <= budget);
      CHECK(work.moves > budget - work.chains);
    }
  CHECK_THROWS_AS(method_work("ss", {.chains = 2, .sweeps = 50}), InvalidArgument);
}

TEST_CASE("RAISE without cases reports the ladder that it anneals on") {
  CHECK(method_work("raise", {.sweeps = 1000}).temperatures == 501);
  CHECK(method_work("raise", {.sweeps = 1001}).temperatures == 502);
  CHECK(method_work("raise", {.sweeps = 1000, .ladder = Ladder::linear(7)}).temperatures == 7);
  CHECK(method_work("raise", {.sweeps = 1000, .cases = Eigen::MatrixXf::Zero(6, 1)}).temperatures ==
        1001);
}

TEST_CASE("RAISE without cases warns that it is no bound, and needs chains that were at b = 1") {
  const Layered model = small_model(0.5);
  const LayeredTarget target(model, Base::uniform(model));
  const auto run = [&](int sweeps, int strength) {
    MethodSettings settings{
        .chains = 120, .sweeps = sweeps, .ladder = Ladder::linear(5), .key = make_key(2)};
    settings.log_prior = Eigen::VectorXd::LinSpaced(5, 0, strength);
    return estimate_log_z("raise", target, settings);
  };
  const Estimate trusted = run(2000, 0);
  CHECK(trusted.status == Status::ok);
  REQUIRE(trusted.warnings.size() == 1);
  CHECK(trusted.warnings[0].find("no bound") != std::string::npos);
  // A prior of e^-60 at b = 1 keeps the chains away from it.
  const Estimate none = run(100, -60);
  CHECK(none.status == Status::not_converged);
  CHECK(std::isnan(none.log_z));
}

TEST_CASE("RAISE's own tempered run draws rungs by the states that are asked for") {
  const Layered model = small_model(2);
  const LayeredTarget target(model, Base::uniform(model));
  const auto visits = [&](States states) {
    TopStates raised(target, 40, make_key(4)), tempered(target, 40, make_key(4));
    estimate_log_z("raise", target,
                   {.chains = 40,
                    .sweeps = 200,
                    .ladder = Ladder::linear(5),
                    .states = states,
                    .key = make_key(4),
                    .top_states = &raised});
    simulated_tempering(target, {.chains = 40,
                                 .sweeps = 100,
                                 .ladder = Ladder::linear(5),
                                 .states = states,
                                 .top_states = &tempered,
                                 .key = make_key(4)});
    CHECK(raised.visits == tempered.visits);
    return tempered.visits;
  };
  CHECK(visits(States::joint) != visits(States::collapsed));
}

TEST_CASE("RAISE gives its cases to chains in turn, however many threads group them") {
  const Layered model = small_model();
  const LayeredTarget target(model, Base::uniform(model));
  Eigen::MatrixXf cases(6, 33);  // the binary digits of 1 to 33: no two alike
  for (int c = 0; c < 33; ++c)
    for (int i = 0; i < 6; ++i) cases(i, c) = static_cast<float>((c + 1) >> i & 1);
  const auto run = [&](int threads) {
    const ThreadLimit limit(threads);
    return estimate_log_z("raise", target,
                          {.chains = 64, .sweeps = 10, .key = make_key(3), .cases = cases});
  };
  CHECK(run(1).log_z == run(2).log_z);
  CHECK(run(1).std_error == run(2).std_error);
}

TEST_CASE("RAISE's error is that of its cases, however many chains begin in each") {
  // Each unit copies its partner, with odds of about e^50: a case has one weight, whatever is drawn, and
  // further chains from it tell nothing new.
  const Layered model =
      Layered::rbm(100 * Eigen::MatrixXd::Identity(6, 6),
                   Eigen::VectorXd::Constant(6, -50) + Eigen::VectorXd::LinSpaced(6, -1, 1),
                   Eigen::VectorXd::Constant(6, -50));
  const LayeredTarget target(model, Base::uniform(model));
  Eigen::MatrixXf cases(6, 10);
  for (int c = 0; c < 10; ++c)
    for (int i = 0; i < 6; ++i) cases(i, c) = static_cast<float>((7 * c + 3) >> i & 1);
  const auto run = [&](int chains) {
    return estimate_log_z("raise", target,
                          {.chains = chains,
                           .sweeps = 1,
                           .ladder = Ladder::linear(2),
                           .key = make_key(3),
                           .cases = cases});
  };
  const Estimate once = run(10), often = run(40), unevenly = run(11);
  CHECK(once.std_error > 0.1);
  for (const auto& [of, as] : {std::pair(often.log_z, once.log_z),
                               {often.std_error, once.std_error},
                               {often.lower, once.lower},
                               {often.upper, once.upper},
                               {often.effective_samples, once.effective_samples}})
    CHECK(of == Approx(as).epsilon(1e-6));
  // Two chains from the first case count it twice.
  CHECK(unevenly.log_z != Approx(once.log_z).epsilon(1e-6));
  CHECK(unevenly.std_error > 0.1);
  // Of cases that are all one, every weight is its.
  cases.colwise() = Eigen::VectorXf(cases.col(0));
  CHECK(run(11).log_z == Approx(run(10).log_z).epsilon(1e-6));
  cases.conservativeResize(6, 1);
  CHECK_THROWS_AS(run(10), InvalidArgument);
}

TEST_CASE("RAISE tells its cases as what it was at b = 1, each by the chains that began in it") {
  // Each unit copies its partner, with odds of e^50: a sweep leaves a case as it is.
  const Layered model =
      Layered::rbm(100 * Eigen::MatrixXd::Identity(6, 6), Eigen::VectorXd::Constant(6, -50),
                   Eigen::VectorXd::Constant(6, -50));
  const LayeredTarget target(model, Base::uniform(model));
  Eigen::MatrixXf cases = Eigen::MatrixXf::Zero(6, 3);
  cases.col(1).setOnes();
  cases(2, 2) = 1;
  TopStates top(target, 40, make_key(2));
  estimate_log_z("raise", target, {.chains = 40, .sweeps = 10, .cases = cases, .top_states = &top});
  std::vector<double> visits(40, 0);
  visits[0] = 14;
  visits[1] = visits[2] = 13;
  CHECK(top.visits == visits);
  const VisitedStates told = visited_states(top);
  int chain = 0;
  for (const Chains& states : told.states)
    for (int c = 0; c < states.chains(); ++c, ++chain)
      for (const int layer : {0, 1})
        for (int i = 0; i < 6; ++i) CHECK(states.get(layer, i, c) == cases(i, chain % 3));
  CHECK(chain == 40);
}

TEST_CASE("RAISE refuses cases of a deep model, whose other even layers nobody knows") {
  const Layered rbm = small_model();
  const Layered deep({rbm.layer(0), rbm.layer(1), rbm.layer(0)},
                     {rbm.weights(0), rbm.weights(0).transpose()});
  const LayeredTarget target(deep, Base::uniform(deep));
  const MethodSettings settings{.chains = 40, .sweeps = 40, .cases = Eigen::MatrixXf::Zero(6, 3)};
  CHECK_THROWS_AS(estimate_log_z("raise", target, settings), InvalidArgument);
  MethodSettings sampled = settings;
  sampled.cases = {};
  CHECK_NOTHROW(estimate_log_z("raise", target, sampled));
}

TEST_CASE("memory is foretold for the chains that a method moves, not for those it is asked for") {
  const Layered model = small_model();
  const auto bytes = [&](int bundles) {
    return method_bytes("bar",
                        {.chains = 100,
                         .sweeps = 4000,
                         .ladder = Ladder::linear(20),
                         .tempering = Tempering::parallel,
                         .bundles = bundles},
                        model);
  };
  // The same samples, of 100 chains and of 100,000: these have states, streams and places of their own.
  CHECK(bytes(5000) - bytes(5) > 300.0 * 20 * (5000 - 5));
}

TEST_CASE("memory is foretold for a state and an input of every unit of every chain") {
  const auto bytes = [](int visible, int hidden) {
    const Layered model =
        Layered::rbm(Eigen::MatrixXd::Zero(visible, hidden), Eigen::VectorXd::Zero(visible),
                     Eigen::VectorXd::Zero(hidden));
    return method_bytes("rts", {.chains = 15'000}, model);
  };
  CHECK(bytes(1000, 600) - bytes(10, 6) == 15'000.0 * (4 + 4) * (1600 - 16));
}

TEST_CASE("memory is foretold for the samples of the tempered half of RAISE without cases") {
  const Layered model = small_model();
  const auto bytes_of_a_million_sweeps = [&](const Eigen::MatrixXf& cases) {
    MethodSettings settings{.chains = 100, .sweeps = 1'000'000, .cases = cases};
    const double before = method_bytes("raise", settings, model);
    settings.sweeps *= 2;
    return method_bytes("raise", settings, model) - before;
  };
  // Of each chain in half of the sweeps a D of 8 bytes and a rung of 4; of cases the ladder alone.
  CHECK(bytes_of_a_million_sweeps({}) >= 100 * 500'000.0 * (8 + 4));
  CHECK(bytes_of_a_million_sweeps(Eigen::MatrixXf::Zero(6, 1)) < 1e8);
}

TEST_CASE("every method tells how far it is, and never less than before") {
  const Layered model = small_model();
  const LayeredTarget target(model, Base::uniform(model));
  for (const Method& method : registered_methods()) {
    if (method.source == Source::own) continue;
    INFO(method.name);
    std::mutex mutex;
    std::vector<double> told;
    const auto listen = [&](double done) {
      const std::lock_guard<std::mutex> lock(mutex);
      told.push_back(done);
    };
    estimate_log_z(method.name, target,
                   {.chains = 40, .sweeps = 200, .ladder = Ladder::linear(5), .progress = listen});
    REQUIRE_FALSE(told.empty());
    CHECK(std::is_sorted(told.begin(), told.end()));
    CHECK(told.front() >= 0);
    CHECK(told.back() == 1);
  }
}

TEST_CASE("a store is read by the states that are asked for") {
  const Layered model = small_model(2);
  const TemperedRun run =
      run_tempering(LayeredTarget(model, Base::uniform(model)), {.chains = 40,
                                                                 .sweeps = 200,
                                                                 .ladder = Ladder::linear(4),
                                                                 .keep_log_f = true,
                                                                 .key = make_key(3)});
  SampleStore store = run.store;
  for (const char* method : {"rts", "rsd"}) {
    const double joint = estimate_from(method, store, States::joint).log_z;
    const double collapsed = estimate_from(method, store, States::collapsed).log_z;
    CHECK(joint != collapsed);
    const bool reads_joint = std::string(method) == "rsd";
    CHECK(estimate_from(method, store).log_z == (reads_joint ? joint : collapsed));
    CHECK(estimate_from(method, run).log_z == (reads_joint ? joint : collapsed));
  }
  CHECK_THROWS_WITH(estimate_from("mbar", store, States::joint),
                    "method = mbar (must be rts or rsd to choose its states)");
  store.log_f.clear();
  CHECK_THROWS_AS(estimate_from("rts", store, States::collapsed), InvalidArgument);
  CHECK(std::isfinite(estimate_from("rts", store).log_z));
}

TEST_CASE("equal samples are all effective, whatever the method") {
  // Without weights D is one number.
  const Layered model =
      Layered::rbm(Eigen::MatrixXd::Zero(6, 4), Eigen::VectorXd::Zero(6), Eigen::VectorXd::Zero(4));
  const LayeredTarget target(model, Base::uniform(model));
  MethodRuns runs(target,
                  {.chains = 60, .sweeps = 1000, .ladder = Ladder::linear(5), .key = make_key(4)});
  for (const Method& method : registered_methods()) {
    const Estimate e = runs.estimate(method.name);
    INFO(method.name << " " << e.effective_samples << " +- " << e.std_error);
    CHECK(e.status == Status::ok);
    CHECK(e.effective_samples >= 50);
    // Visits differ still where rungs are counted, and adapted Zhat moves with them.
    if (method.name == "ts" || method.name == "sd" || method.source == Source::adaptive) continue;
    CHECK(std::abs(e.log_z - 10 * std::log(2)) < 1e-9);
  }
}

TEST_CASE("an adaptive run begins where a pass of SMC left it") {
  const Layered model = small_model(3);
  const double log_z = exact_log_z(model).log_z;
  for (const Adaptation adaptation : {Adaptation::wang_landau, Adaptation::sams}) {
    const auto first = [&](Start start) {
      return adaptive_tempering(LayeredTarget(model, Base::uniform(model)),
                                {.adaptation = adaptation,
                                 .chains = 128,
                                 .sweeps = 200,
                                 .ladder = Ladder::linear(10),
                                 .start = start,
                                 .key = make_key(5)})
          .top_log_z.row(0)
          .eval();
    };
    // 16 chains an island; log Z is some 25 nats away from where the base leaves Zhat.
    CHECK((first(Start::smc).array() - log_z).abs().maxCoeff() < 3);
    CHECK((first(Start::base).array() - log_z).abs().minCoeff() > 5);
  }
}
