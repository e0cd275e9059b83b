// What a caller gets wrong of a run's states, sums and draws is refused, and what is right beside it serves.
#include <fmt/format.h>

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/estimate/held/held.hpp"
#include "boltzmark/estimate/methods.hpp"
#include "boltzmark/estimate/places/chosen_base.hpp"
#include "boltzmark/exact/exact_sampler.hpp"
#include "boltzmark/exact/log_z.hpp"
#include "boltzmark/learn/ascent/optimiser.hpp"
#include "boltzmark/learn/cases/case_source.hpp"
#include "boltzmark/learn/classes/discriminative.hpp"
#include "boltzmark/learn/initial.hpp"
#include "boltzmark/learn/phases/negative.hpp"
#include "boltzmark/sample/annealing/annealing.hpp"
#include "boltzmark/sample/chains/adaptive_chains.hpp"
#include "boltzmark/sample/chains/contrastive_divergence.hpp"
#include "boltzmark/sample/chains/persistent_chains.hpp"
#include "boltzmark/sample/tempering/parallel_tempering.hpp"
#include "boltzmark/sample/tempering/tracked_tempering.hpp"
#include "boltzmark/target/continuous_target.hpp"
#include "boltzmark/target/layered_target.hpp"

using namespace boltzmark;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Layered run_rbm(int visible = 4, int hidden = 3) {
  return initial_rbm(visible, hidden, 1, make_key(5));
}

Chains random_chains(const Layered& model, int chains) {
  Chains states(model, chains);
  states.randomise(make_key(6));
  return states;
}

LowerBoundOptions visiting(const std::vector<Chains>& states,
                           const std::vector<double>& visits = {}) {
  LowerBoundOptions options;
  options.visited = states;
  options.visits = visits;
  return options;
}

LowerBoundOptions finding(const std::vector<Chains>& states) {
  LowerBoundOptions options;
  options.found = states;
  return options;
}

LowerBound certified(const Layered& model, const LowerBoundOptions& options) {
  return lower_bound(model, Base::uniform(model), options);
}

}  // namespace

TEST_CASE("what is no state of the model proves nothing of its log Z") {
  const Layered model = run_rbm(), other = run_rbm(7, 2);
  const double truth = exact_log_z(model).log_z;
  const std::vector<Chains> right = {random_chains(model, 40)};
  std::vector<std::vector<Chains>> wrong = {{random_chains(other, 40)}, right};
  // The hidden side is the smaller one, whose states are listed.
  for (int c = 0; c < 40; ++c) wrong[1][0].set(1, c % 3, c, 2.0F);
  for (const std::vector<Chains>& states : wrong) {
    CHECK_THROWS_WITH(certified(model, visiting(states)), "visited (must be states of the model)");
    CHECK_THROWS_WITH(certified(model, finding(states)), "found (must be states of the model)");
    CHECK_THROWS_WITH(SearchedStates(model, Base::uniform(model), finding(states)),
                      "found (must be states of the model)");
  }
  CHECK(certified(model, visiting(right)).lowest() <= truth);
  CHECK(certified(model, finding(right)).lowest() <= truth);
}

TEST_CASE("visits are one a chain that a run visited, or none") {
  const Layered model = run_rbm();
  const LayeredTarget target(model, Base::uniform(model));
  const std::vector<Chains> states = {random_chains(model, 20), random_chains(model, 20)};
  const std::vector<double> few(39, 1.0), right(40, 1.0), many(41, 1.0);
  Phases phases;
  phases.scales = Eigen::VectorXd::Ones(7);
  phases.centres = Eigen::MatrixXd::Zero(7, 1);
  phases.log_masses = Eigen::VectorXd::Zero(1);
  for (const auto* visits : {&few, &many}) {
    CHECK_THROWS_WITH(
        certified(model, visiting(states, *visits)),
        Catch::StartsWith("visits = ") && Catch::EndsWith("(must be 40, one a chain visited)"));
    CHECK_THROWS_WITH(meet_phases(phases, {.states = states, .visits = *visits}),
                      Catch::EndsWith("(must be 40, one a chain visited)"));
  }
  CHECK(certified(model, visiting(states, right)).visits == Approx(40));
  CHECK(meet_phases(phases, {.states = states, .visits = right}).visits == Approx(40));
  CHECK(meet_phases(phases, {.states = states}).visits == Approx(40));
  CHECK_THROWS_WITH(meet_phases(phases, {.states = {random_chains(run_rbm(5, 3), 20)}}),
                    Catch::Equals("values = 8 units (must be 7)"));
}

TEST_CASE("errors come from whole bundles of chains") {
  const Eigen::MatrixXd influences = Eigen::MatrixXd::Random(400, 4);
  for (const int bundle : {-1, 0, 3, 8}) {
    Estimate estimate;
    CHECK_THROWS_AS(set_error(estimate, influences, bundle), InvalidArgument);
  }
  for (const int bundle : {1, 2}) {
    Estimate estimate;
    set_error(estimate, influences, bundle);
    CHECK(estimate.std_error > 0);
  }
}

