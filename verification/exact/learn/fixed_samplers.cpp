// The registered negative phases that also sample a model that does not change.
#include <catch2/catch.hpp>
#include <memory>

#include "boltzmark/core/error.hpp"
#include "boltzmark/learn/initial.hpp"
#include "boltzmark/learn/phases/negative.hpp"
#include "boltzmark/sample/chains/adaptive_chains.hpp"
#include "boltzmark/sample/tempering/parallel_tempering.hpp"

using namespace boltzmark;

TEST_CASE("what samples a fixed model starts at the states that it is given") {
  const Layered model = initial_rbm(6, 3, 0.01, make_key(5));
  Chains first(model, 5), states = first;
  first.randomise(make_key(2));
  int samplers = 0;
  for (const NegativePhase& phase : negative_phases()) {
    if (!phase.samples) {
      CHECK_THROWS_AS(parse_sampler(phase.example), InvalidArgument);
      continue;
    }
    ++samplers;
    INFO(phase.form);
    // Weights that grow by a constant factor for ever never let the states follow a model that is fixed.
    Negative expected = parse_negative(phase.example);
    expected.factor.vanishing = phase.name() == "st";
    CHECK(parse_sampler(phase.example) == expected);
    CHECK(describe_samplers().find(phase.form) != std::string::npos);
    SamplerSetup setup{
        .model = model, .packing = {.chains = 5}, .key = make_key(1), .start = &first};
    make_sampler(parse_sampler(phase.example), setup)->copy_states(states);
    for (const int layer : {0, 1}) CHECK(states.get_layer(layer) == first.get_layer(layer));
    Chains fewer(model, 4);
    setup.packing.chains = 4;
    make_sampler(parse_sampler(phase.example), setup)->copy_states(fewer);
    CHECK(fewer.get_layer(0) == first.get_layer(0).leftCols(4));
    setup.packing.chains = 6;
    CHECK_THROWS_AS(make_sampler(parse_sampler(phase.example), setup), InvalidArgument);
  }
  CHECK(samplers >= 2);
  CHECK(parse_sampler("gibbs") == Negative::pcd(1));
  CHECK_THROWS_AS(parse_sampler("gibbs:1"), InvalidArgument);
}

TEST_CASE("simulated tempering is made with the factor and the weights that are asked for") {
  const Layered model = initial_rbm(6, 3, 1, make_key(5));
  const SamplerSetup setup{.model = model,
                           .packing = {.chains = 5},
                           .key = make_key(1),
                           .draws = std::make_shared<PhiloxDraws>(make_key(1))};
  const auto by_name = [&](const Negative& negative) {
    const auto sampler = make_sampler(negative, setup);
    sampler->advance(50);
    return sampler->log_weights();
  };
  const auto by_hand = [&](AdaptingFactor factor, WeightSharing weights, int every) {
    AdaptiveRuns runs(setup, {uniform_ladder(3, 0.5), factor, weights}, every);
    runs.advance(50);
    return runs.log_weights();
  };
  const AdaptingFactor vanishing{.vanishing = true, .size = 10}, small{.size = 2};
  CHECK(by_name(parse_sampler("st:3:0.5")) == by_hand(vanishing, WeightSharing::own, 50));
  CHECK(by_name(parse_sampler("st:3:0.5")) != by_hand({}, WeightSharing::own, 50));
  CHECK(by_name(parse_negative("st:3:0.5")) == by_hand({}, WeightSharing::own, 50));
  const auto shared = by_name(
      parse_negative_description("st:3:0.5 --every 4 --factor constant:2 --weights shared"));
  CHECK(shared == by_hand(small, WeightSharing::shared, 4));
  CHECK(shared != by_hand(small, WeightSharing::own, 4));
  // Those of three rungs are all chains'.
  for (std::size_t k = 3; k < shared.size(); ++k) CHECK(shared[k] == shared[k - 3]);
}
