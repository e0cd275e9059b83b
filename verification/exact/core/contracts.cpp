// What a caller of the library gets wrong is refused: no write past a buffer, no number of another question.
#include <fmt/format.h>

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/estimate/estimators/rts.hpp"
#include "boltzmark/estimate/held/case_likelihood.hpp"
#include "boltzmark/estimate/held/held_estimate.hpp"
#include "boltzmark/estimate/methods.hpp"
#include "boltzmark/exact/exact_sampler.hpp"
#include "boltzmark/exact/likelihood/likelihood.hpp"
#include "boltzmark/learn/ascent/ascent.hpp"
#include "boltzmark/learn/initial.hpp"
#include "boltzmark/learn/phases/mean_field.hpp"
#include "boltzmark/learn/pretraining.hpp"
#include "boltzmark/learn/trainer.hpp"
#include "boltzmark/random/draws.hpp"
#include "boltzmark/sample/chains/sampler.hpp"
#include "boltzmark/target/continuous.hpp"
#include "boltzmark/target/continuous_target.hpp"
#include "boltzmark/target/layered_target.hpp"
#include "verification/checks/known/gaussian_mixture.hpp"
#include "verification/exact/support/noting_target.hpp"

using namespace boltzmark;

namespace {

Layered contract_rbm(int visible = 6, int hidden = 4) {
  return initial_rbm(visible, hidden, 1, make_key(1));
}

constexpr double kOutOfAnyRange = std::numeric_limits<double>::quiet_NaN();

/// Gives other populations than it is asked for.
class MiscountingTarget final : public Target {
 public:
  explicit MiscountingTarget(int more) : more_(more) {}
  std::unique_ptr<Population> populate(int, int chains, StreamKey) const override {
    if (more_ < 0) return nullptr;
    return std::make_unique<Noting>(chains + more_, moves_, draws_);
  }

 private:
  int more_;
  mutable std::vector<std::vector<float>> moves_;
  mutable int draws_ = 0;
};

}  // namespace

TEST_CASE("rules that no factory makes are refused, and equal ones have equal names") {
  const Layered model = contract_rbm();
  for (const Rule& bad :
       {Rule{Rule::Kind::blend, 7.0}, Rule{Rule::Kind::blend, -0.5}, Rule{Rule::Kind::own}}) {
    CHECK_THROWS_AS(LayeredTarget(model, Base::uniform(model), bad), InvalidArgument);
    std::array<double, 2> law{};
    CHECK_THROWS_AS(next_law(bad, Unit::bernoulli(), 1, 0, law), InvalidArgument);
  }
  CHECK(Rule{Rule::Kind::own}.name() == "none");
  CHECK(Rule{Rule::Kind::flip} == Rule::flip());
  CHECK_FALSE(Rule::blended(0.5) == Rule::blended(0.25));
  CHECK_FALSE(Rule::blended(1) == Rule::flip());
}

