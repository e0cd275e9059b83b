// What a tempered transition is made of, for units of any kind: its sweeps, its decision, and what
// a sampler of them counts. That the whole is in detailed balance is checked in
// verification/checks/check_transitions.cpp.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/sample/chains/persistent_chains.hpp"
#include "boltzmark/sample/tempering/parallel_tempering.hpp"
#include "boltzmark/transition/log_density.hpp"
#include "verification/exact/support/enumeration_models.hpp"

using namespace boltzmark;

namespace {

constexpr int kTransitionChains = 37;

// Bernoulli, X(3), continuous and X(1) layers, or an RBM of X(2) and Bernoulli units.
Layered mixed_network(bool deep) {
  return deep ? enumeration_test::random_network({0, 3, -1, 1}, {9, 7, 5, 4}, 2, 5)
              : enumeration_test::random_network({2, 0}, {9, 7}, 2, 5);
}

Base tilted_base(const Layered& model) {
  Base base = Base::uniform(model);
  for (Eigen::VectorXd& logits : base.logits)
    for (Eigen::Index i = 0; i < logits.size(); ++i)
      logits[i] = 0.3 * std::cos(static_cast<double>(i));
  return base;
}

bool same_states(const Chains& a, const Chains& b, int chain) {
  const State x = a.get_chain(chain), y = b.get_chain(chain);
  return std::equal(x.begin(), x.end(), y.begin());
}

bool same_states(const Chains& a, const Chains& b) {
  for (int c = 0; c < a.chains(); ++c)
    if (!same_states(a, b, c)) return false;
  return true;
}

// D up to a constant, from the energy in double.
std::vector<double> ratios_by_energy(const Layered& model, const Base& base, const Chains& chains) {
  std::vector<double> ratios;
  for (int c = 0; c < chains.chains(); ++c) {
    const State state = chains.get_chain(c);
    double ratio = -energy(model, state);
    for (int l = 0; l < model.layers(); ++l) ratio -= base.logits[l].dot(state[l]);
    ratios.push_back(ratio);
  }
  return ratios;
}

std::uint32_t acceptance_draw(const Draws& draws, int chain, std::uint64_t sweep) {
  std::uint32_t values[4];
  draws.fill(values, {.layer = static_cast<std::uint32_t>(Purpose::transition),
                      .units = 4,
                      .first_chain = static_cast<std::uint32_t>(chain),
                      .chains = 1,
                      .sweep = sweep});
  return values[0];
}

/// The transition put together anew: half sweeps in their order, and energies.
struct Expected {
  Chains proposed;
  std::vector<double> log_ratios;
};
Expected expected_transition(const Layered& model, const Base& base, const PackedModel& packed,
                             const Chains& start, const Draws& draws,
                             const TransitionOptions& options) {
  Expected expected{start, std::vector<double>(kTransitionChains, 0.0)};
  const std::vector<float>& ladder = options.inverse_temperatures;
  std::uint64_t number = options.first_sweep;
  const auto half = [&](float b, int parity) {
    const std::vector<float> betas(kTransitionChains, b);
    half_sweep(packed, expected.proposed, draws,
               {.rule = options.rule, .inverse_temperatures = betas, .first_sweep = number},
               parity);
  };
  const auto weigh = [&](float from, float to) {
    const std::vector<double> ratios = ratios_by_energy(model, base, expected.proposed);
    for (std::size_t c = 0; c < ratios.size(); ++c)
      expected.log_ratios[c] += (static_cast<double>(to) - static_cast<double>(from)) * ratios[c];
  };
  for (std::size_t k = ladder.size() - 1; k > 0; --k) {
    weigh(ladder[k], ladder[k - 1]);
    half(ladder[k - 1], 1);
    half(ladder[k - 1], 0);
    ++number;
  }
  for (std::size_t k = 0; k + 1 < ladder.size(); ++k) {
    half(ladder[k], 0);
    half(ladder[k], 1);
    weigh(ladder[k], ladder[k + 1]);
    ++number;
  }
  CHECK(number == options.first_sweep + static_cast<std::uint64_t>(options.sweeps()));
  return expected;
}

SamplerSetup transition_setup(const Layered& model) {
  return {.model = model,
          .packing = {.chains = kTransitionChains},
          .key = make_key(1),
          .draws = std::make_shared<PhiloxDraws>(make_key(1))};
}

}  // namespace

