
#include "verification/checks/laws/recovered_sweep.hpp"

#include <catch2/catch.hpp>

#include "boltzmark/core/parallel.hpp"
#include "boltzmark/random/stream.hpp"
#include "boltzmark/transition/sweep.hpp"
#include "verification/checks/laws/decision_bound.hpp"
#include "verification/checks/verifier.hpp"
#include "verification/exact/support/drawn_network.hpp"
#include "verification/exact/support/every_path.hpp"

using namespace boltzmark;

namespace {

double multiple(Stream& stream) { return (static_cast<double>(stream.below(1025)) - 512) / 256; }

Eigen::VectorXd multiples(Stream& stream, int n) {
  Eigen::VectorXd values(n);
  for (double& value : values) value = multiple(stream);
  return values;
}

// Parameters that are multiples of 2^-8: every order of summation is exact in float32.
Layered short_model(const std::vector<int>& sizes, std::uint64_t index) {
  Stream stream(make_key(11, "short model"), Purpose::test, index);
  const auto draw = [&] { return multiple(stream); };
  return drawn_network(std::vector<int>(sizes.size()), sizes, draw, draw);
}

}  // namespace

TEST_CASE("the production sweep follows the double law and leaves p unchanged, every rule") {
  const std::string usual = simd_path();
  on_every_path([&] {
    // Emulated tiles trap at every instruction.
    const bool emulated = simd_path() == "AMX" && simd_path() != usual;
    const int share = simd_path() == usual ? 1 : emulated ? 40 : 4;
    for (const Check& check : registered_checks()) {
      if (!check.name.starts_with("production-")) continue;
      const int discrete = simd_path() == usual ? 24 : emulated ? 2 : 8;
      const int models = check.name.ends_with("(discrete units)") ? discrete : 120 / share;
      const CheckOutcome outcome = check.run(models, 5);
      INFO(check.name << " " << check.subject << ": " << outcome.value << " " << outcome.detail);
      CHECK(outcome.holds);
    }
  });
}

TEST_CASE(
    "every rule's recovered law on ties: a fair coin for flip, certain flips for metropolis") {
  const Layered model =
      Layered::rbm(Eigen::MatrixXd::Zero(2, 2), Eigen::VectorXd::Zero(2), Eigen::VectorXd::Zero(2));
  const std::uint64_t half = std::uint64_t{1} << 31;
  const std::uint64_t full = std::uint64_t{1} << 32;
  for (const Rule& rule : {Rule::gibbs(), Rule::flip(), Rule::blended(0.25)}) {
    const RecoveredSweep law(model, Base::uniform(model), rule);
    for (std::size_t x = 0; x < 16; ++x) CHECK(law.threshold(1, x) == half);
  }
  const RecoveredSweep law(model, Base::uniform(model), Rule::metropolis());
  for (std::size_t x = 0; x < 16; ++x)
    for (int u = 0; u < 4; ++u) CHECK(law.threshold(u, x) == (((x >> u) & 1U) != 0 ? 0 : full));
}

TEST_CASE("every SIMD path has the same law where float32 sums are exact") {
  for (const std::vector<int>& sizes :
       {std::vector{3, 4}, std::vector{2, 3, 2}, std::vector{2, 2, 2, 2}})
    for (const Rule& rule : {Rule::gibbs(), Rule::flip(), Rule::blended(0.5), Rule::metropolis()}) {
      const Layered model = short_model(sizes, 1);
      std::vector<RecoveredSweep> laws;
      on_every_path([&] {
        for (const Packing& packing : {Packing{}, {.chains = 100}, {.chains = 100, .sweeps = 1000}})
          laws.emplace_back(model, Base::uniform(model), rule, 1.0F, packing);
      });
      // exp differs in the last place between paths with and without fused multiply-add.
      for (const RecoveredSweep& law : laws)
        for (int u = 0; u < law.space().units(); ++u)
          for (std::size_t x = 0; x < law.space().states(); ++x)
            REQUIRE(std::abs(law.tail(u, x) - laws[0].tail(u, x)) <=
                    2 * decision_bound(model, Base::uniform(model), rule, 1, law.space(), u, x)
                            .errors[0]);
    }
}