TEST_CASE("buffers of another size, chains and layers that are none are refused") {
  const Layered model = contract_rbm();
  const LayeredTarget target(model, Base::uniform(model));
  const auto population = target.chains(0, 20, make_key(1));
  population->draw_base();
  std::vector<double> few(19), many(21);
  for (std::vector<double>* out : {&few, &many}) {
    CHECK_THROWS_AS(population->log_ratio(*out), InvalidArgument);
    CHECK_THROWS_AS(population->log_increment(0, 1, *out), InvalidArgument);
    CHECK_THROWS_AS(population->log_densities(Ladder::linear(1 + 1), *out), InvalidArgument);
  }
  const Layered other = contract_rbm(7);
  const auto stranger = LayeredTarget(other, Base::uniform(other)).chains(0, 20, make_key(1));
  CHECK_THROWS_AS(population->copy_chain(0, *stranger, 0), InvalidArgument);
  const auto same = target.chains(0, 20, make_key(2));
  for (const int none : {-1, 20}) {
    CHECK_THROWS_AS(population->copy_chain(none, *same, 0), InvalidArgument);
    CHECK_THROWS_AS(population->copy_chain(0, *same, none), InvalidArgument);
  }
  Chains chains(model, 20);
  for (const int none : {-1, 20}) {
    CHECK_THROWS_AS(chains.get_chain(none), InvalidArgument);
    CHECK_THROWS_AS(chains.exchange(0, none), InvalidArgument);
    CHECK_THROWS_AS(chains.copy_chain(0, chains, none), InvalidArgument);
    CHECK_THROWS_AS(chains.get_layer(none), InvalidArgument);
    CHECK_THROWS_AS(chains.set_layer(none, Eigen::MatrixXf::Zero(6, 20)), InvalidArgument);
  }
  CHECK_THROWS_AS(chains.copy_chain(0, Chains(other, 20), 0), InvalidArgument);
  const Layered spins = initial_rbm(6, 4, 1, make_key(1), {.visible = Unit::multivalued(4)});
  CHECK_THROWS_AS(chains.copy_chain(0, Chains(spins, 20), 0), InvalidArgument);
  // A continuous density's chains likewise.
  const ContinuousTarget mixture(std::make_shared<GaussianMixture>(), std::make_shared<Hmc>(),
                                 StepSizes::fixed(1));
  const auto points = mixture.populate(0, 20, make_key(1));
  points->draw_base();
  for (std::vector<double>* out : {&few, &many}) {
    CHECK_THROWS_AS(points->log_ratio(*out), InvalidArgument);
    CHECK_THROWS_AS(points->log_increment(0, 1, *out), InvalidArgument);
    CHECK_THROWS_AS(points->log_densities(Ladder::linear(2), *out), InvalidArgument);
  }
  for (const int none : {-1, 20}) {
    CHECK_THROWS_AS(points->copy_chain(none, *points, 0), InvalidArgument);
    CHECK_THROWS_AS(points->copy_chain(0, *points, none), InvalidArgument);
  }
  for (const int parity : {-1, 2})
    CHECK_THROWS_AS(half_sweep(PackedModel(model, {.chains = 20}), chains, PhiloxDraws(make_key(1)),
                               {}, parity),
                    InvalidArgument);
  for (const int parity : {-1, 2}) {
    SideInputs inputs{.parity = parity};
    CHECK_THROWS_AS(fill_inputs(PackedModel(model, {.chains = 20}), chains, inputs),
                    InvalidArgument);
  }
  const Layered deep = initial_network(std::vector{4, 3, 2}, 1, make_key(1));
  Chains cases(deep, 5);
  CHECK_THROWS_AS(MeanField(deep).update_side(cases, 2), InvalidArgument);
  Stream stream(make_key(1), Purpose::test);
  Eigen::VectorXf visible(6), hidden(3);
  CHECK_THROWS_AS(ExactSampler(model).draw(stream, visible, hidden), InvalidArgument);
  const CaseValues values(Eigen::MatrixXf::Zero(6, 4));
  CHECK_THROWS_AS(values.col(4), InvalidArgument);
  CHECK_THROWS_AS(values.col(-1), InvalidArgument);
  CHECK_THROWS_AS(values.leftCols(5), InvalidArgument);
  CHECK_THROWS_AS(values.select(std::vector{0, 4}), InvalidArgument);
  CHECK(values.leftCols(0).cols() == 0);
}

TEST_CASE("a target that gives other chains than it is asked for is refused by every method") {
  for (const Method& method : registered_methods())
    for (const int more : {-1, 1}) {
      INFO(method.name << " " << more);
      CHECK_THROWS_AS(estimate_log_z(method.name, MiscountingTarget(more),
                                     {.chains = 20, .sweeps = 40, .ladder = Ladder::linear(3)}),
                      InvalidArgument);
    }
}

TEST_CASE("values outside a unit's range have no likelihood, bound or hidden law") {
  const Layered model = contract_rbm(),
                deep = initial_network(std::vector{6, 4, 3}, 1, make_key(1));
  for (const double bad : {17.0, -1.0, kOutOfAnyRange}) {
    Eigen::VectorXd v = Eigen::VectorXd::Zero(6);
    v[2] = bad;
    CHECK_THROWS_AS(log_unnormalised(model, v), InvalidArgument);
    CHECK_THROWS_AS(hidden_layers_given(deep, v), InvalidArgument);
    CHECK_THROWS_AS(variational_bounds(deep, v.cast<float>(), {}), InvalidArgument);
  }
}

TEST_CASE("a Gaussian layer's bias is a mean, to which what is below it is not added") {
  const auto given = [](Unit first) {
    std::vector<Layer> layers = {{Unit::bernoulli(), Eigen::VectorXd::Zero(2), {}},
                                 {first, Eigen::VectorXd::Zero(1), {}},
                                 {Unit::bernoulli(), Eigen::VectorXd::Zero(1), {}}};
    if (first.has_scale()) layers[1].sigma0 = Eigen::VectorXd::Constant(1, 2);
    const Layered model(layers, {Eigen::MatrixXd::Ones(2, 1), Eigen::MatrixXd::Zero(1, 1)});
    return hidden_layers_given(model, Eigen::Vector2d(1, 0));
  };
  CHECK(given(Unit::bernoulli()).bias(0)[0] == 1);
  CHECK_THROWS_WITH(given(Unit::gaussian()), Catch::Contains("no Gaussian layer"));
}

