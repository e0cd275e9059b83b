// A rule of one's own: a law written as a function has all that the rules with kernels have.
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <complex>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/estimate/methods.hpp"
#include "boltzmark/exact/log_z.hpp"
#include "boltzmark/exact/spectrum/operator.hpp"
#include "boltzmark/exact/spectrum/spectrum.hpp"
#include "boltzmark/learn/trainer.hpp"
#include "boltzmark/random/stream.hpp"
#include "boltzmark/sample/annealing/annealing.hpp"
#include "boltzmark/sample/tempering/parallel_tempering.hpp"
#include "boltzmark/target/layered_target.hpp"
#include "verification/checks/laws/decision_bound.hpp"
#include "verification/checks/laws/recovered_sweep.hpp"
#include "verification/checks/verifier.hpp"
#include "verification/exact/support/drawn_network.hpp"
#include "verification/exact/support/every_path.hpp"

using namespace boltzmark;
using Catch::Matchers::Contains;

namespace {

constexpr int kRuleChains = 40;
// Products, tables or tiles, tables made afresh, and rows.
constexpr Packing kRulePackings[] = {{},
                                     {.chains = kRuleChains, .sweeps = 1000},
                                     {.chains = kRuleChains, .sweeps = 1},
                                     {.chains = 1, .sweeps = 1000}};

/// Gibbs sampling as somebody else would write it.
Rule echo() {
  return Rule::of("echo", [](Unit unit, double input, int, std::span<double> next) {
    double sum = 0;
    const double top = std::abs(input);
    for (int k = 0; k < unit.values(); ++k) sum += next[k] = std::exp(input * unit.value(k) - top);
    for (double& p : next) p /= sum;
  });
}

/// Stays with probability 1/2, else is drawn by Gibbs sampling.
Rule lazy() {
  return Rule::of("lazy", [](Unit unit, double input, int now, std::span<double> next) {
    next_law(Rule::gibbs(), unit, input, now, next);
    for (double& p : next) p /= 2;
    next[now] += 0.5;
  });
}

/// Gibbs sampling of another model.
Rule wrong() {
  return Rule::of("wrong", [](Unit unit, double input, int now, std::span<double> next) {
    next_law(Rule::gibbs(), unit, 0.9 * input, now, next);
  });
}

/// Turns the values round, or stays: right where all are equally likely, and in no detailed
/// balance.
Rule turning() {
  return Rule::of("turning", [](Unit unit, double, int now, std::span<double> next) {
    next[now] = 0.5;
    next[(now + 1) % unit.values()] += 0.5;
  });
}

// Parameters that are multiples of 2^-8, so that every float32 input is exact; units by their
// codes.
Layered dyadic_model(const std::vector<int>& codes, const std::vector<int>& sizes, int index = 0) {
  Stream stream(make_key(12, "own rule"), Purpose::test, static_cast<std::uint64_t>(index));
  const auto draw = [&] { return (static_cast<double>(stream.below(1025)) - 512) / 256; };
  return drawn_network(codes, sizes, draw, [&] { return draw() / 2; });
}

// Every kind of discrete units, in two and in three layers.
std::vector<Layered> dyadic_models() {
  return {dyadic_model({0, 0}, {3, 2}), dyadic_model({1, 2}, {2, 2}, 1),
          dyadic_model({4, 0}, {1, 3}, 2), dyadic_model({0, 1, 0}, {2, 2, 1}, 3)};
}

// The states of every layer after sweeps at a ladder of inverse temperatures.
std::vector<Eigen::MatrixXf> swept(const Layered& model, const Rule& rule, const Packing& packing) {
  Chains chains(model, kRuleChains);
  chains.randomise(make_key(4));
  std::vector<float> betas(kRuleChains);
  for (int c = 0; c < kRuleChains; ++c) betas[c] = static_cast<float>(c % 5) / 4;
  sweep(PackedModel(model, packing), chains, PhiloxDraws(make_key(3)),
        {.rule = rule, .inverse_temperatures = betas, .sweeps = 10});
  std::vector<Eigen::MatrixXf> states;
  for (int l = 0; l < model.layers(); ++l) states.push_back(chains.get_layer(l));
  return states;
}

Layered middle_model() { return dyadic_model({0, 0}, {9, 7}, 4); }

LayeredTarget target(const Rule& rule) {
  const Layered model = middle_model();
  return {model, Base::uniform(model), rule};
}

SimulatedTemperingOptions joint_run() {
  return {.chains = 37,
          .sweeps = 200,
          .ladder = Ladder::linear(6),
          .start = Start::base,
          .key = make_key(5)};
}

Layered trained(const Rule& rule, const Negative& negative) {
  Eigen::MatrixXf data(9, 20);
  Stream stream(make_key(6), Purpose::test);
  for (float& x : data.reshaped()) x = stream.below(3) == 0 ? 1.0F : 0.0F;
  Trainer trainer(middle_model(), data, {.negative = negative, .rule = rule, .batch = 10},
                  make_key(7));
  for (int i = 0; i < 10; ++i) trainer.step();
  return trainer.model();
}

}  // namespace