TEST_CASE("a tempered transition is sweeps up, reversed sweeps down and one decision by energies") {
  for (const bool deep : {false, true})
    for (const Rule& rule : {Rule::gibbs(), Rule::flip()}) {
      const Layered model = mixed_network(deep);
      const Base base = tilted_base(model);
      const PackedModel packed(model, base);
      const PhiloxDraws draws(make_key(3));
      const TransitionOptions options{
          .inverse_temperatures = {0.4F, 0.7F, 0.9F, 1.0F}, .rule = rule, .first_sweep = 11};
      Chains start(model, kTransitionChains);
      start.randomise(make_key(2));
      sweep(packed, start, draws, {.sweeps = 10});
      const Expected expected = expected_transition(model, base, packed, start, draws, options);
      Chains chains = start;
      const std::vector<TransitionOutcome> outcomes =
          tempered_transition(packed, chains, draws, options);
      int accepted = 0;
      for (int c = 0; c < kTransitionChains; ++c) {
        const TransitionOutcome& outcome = outcomes[static_cast<std::size_t>(c)];
        // Inputs are float32 sums: of terms up to 60 here, so 2^-24 of those a unit.
        CHECK(outcome.log_ratio ==
              Approx(expected.log_ratios[static_cast<std::size_t>(c)]).epsilon(0).margin(1e-4));
        const double threshold = std::round(std::min(1.0, std::exp(outcome.log_ratio)) * 0x1p32);
        CHECK(outcome.accepted == (acceptance_draw(draws, c, 11) < threshold));
        CHECK(same_states(chains, outcome.accepted ? expected.proposed : start, c));
        accepted += outcome.accepted;
      }
      CHECK(accepted > 0);
      CHECK(accepted < kTransitionChains);
    }
}

TEST_CASE("log ratios by the inputs of either side are those of the energies") {
  for (const bool deep : {false, true}) {
    const Layered model = mixed_network(deep);
    const Base base = tilted_base(model);
    const PackedModel packed(model, base);
    Chains chains(model, kTransitionChains);
    chains.randomise(make_key(2));
    std::vector<double> expected = ratios_by_energy(model, base, chains);
    for (double& ratio : expected) ratio += log_normaliser(model, base);
    const auto check = [&](const std::vector<double>& ratios) {
      REQUIRE(ratios.size() == expected.size());
      for (std::size_t c = 0; c < ratios.size(); ++c)
        CHECK(ratios[c] == Approx(expected[c]).epsilon(0).margin(1e-4));
    };
    check(log_ratio(packed, chains));
    for (const int parity : {0, 1}) {
      SideInputs inputs{.parity = parity};
      fill_inputs(packed, chains, inputs);
      check(log_ratio(packed, chains, inputs));
      inputs.layers.back().pop_back();
      CHECK_THROWS_AS(log_ratio(packed, chains, inputs), InvalidArgument);
      inputs.layers.pop_back();
      CHECK_THROWS_AS(log_ratio(packed, chains, inputs), InvalidArgument);
    }
  }
}

TEST_CASE("sweeps that leave the even layers' inputs are plain sweeps") {
  const Layered model = mixed_network(true);
  const PackedModel packed(model, tilted_base(model));
  const PhiloxDraws draws(make_key(3));
  Chains chains(model, kTransitionChains), plain = chains;
  const std::vector<float> betas(kTransitionChains, 0.7F);
  SideInputs left, expected{.parity = 0};
  for (const int sweeps : {0, 1, 3}) {
    const SweepOptions options{.inverse_temperatures = betas, .first_sweep = 5, .sweeps = sweeps};
    sweep(packed, plain, draws, options);
    sweep(packed, chains, draws, options, left);
    CHECK(same_states(chains, plain));
    fill_inputs(packed, chains, expected);
    CHECK(left.parity == 0);
    CHECK(left.layers == expected.layers);
  }
}