TEST_CASE(
    "the tempered sweep follows the law of log f_b = b log f + (1 - b) log p1, base included") {
  for (int i = 0; i < 20; ++i) {
    const Layered model = short_model({3, 3}, static_cast<std::uint64_t>(i));
    Stream stream(make_key(12), Purpose::test, static_cast<std::uint64_t>(i));
    const Base base{.logits = {multiples(stream, 3), multiples(stream, 3)}};
    const auto b = static_cast<float>(stream.uniform());
    const StateSpace tempered_space(tempered(model, base, static_cast<double>(b)));
    for (const Rule& rule : {Rule::gibbs(), Rule::flip(), Rule::blended(0.5)}) {
      const RecoveredSweep law(model, base, rule, b);
      for (int u = 0; u < 6; ++u)
        for (std::size_t x = 0; x < 64; ++x) {
          const DecisionBound bound = decision_bound(model, base, rule, b, law.space(), u, x);
          REQUIRE(bound.input == Approx(tempered_space.input(u, x)).margin(1e-12));
          if (!bound.sign_is_certain) continue;
          const bool on = law.space().value_index(u, x) == 1;
          const double exact = on_probability(rule, bound.input, on);
          REQUIRE(bound.tails[0] == Approx(exact));
          REQUIRE(std::abs(law.tail(u, x) - exact) <= bound.errors[0]);
        }
      const Eigen::RowVectorXd p = tempered_space.p().transpose();
      const Eigen::RowVectorXd next = p * law.side_matrix(1) * law.side_matrix(0);
      CHECK((next - p).cwiseAbs().maxCoeff() <= 1e-6);
    }
  }
}

TEST_CASE("a chain's temperature is its own, whatever its neighbours' in the block") {
  const Layered model = short_model({5, 7}, 3);
  const PackedModel packed(model);
  const PhiloxDraws draws(make_key(4));
  const int count = 40;
  std::vector<float> betas(count);
  for (int c = 0; c < count; ++c) betas[c] = static_cast<float>(c % 5) / 4;
  Chains mixed(model, count);
  mixed.randomise(make_key(5));
  const Chains start = mixed;
  sweep(packed, mixed, draws, {.inverse_temperatures = betas, .sweeps = 3});
  for (int k = 0; k < 5; ++k) {
    Chains same = start;
    sweep(packed, same, draws,
          {.inverse_temperatures = std::vector<float>(count, static_cast<float>(k) / 4),
           .sweeps = 3});
    for (int c = k; c < count; c += 5)
      for (int l = 0; l < 2; ++l)
        for (int u = 0; u < model.size(l); ++u) REQUIRE(mixed.get(l, u, c) == same.get(l, u, c));
  }
}

TEST_CASE("a sweep is its hidden half, then its visible half, on the same draws") {
  const Layered model = short_model({6, 9, 3}, 4);
  const PackedModel packed(model);
  const PhiloxDraws draws(make_key(6));
  Chains whole(model, 33);
  whole.randomise(make_key(7));
  Chains halves = whole;
  sweep(packed, whole, draws, {.rule = Rule::flip(), .first_sweep = 8, .sweeps = 2});
  for (const std::uint64_t s : {8, 9})
    for (const int parity : {1, 0})
      half_sweep(packed, halves, draws, {.rule = Rule::flip(), .first_sweep = s}, parity);
  for (int l = 0; l < 3; ++l) CHECK(whole.get_layer(l) == halves.get_layer(l));
}

TEST_CASE("a sweep's states do not depend on the number of threads") {
  const Layered model = short_model({100, 90}, 5);
  const PackedModel packed(model);
  const PhiloxDraws draws(make_key(8));
  const auto run = [&](int threads) {
    const ThreadLimit limit(threads);
    Chains chains(model, 77);
    chains.randomise(make_key(9));
    sweep(packed, chains, draws, {.rule = Rule::flip(), .sweeps = 20});
    return chains.get_layer(0);
  };
  CHECK(run(1) == run(2));
}

TEST_CASE("the bound of a rare flip is a threshold's rounding, half of 2^-32") {
  const auto bound_of = [](double bias) {
    const Layered model = Layered::rbm(
        Eigen::MatrixXd::Zero(1, 1), Eigen::VectorXd::Constant(1, bias), Eigen::VectorXd::Zero(1));
    const DecisionBound bound =
        decision_bound(model, Base::uniform(model), Rule::gibbs(), 1, StateSpace(model), 0, 0);
    REQUIRE(bound.errors.size() == 1);
    return bound.errors[0];
  };
  for (const double bias :
       {20.0, -20.0}) {  // rare: e^-20 of the draws, of which rounding moves 1e-6
    CHECK(bound_of(bias) >= 0x1p-33);
    CHECK(bound_of(bias) < 1.01 * 0x1p-33);
  }
  // Even: half of ten roundings of 2^-24, and the threshold's.
  CHECK(bound_of(0) == Approx(0.5 * std::expm1(10 * 0x1p-24) + 0x1p-33).epsilon(1e-6));
}