TEST_CASE("a binary unit's own law tells how likely it is on, and how likely it changes") {
  const Rule half = Rule::of("half", [](Unit, double input, int now, std::span<double> next) {
    next[0] = now == 1 ? 0.25 : input > 0 ? 0.125 : 0.75;
    next[1] = 1 - next[0];
  });
  CHECK(on_probability(half, 1, true) == 0.75);
  CHECK(on_probability(half, 1, false) == 0.875);
  CHECK(on_probability(half, -1, false) == 0.25);
  CHECK(flip_probability(half, 1, true) == 0.25);
  CHECK(flip_probability(half, 1, false) == 0.875);
  CHECK(flip_probability(half, -1, false) == 0.25);
}

TEST_CASE("a rule of one's own that repeats Gibbs' law has its thresholds up to float32") {
  for (const Layered& model : dyadic_models()) {
    const Base base = Base::uniform(model);
    const RecoveredSweep own(model, base, echo()), gibbs(model, base, Rule::gibbs());
    const StateSpace& space = own.space();
    for (int unit = 0; unit < space.units(); ++unit)
      for (std::size_t x = 0; x < space.states(); ++x) {
        const DecisionBound bound = decision_bound(model, base, Rule::gibbs(), 1, space, unit, x);
        for (int k = 1; k < space.values(unit); ++k)
          REQUIRE(std::abs(own.tail(unit, x, k) - gibbs.tail(unit, x, k)) <=
                  bound.errors[k - 1] + 0x1p-32);
      }
  }
}

// A threshold differs by 10 roundings of float32, so 7,200 draws of each model decide otherwise
// with probability 0.5 % at most, and these do not.
TEST_CASE("a rule of one's own that repeats Gibbs' law draws Gibbs' states, in every packing") {
  for (const Layered& model : dyadic_models())
    for (const Packing& packing : kRulePackings)
      CHECK(swept(model, echo(), packing) == swept(model, Rule::gibbs(), packing));
}

// The inputs are exact; the threshold is rounded once, from sums of doubles.
TEST_CASE("the recovered sweep of a lazy rule is its double law to half of 2^-32") {
  on_every_path([] {
    for (const Layered& model : dyadic_models())
      for (const Packing& packing : kRulePackings) {
        const RecoveredSweep recovered(model, Base::uniform(model), lazy(), 1, packing);
        const StateSpace& space = recovered.space();
        for (int unit = 0; unit < space.units(); ++unit) {
          std::vector<double> law(static_cast<std::size_t>(space.values(unit)));
          for (std::size_t x = 0; x < space.states(); ++x) {
            next_law(lazy(), space.place(unit).kind, space.input(unit, x),
                     space.value_index(unit, x), law);
            double tail = 0;
            for (int k = space.values(unit) - 1; k > 0; --k) {
              tail += law[k];
              REQUIRE(std::abs(recovered.tail(unit, x, k) - tail) <= 0.5 * 0x1p-32 + 1e-14);
            }
          }
        }
      }
  });
}

TEST_CASE("every check of a rule holds for a lazy rule") {
  for (const Check& check : rule_checks(lazy())) {
    const CheckOutcome outcome = check.run(6, 1);
    INFO(check.name << " " << check.subject << ": " << outcome.value << " " << outcome.detail);
    CHECK(outcome.holds);
  }
}

TEST_CASE("a rule that does not leave the law unchanged is caught, and its kernel is as it says") {
  for (const Check& check : rule_checks(wrong())) {
    const bool follows = check.name.starts_with("production-law");
    INFO(check.name << " " << check.subject);
    CHECK(check.run(6, 1).holds == follows);
  }
  CHECK(spectrum(middle_model(), lazy()).stationarity_error < 1e-12);
  CHECK(spectrum(dyadic_model({0, 0}, {3, 2}), wrong()).stationarity_error > 1e-3);
}