TEST_CASE("an estimate between two that are not numbers is refused") {
  const Estimate none{.log_z = kNan};
  CHECK(sandwich(none, none).status == Status::not_converged);
  CHECK(sandwich({.log_z = 1, .lower = 0.5, .upper = 1.5}, {.log_z = 1, .lower = 0.5, .upper = 1.5})
            .status == Status::ok);
}

TEST_CASE("the states that a run is to tell are of as many chains as it has") {
  const Layered model = run_rbm();
  const LayeredTarget target(model, Base::uniform(model));
  for (const char* method : {"rts", "ts", "ti", "bar", "wang-landau", "sams", "ti-continuous"}) {
    INFO(method);
    MethodSettings settings{.chains = 40, .sweeps = 60, .key = make_key(1)};
    TopStates few(target, 5, make_key(2)), right(target, 40, make_key(2)),
        none(target, 40, make_key(2));
    none.visits.clear();
    for (TopStates* top : {&few, &none}) {
      settings.top_states = top;
      CHECK_THROWS_WITH(estimate_log_z(method, target, settings),
                        Catch::StartsWith("top_states = ") && Catch::EndsWith("the run's)"));
    }
    settings.top_states = &right;
    CHECK(std::isfinite(estimate_log_z(method, target, settings).log_z));
  }
}

TEST_CASE("chains from cases are one a case, whatever a negative phase says of its chains") {
  const Layered model = run_rbm();
  Negative negative = Negative::cd(1);
  negative.chains = 10;
  const SamplerSetup setup{.model = model, .packing = {.chains = 64}, .key = make_key(7)};
  const std::unique_ptr<Sampler> sampler = make_sampler(negative, setup);
  CHECK(sampler->chains() == 64);
  const Chains cases = random_chains(model, 64);
  for (const int count : {30, 100}) {
    const Chains others = random_chains(model, count);
    CHECK_THROWS_WITH(sampler->start_at(others, {}, {}),
                      fmt::format("cases = {} (must be 64, one a chain)", count));
  }
  sampler->start_at(cases, {}, {});
}

TEST_CASE("cases that are not there, and chains that are too few, are not filled") {
  const Layered model = run_rbm();
  const CaseValues levels(Eigen::MatrixXf::Constant(4, 6, 0.5F));
  Chains chains(model, 3), narrow(run_rbm(3, 2), 3);
  GivenCases given(levels, Unit::continuous());
  DrawnCases drawn(levels, Unit::bernoulli(), make_key(3));
  const std::vector<int> right = {0, 5, 2}, beyond = {0, 6, 2}, below = {-1}, many = {0, 1, 2, 3};
  for (CaseSource* source : std::array<CaseSource*, 2>{&given, &drawn}) {
    CHECK_THROWS_WITH(source->fill(chains, beyond, 0), "case = 6 (must be one of 6)");
    CHECK_THROWS_WITH(source->fill(chains, below, 0), "case = -1 (must be one of 6)");
    CHECK_THROWS_WITH(source->fill(chains, many, 0),
                      "chains = 3 of 4 units (must be at least 4, of 4)");
    CHECK_THROWS_WITH(source->fill(narrow, right, 0),
                      "chains = 3 of 3 units (must be at least 3, of 4)");
  }
  drawn.fill(chains, right, 0);
  CHECK((chains.get_layer(0).array() * (1 - chains.get_layer(0).array())).abs().maxCoeff() == 0);

  const DiscriminativeRbm classifier =
      xavier_discriminative(Unit::bernoulli(), 4, 3, 2, make_key(4));
  const LabelledCases cases(CaseValues(Eigen::MatrixXf::Ones(4, 6)), {0, 1, 0, 1, 0, 1}, 2);
  Parameters gradient = classifier.parameters();
  CHECK_THROWS_WITH(class_gradient(classifier, cases, beyond, gradient),
                    "case = 6 (must be one of 6)");
  CHECK_THROWS_WITH(class_gradient(classifier, cases, below, gradient),
                    "case = -1 (must be one of 6)");
  CHECK(class_gradient(classifier, cases, right, gradient) < 0);
}

TEST_CASE("a sampler that is given no draws has those of its key") {
  const Layered model = run_rbm();
  const SamplerSetup plain{.model = model, .packing = {.chains = 4}, .key = make_key(8)};
  SamplerSetup given = plain;
  given.draws = std::make_shared<PhiloxDraws>(plain.key);
  const auto same = [&](auto&& make) {
    Chains first(model, 4), second(model, 4);
    auto a = make(plain), b = make(given);
    for (auto* sampler : {&a, &b}) (*sampler)->advance(6);
    a->copy_states(first);
    b->copy_states(second);
    for (int l = 0; l < 2; ++l) CHECK(first.get_layer(l) == second.get_layer(l));
  };
  const std::vector<float> ladder = {0.2F, 1.0F};
  same([&](const SamplerSetup& setup) { return std::make_unique<PersistentChains>(setup); });
  same([&](const SamplerSetup& setup) {
    return std::make_unique<PersistentLadders>(setup, ladder, 1);
  });
  same([&](const SamplerSetup& setup) {
    return std::make_unique<PersistentTransitions>(setup, ladder, 2);
  });
  same([&](const SamplerSetup& setup) {
    return std::make_unique<CoupledChains>(setup, AdaptiveOptions{.inverse_temperatures = ladder},
                                           CouplingOptions{.lag = 3});
  });
}