TEST_CASE("a tempered transition gives the same bytes for one thread and two") {
  const Layered model = enumeration_test::random_network({0, 0, 0}, {200, 150, 100}, 0.3, 1);
  std::vector<Chains> ends;
  for (const int threads : {1, 2}) {
    const ThreadLimit limit(threads);
    ends.emplace_back(model, 200);
    ends.back().randomise(make_key(2));
    tempered_transition(PackedModel(model, {.chains = 200}), ends.back(), PhiloxDraws(make_key(3)),
                        {.inverse_temperatures = uniform_ladder(4, 0.9)});
  }
  CHECK(same_states(ends[0], ends[1]));
}

TEST_CASE("persistent transitions follow every N-th sweep, numbered among the sweeps") {
  const Layered model = mixed_network(false);
  const std::vector<float> ladder = uniform_ladder(4, 0.5);
  const SamplerSetup setup = transition_setup(model);
  PersistentTransitions sampler(setup, ladder, 3);
  CHECK(sampler.chain_sweeps(2) == kTransitionChains * 2 * (1 + 6 / 3.0));
  CHECK(sampler.round_trips() == std::uint64_t{0});
  const PackedModel packed(model, setup.packing);
  Chains chains(model, kTransitionChains), states = chains;
  chains.randomise(make_key(1));
  std::uint64_t number = 0;
  std::uint64_t accepted = 0;
  for (int swept = 1; swept <= 12; ++swept) {
    sweep(packed, chains, *setup.draws, {.first_sweep = number++});
    if (swept % 3 == 0) {
      for (const TransitionOutcome& outcome :
           tempered_transition(packed, chains, *setup.draws,
                               {.inverse_temperatures = ladder, .first_sweep = number}))
        accepted += outcome.accepted;
      number += 6;
    }
    if (swept % 2 != 0) continue;  // an advance of two sweeps
    sampler.advance(2);
    sampler.copy_states(states);
    CHECK(same_states(states, chains));
  }
  CHECK(sampler.round_trips() == accepted);
  CHECK(accepted > 0);
  sampler.advance(1);
  CheckpointWriter saved;
  sampler.save(saved);
  const std::string bytes = saved.finish();
  CheckpointReader reader(bytes);
  PersistentTransitions resumed(setup, ladder, 3);
  resumed.restore(reader);
  for (PersistentTransitions* each : {&sampler, &resumed}) each->advance(2);
  sampler.copy_states(states);
  resumed.copy_states(chains);
  CHECK(same_states(states, chains));
  CHECK(resumed.round_trips() == sampler.round_trips());
  CHECK(PersistentTransitions(setup, uniform_ladder(20, 0.9)).chain_sweeps(1) ==
        39 * kTransitionChains);
  // More than an int holds.
  CHECK(PersistentTransitions(setup, ladder, 1).chain_sweeps(400000000) ==
        kTransitionChains * 4e8 * 7);
}

TEST_CASE("a tempered transition refuses other ladders and laws that may not be reversible") {
  const Layered model = mixed_network(false);
  const SamplerSetup setup = transition_setup(model);
  const std::vector<float> ladders[] = {
      {}, {1}, {0, 0.5F}, {0.5F, 0.5F, 1}, {0.5F, 0.2F, 1}, {-0.1F, 1}, {std::nanf(""), 1}};
  for (const std::vector<float>& ladder : ladders)
    CHECK_THROWS_AS(PersistentTransitions(setup, ladder), InvalidArgument);
  CHECK_THROWS_AS(PersistentTransitions(setup, {0, 1}, 0), InvalidArgument);
  SamplerSetup own = setup;
  own.rule = Rule::of("cycle", [](Unit unit, double, int now, std::span<double> next) {
    next[static_cast<std::size_t>((now + 1) % unit.values())] = 1;
  });
  CHECK_THROWS_AS(PersistentTransitions(own, {0, 1}), InvalidArgument);
}