TEST_CASE("the error of stationarity is how far one sweep moves p, whichever scan") {
  // Without weights a sweep of another law leaves p at once: each unit turns to its own q.
  const double b = 0.8, c = -1.5;
  const Layered model = Layered::rbm(Eigen::MatrixXd::Zero(1, 1), Eigen::VectorXd::Constant(1, b),
                                     Eigen::VectorXd::Constant(1, c));
  const auto on = [](double x) { return 1 / (1 + std::exp(-x)); };
  const double p[] = {on(b), on(c)}, q[] = {on(0.9 * b), on(0.9 * c)};
  double sweep = 0, scan = 0;
  for (const int v : {0, 1})
    for (const int h : {0, 1}) {
      const auto share = [&](const double* law, int unit, int x) {
        return x == 1 ? law[unit] : 1 - law[unit];
      };
      const double is = share(p, 0, v) * share(p, 1, h);
      sweep += std::abs(share(q, 0, v) * share(q, 1, h) - is);
      scan +=
          std::abs((share(q, 0, v) * share(p, 1, h) + share(p, 0, v) * share(q, 1, h)) / 2 - is);
    }
  CHECK(sweep > 0.01);
  CHECK(scan < sweep);
  CHECK(spectrum(model, wrong()).stationarity_error == Approx(sweep).epsilon(1e-12));
  CHECK(spectrum(model, wrong(), Scan::random).stationarity_error == Approx(scan).epsilon(1e-12));
}

// A lazy side has eigenvalues (1 + l) / 2 of the Gibbs side's 0 and 1, unit by unit: with zero
// weights SLEM = 1/2.
TEST_CASE("the spectrum of a lazy rule is known without weights, by every method") {
  const Layered model = Layered::rbm(Eigen::MatrixXd::Zero(3, 4), Eigen::Vector3d(0.5, -2, 0),
                                     Eigen::Vector4d(1, -1, 3, 0));
  for (const auto method : {SpectrumOptions::Method::dense, SpectrumOptions::Method::krylov}) {
    const Spectrum found = spectrum(model, lazy(), Scan::periodic, {.method = method});
    CHECK(found.slem == Approx(0.5).margin(1e-8));
    CHECK((found.irreducible && found.aperiodic));
  }
  CHECK(spectrum(model, lazy(), Scan::random).slem == Approx(1 - 0.5 / 7).margin(1e-8));
}

// One unit has the eigenvalues (1 + w) / 2, w the cubic roots of 1: the two units of a sweep their
// products, those of a random scan their means.
TEST_CASE("the spectrum of a rule without detailed balance is that of its kernel") {
  const Layered model(
      {{.unit = Unit::from_code(2), .bias = Eigen::VectorXd::Zero(1), .sigma0 = {}},
       {.unit = Unit::from_code(2), .bias = Eigen::VectorXd::Zero(1), .sigma0 = {}}},
      {Eigen::MatrixXd::Zero(1, 1)});
  REQUIRE_FALSE(SweepOperator(StateSpace(model), turning()).reversible());
  const Spectrum sweep = spectrum(model, turning());
  CHECK(sweep.stationarity_error < 1e-15);
  CHECK(sweep.slem == Approx(0.5));
  CHECK(sweep.second_eigenvalue == Approx(0.25));
  const Spectrum scan = spectrum(model, turning(), Scan::random);
  CHECK(scan.stationarity_error < 1e-15);
  CHECK(scan.slem == Approx(std::abs(std::complex(5.0, std::sqrt(3.0)) / 8.0)));
  StateBlock block = StateBlock::Ones(9, 1);
  CHECK_THROWS_WITH(SweepOperator(StateSpace(model), turning()).apply_symmetrised(block),
                    Contains("rule (must be in detailed balance"));
}

// As above: the same draws, thresholds that differ by roundings.
TEST_CASE("tempering and training with a law that repeats Gibbs' are those with Gibbs") {
  const TemperedRun own = simulated_tempering(target(echo()), joint_run());
  const TemperedRun gibbs = simulated_tempering(target(Rule::gibbs()), joint_run());
  CHECK(own.store.rung == gibbs.store.rung);
  CHECK(own.store.log_ratio == gibbs.store.log_ratio);
  const Layered model = middle_model();
  const auto ladders = [&](const Rule& rule) {
    ParallelTempering run(model, 5, {.inverse_temperatures = uniform_ladder(4), .rule = rule});
    for (int step = 0; step < 20; ++step) run.step(PackedModel(model), PhiloxDraws(make_key(8)));
    CheckpointWriter out;
    run.save(out);
    return out.finish();
  };
  CHECK(ladders(echo()) == ladders(Rule::gibbs()));
  for (const Negative& negative : {Negative::cd(2), Negative::pcd(2), Negative::pt(3, 1)}) {
    CHECK(trained(echo(), negative).weights(0) == trained(Rule::gibbs(), negative).weights(0));
    CHECK(trained(lazy(), negative).weights(0) != trained(Rule::gibbs(), negative).weights(0));
  }
}