TEST_CASE("a tempered model that is none is refused by all that moves one") {
  const std::shared_ptr<const TemperedModel> none;
  const Layered model = run_rbm();
  const auto some =
      std::make_shared<const TemperedModel>(model, Base::uniform(model), Packing{}, 1);
  const TrackingOptions options{
      .chains = 16, .sweeps = 2, .ladder = Ladder::linear(3), .key = make_key(1)};
  CHECK_THROWS_WITH(TemperedChains(none, 0, 16), "model = null (must be a tempered model)");
  CHECK_THROWS_WITH(TrackedTempering(none, options, Eigen::VectorXd::Zero(3), 1),
                    "model = null (must be a tempered model)");
  TemperedChains chains(some, 0, 16);
  CHECK_THROWS_WITH(chains.set_model(none), "model = null (must be a tempered model)");
  chains.set_model(some);
  TrackedTempering tracked(some, options, Eigen::VectorXd::Zero(3), 1);
  CHECK_THROWS_WITH(tracked.advance(none), "model = null (must be a tempered model)");
  tracked.advance(some);
  for (const int sweeps : {0, -1}) {
    CHECK_THROWS_AS(tracked.advance(sweeps), InvalidArgument);
    CHECK_THROWS_AS(tracked.hold(sweeps), InvalidArgument);
  }
  tracked.advance(1);
  CHECK(tracked.log_z_hat().allFinite());
}

TEST_CASE("numbers that are none are refused where they come in") {
  const Layered large = Layered::rbm(Eigen::MatrixXd::Constant(3, 2, 1e308),
                                     Eigen::VectorXd::Zero(3), Eigen::VectorXd::Zero(2));
  CHECK_THROWS_WITH(ExactSampler(large), Catch::Contains("must be below 2^49 nats"));
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(3), ones = Eigen::VectorXd::Ones(3);
  CHECK_THROWS_WITH(log_z_from_occupancies(zero, zero, zero),
                    "occupancy = 0 (must be positive of a rung)");
  CHECK(log_z_from_occupancies(ones, zero, zero).isZero());
  CHECK_THROWS_WITH(sams_update(ones, zero, zero, kNan), "step = nan (must be finite)");
  const std::vector<double> steps = {-1, 0, 1}, shares = {0.9, 0.5, 0.1}, broken = {0.9, kNan, 0.1},
                            above = {2, 0.5, 0.1};
  CHECK_THROWS_AS(fit_acceptance(steps, broken), InvalidArgument);
  CHECK_THROWS_AS(fit_acceptance(steps, above), InvalidArgument);
  CHECK_THROWS_AS(fit_acceptance(broken, shares), InvalidArgument);
  CHECK(fit_acceptance(steps, shares).slope > 0);
  std::array<double, 2> law{};
  CHECK_THROWS_WITH(next_law(Rule::gibbs(), Unit::bernoulli(), kNan, 0, law),
                    "input = nan (must be a number)");
  CHECK_THROWS_WITH(sweeps_at_rung(1, 0, 5), "steps = 0 (must be at least 1)");
  std::vector<int> offspring(3);
  CHECK_THROWS_WITH(systematic_offspring(std::array{0.5, 0.5}, 0.5, offspring),
                    "offspring = 3 of 2 weights (must be one of each)");
  systematic_offspring(std::array{0.5, 0.25, 0.25}, 0.75, offspring);
  CHECK(offspring[0] + offspring[1] + offspring[2] == 3);
  CHECK_THROWS_WITH(spread_cases(CaseValues(Eigen::MatrixXf::Zero(3, 2)), -1),
                    "count = -1 (must be at least 0)");
  CHECK(spread_cases(CaseValues(Eigen::MatrixXf::Zero(3, 2)), 5).cols() == 2);
  CHECK(spectral_sharp(Eigen::MatrixXd(0, 3)).cols() == 3);

  CHECK_THROWS_AS(LadderSwaps({}, 1), InvalidArgument);
  CHECK_THROWS_AS(LadderSwaps({0.5, 1}, 0), InvalidArgument);
  LadderSwaps swaps({0.5, 1}, 2);
  const std::vector<double> few(3, 0.0), right(4, 0.0);
  const PhiloxDraws draws(make_key(9));
  CHECK_THROWS_WITH(swaps.swap(few, draws, 0), "log_ratios = 3 (must be 4, one a chain)");
  swaps.swap(right, draws, 0);

  AdaptiveWeights weights(3, 2, {}, WeightSharing::own);
  const std::vector<int> one = {1}, outside = {0, 3}, below = {-1, 0}, both = {0, 2};
  for (const auto* rungs : {&one, &outside, &below})
    CHECK_THROWS_AS(weights.update(*rungs), InvalidArgument);
  weights.update(both);
  CHECK(weights.log_g(0)[0] > 0);
}