TEST_CASE("settings out of range are refused by every method, by the numbers that were given") {
  const Layered model = contract_rbm();
  const LayeredTarget target(model, Base::uniform(model));
  for (const Method& method : registered_methods()) {
    INFO(method.name);
    for (const MethodSettings& bad :
         {MethodSettings{.chains = 0, .sweeps = 50}, MethodSettings{.sweeps = 0},
          MethodSettings{.sweeps = -5}, MethodSettings{.sweeps = 50, .bundles = -2}}) {
      try {
        estimate_log_z(method.name, target, bad);
        FAIL("no error");
      } catch (const InvalidArgument& error) {
        CHECK_THAT(error.what(),
                   Catch::StartsWith(fmt::format("chains, sweeps, bundles = {}, {}, {}", bad.chains,
                                                 bad.sweeps, bad.bundles)));
      }
    }
    if (!method.reads.log_prior) continue;
    MethodSettings prior{.chains = 20, .sweeps = 50, .ladder = Ladder::linear(3)};
    prior.log_prior = Eigen::Vector3d(0, kOutOfAnyRange, 0);
    CHECK_THROWS_AS(estimate_log_z(method.name, target, prior), InvalidArgument);
    for (const int values : {4, 2}) {
      prior.log_prior = Eigen::VectorXd::Zero(values);
      CHECK_THROWS_AS(estimate_log_z(method.name, target, prior), InvalidArgument);
    }
  }
  CHECK_THROWS_AS(estimate_held("none", model, 1), InvalidArgument);
  CHECK_THROWS_AS(estimate_held("rts", model, 1, {.sweeps = -5}), InvalidArgument);
  static_assert(!std::is_constructible_v<MethodRuns, LayeredTarget&&, MethodSettings>);
}

TEST_CASE("stages of another number of groups than the first one's are refused") {
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(3);
  const auto stage = [&](int groups) {
    return RtsStage{{.weight = Eigen::MatrixXd::Ones(3, groups), .samples = 3.0 * groups}, zero};
  };
  const Eigen::VectorXd uniform = Eigen::VectorXd::Constant(3, -std::log(3.0));
  CHECK_NOTHROW(rts_mixed({stage(4), stage(4)}, uniform));
  for (const int groups : {3, 5})
    CHECK_THROWS_AS(rts_mixed({stage(4), stage(groups)}, uniform), InvalidArgument);
}

TEST_CASE("a trainer refuses what is no sampler, cases or law of its model, as what it is") {
  const Layered model = contract_rbm();
  const CaseValues data(Eigen::MatrixXf::Identity(6, 6));
  const TrainOptions options{.negative = Negative::pcd(1), .batch = 3};
  CHECK_THROWS_AS(Trainer(model, std::shared_ptr<CaseSource>(), options, make_key(1)),
                  InvalidArgument);
  CHECK_THROWS_AS(Trainer(model, data, options, make_key(1), std::unique_ptr<Sampler>()),
                  InvalidArgument);
  CHECK_THROWS_AS(Pretraining({6, 4}, {}, nullptr, {.epochs = {1}}, make_key(1)), InvalidArgument);
  const auto sampler = [](const Layered& of) {
    return make_sampler(Negative::pcd(1), {.model = of,
                                           .packing = {.chains = 3},
                                           .key = make_key(1),
                                           .draws = std::make_shared<PhiloxDraws>(make_key(1))});
  };
  const Layered other = contract_rbm(6, 5);
  CHECK_THROWS_AS(Trainer(model, data, options, make_key(1), sampler(other)), InvalidArgument);
  for (const auto& change : std::vector<void (*)(Negative&)>{
           [](Negative& n) { n.sweeps = 0; }, [](Negative& n) { n.temperatures = 0; },
           [](Negative& n) { n.chains = -1; }, [](Negative& n) { n.every = 0; }}) {
    TrainOptions bad = options;
    change(bad.negative);
    CHECK_THROWS_AS(Trainer(model, data, bad, make_key(1)), InvalidArgument);
  }
  // A law that is none is no divergence: no lower rate mends it.
  TrainOptions own = options;
  own.rule = Rule::of("half", [](Unit, double, int, std::span<double> next) {
    for (double& p : next) p = 0.25;
  });
  Trainer trainer(model, data, own, make_key(1));
  CHECK_THROWS_AS(trainer.step(), InvalidArgument);
  // Parameters that no float holds are.
  TrainOptions fast = options;
  fast.learning_rate = 1e39;
  Trainer diverging(model, data, fast, make_key(1));
  CHECK_THROWS_AS(diverging.advance(3), Diverged);
}

TEST_CASE("layers that draws could not tell apart are refused") {
  const auto deep = [](int layers) {
    return Layered(std::vector(static_cast<std::size_t>(layers),
                               Layer{Unit::bernoulli(), Eigen::VectorXd::Zero(1), {}}),
                   std::vector(static_cast<std::size_t>(layers - 1),
                               Eigen::MatrixXd(Eigen::MatrixXd::Zero(1, 1))));
  };
  CHECK(deep(64).layers() == 64);
  CHECK_THROWS_WITH(deep(65), "layers = 65 (must be at most 64)");
}

TEST_CASE(
    "a run that is halved is refused where it has but one sweep, by the number that was given") {
  const Layered model = contract_rbm();
  const LayeredTarget target(model, Base::uniform(model));
  for (const char* method : {"raise", "ti-continuous"})
    CHECK_THROWS_WITH(
        estimate_log_z(method, target, {.chains = 4, .sweeps = 1, .ladder = Ladder::linear(3)}),
        Catch::Contains("sweeps = 1 (must be at least 2"));
}