// A number off by 5 of its standard errors is a false alarm of 6e-7 each.
TEST_CASE("estimates from joint states moved by a lazy rule find log Z") {
  const double truth = exact_log_z(middle_model()).log_z;
  for (const char* method : {"rts", "ts", "mbar", "ss", "sams"}) {
    const Estimate found =
        estimate_log_z(method, target(lazy()),
                       {.sweeps = 2000, .ladder = Ladder::linear(10), .states = States::joint});
    INFO(method << ": " << found.log_z << " +- " << found.std_error << ", " << truth);
    CHECK(found.status == Status::ok);
    CHECK(found.std_error < 0.05);
    CHECK(std::abs(found.log_z - truth) < 5 * found.std_error);
  }
}

TEST_CASE("AIS, RAISE, SMC and collapsed states refuse rules other than Gibbs, by name") {
  const auto refuses = [](const Rule& rule) {
    const LayeredTarget joint = target(rule);
    const std::string reason = "rule = " + rule.name() + " (must be gibbs: ";
    for (const char* method : {"ais", "raise", "smc"})
      CHECK_THROWS_WITH(estimate_log_z(method, joint, {.sweeps = 50}), Contains(reason));
    CHECK_THROWS_WITH(reverse_annealing(joint, {.sweeps = 50}, [](Population&, int) {}),
                      Contains(reason));
    CHECK_THROWS_WITH(estimate_log_z("rts", joint, {.states = States::collapsed}),
                      Contains(reason));
  };
  refuses(lazy());
  refuses(Rule::flip());
  CHECK(estimate_log_z("ais", target(Rule::gibbs()), {.sweeps = 50}).std_error > 0);
}

// At b = 0 the lazy sweep would keep half of the units where they are.
TEST_CASE("draws from the base forget every state whatever the rule") {
  const auto drawn = [](const Rule& rule) {
    const auto population = target(rule).populate(0, kRuleChains, make_key(9));
    population->draw_base();
    const auto& states = population->layer_states();
    return std::array{states.get_layer(0), states.get_layer(1)};
  };
  CHECK(drawn(lazy()) == drawn(Rule::gibbs()));
}

TEST_CASE("sweeps and tempering by a rule of one's own have one thread's bytes") {
  const Layered model = dyadic_model({0, 3}, {40, 30}, 5);
  const auto sweeps = [&](int threads) {
    const ThreadLimit limit(threads);
    return swept(model, lazy(), {});
  };
  CHECK(sweeps(1) == sweeps(3));
  const auto tempered = [](int threads) {
    const ThreadLimit limit(threads);
    return simulated_tempering(target(lazy()), joint_run()).store.log_ratio;
  };
  CHECK(tempered(1) == tempered(2));
}

TEST_CASE("rules of one's own are told apart by their names, which none else has") {
  const Law law = [](Unit, double, int now, std::span<double> next) { next[now] = 1; };
  CHECK(lazy() == lazy());
  CHECK_FALSE(lazy() == echo());
  CHECK_FALSE(lazy() == Rule::gibbs());
  CHECK(lazy().name() == "lazy");
  for (const char* name : {"", "gibbs", "flip", "metropolis", "blend:0.5"})
    CHECK_THROWS_WITH(Rule::of(name, law), Contains("name = "));
  CHECK_THROWS_AS(Rule::of("none", nullptr), InvalidArgument);
}

TEST_CASE("laws that are none, and continuous units, are refused") {
  const Layered model = middle_model();
  Chains chains(model, 1);
  const PhiloxDraws draws(make_key(1));
  const PackedModel packed(model);
  for (const double p : {-0.25, 0.25, std::nan("")}) {
    const Rule rule = Rule::of("no law", [p](Unit, double, int, std::span<double> next) {
      next[0] = p;
      next[1] = p < 0 ? 1 - p : p;
    });
    CHECK_THROWS_WITH(sweep(packed, chains, draws, {.rule = rule}), Contains("law of no law"));
    CHECK_THROWS_WITH(spectrum(model, rule), Contains("law of no law"));
  }
  const Layered continuous = dyadic_model({0, -1}, {3, 2});
  Chains some(continuous, 1);
  CHECK_THROWS_WITH(sweep(PackedModel(continuous), some, draws, {.rule = lazy()}),
                    Contains("rule = lazy (must be"));
  CHECK_THROWS_WITH(LayeredTarget(continuous, Base::uniform(continuous), lazy()),
                    Contains("rule = lazy (must be"));
}
