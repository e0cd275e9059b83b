#include "boltzmark/transition/tempered_chains.hpp"

#include <rapidcheck.h>
#include <rapidcheck/catch.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <iterator>

#include "boltzmark/random/stream.hpp"
#include "boltzmark/target/ladder.hpp"
#include "verification/checks/laws/states.hpp"

using namespace boltzmark;

namespace {

constexpr int kChains = 19;  // more than one block, not a whole number of them

// Parameters are multiples of 2^-8 below 2^3, so that float32 inputs are exact: 14 bits over 2^14,
// the finest product of a 64th, sum to less than 2^7.
double short_number(Stream& stream) {
  return (static_cast<double>(stream.below(4097)) - 2048) / 256;
}

// X(s) of powers of 2, whose weights over s are short too.
Unit random_unit(Stream& stream) {
  constexpr int codes[] = {0, 0, 1, 2, 4, 64, -1};
  return Unit::from_code(codes[stream.below(std::size(codes))]);
}

Layered random_model(Stream& stream) {
  const std::size_t layers = 2 + stream.below(3);
  std::vector<Layer> parts;
  std::vector<Eigen::MatrixXd> weights;
  for (std::size_t l = 0; l < layers; ++l) {
    Eigen::VectorXd bias(1 + static_cast<Eigen::Index>(stream.below(11)));
    for (double& b : bias) b = short_number(stream);
    if (l > 0) {
      weights.emplace_back(parts.back().bias.size(), bias.size());
      for (double& w : weights.back().reshaped()) w = short_number(stream);
    }
    parts.push_back({.unit = random_unit(stream), .bias = bias, .sigma0 = {}});
  }
  return {std::move(parts), std::move(weights)};
}

// Has logits of one side's layers, or of all.
Base random_base(const Layered& model, Stream& stream, int side, bool both) {
  Base base = Base::uniform(model);
  for (int l = both ? 0 : side; l < model.layers(); l += both ? 1 : 2)
    for (double& logit : base.logits[l]) logit = short_number(stream);
  return base;
}

TemperedChains random_chains(const std::shared_ptr<const TemperedModel>& model, Stream& stream) {
  TemperedChains chains(model, 0, kChains);
  for (int l = 0; l < model->model.layers(); ++l) {
    const Unit unit = model->model.layer(l).unit;
    Eigen::MatrixXf states(model->model.size(l), kChains);
    // Of the continuous unit values of few bits, so that products with weights are exact.
    for (float& x : states.reshaped())
      x = unit.is_discrete() ? static_cast<float>(unit.value(static_cast<int>(
                                   stream.below(static_cast<std::uint64_t>(unit.values())))))
                             : static_cast<float>(stream.below(129)) / 64 - 1;
    chains.set_layer(l, states);
  }
  return chains;
}

double log_base(const TemperedModel& model, const State& state) {
  double sum = 0;
  for (int l = 0; l < model.model.layers(); ++l)
    for (Eigen::Index u = 0; u < state[l].size(); ++u)
      sum += model.base.logits[l][u] * state[l][u] -
             log_partition(model.model.layer(l).unit, model.base.logits[l][u]);
  return sum;
}

// log sum over the summed side of f^b p1^(1-b), unit by unit.
double log_marginal(const TemperedModel& model, State state, double b) {
  for (int l = model.summed; l < model.model.layers(); l += 2) state[l].setZero();
  double sum = -b * energy(model.model, state) + (1 - b) * log_base(model, state);
  for (int l = model.summed; l < model.model.layers(); l += 2) {
    const Eigen::VectorXd input = layer_input(model.model, state, l);
    for (Eigen::Index u = 0; u < input.size(); ++u)
      sum += log_partition(model.model.layer(l).unit,
                           b * input[u] + (1 - b) * model.base.logits[l][u]);
  }
  return sum;
}

struct Case {
  std::shared_ptr<const TemperedModel> model;
  TemperedChains chains;
};
Case draw_case(bool summed_logits) {
  Stream stream(make_key(*rc::gen::arbitrary<std::uint64_t>(), "tempered"), Purpose::test);
  const Layered layered = random_model(stream);  // of every kind of unit
  const int summed = static_cast<int>(stream.below(2));
  const Base base = random_base(layered, stream, 1 - summed, summed_logits);
  auto model = std::make_shared<const TemperedModel>(layered, base, Packing{}, summed);
  return {model, random_chains(model, stream)};
}

}  // namespace

// A sum of at most 40 terms below 200, each rounded to 2^-53 relatively.
constexpr double kTolerance = 1e-10;

TEST_CASE("D of tempered chains is log f less log p1 of the joint state") {
  rc::prop("for any depth and base", [] {
    const Case c = draw_case(true);
    std::vector<double> ratio(kChains);
    c.chains.log_ratio(ratio);
    for (int n = 0; n < kChains; ++n) {
      const State state = c.chains.states().get_chain(n);
      RC_ASSERT(std::abs(ratio[n] + energy(c.model->model, state) + log_base(*c.model, state)) <
                kTolerance);
    }
  });
}

TEST_CASE("the marginal density of tempered chains sums either side out at every rung") {
  rc::prop("for equal rungs and others, zero logits of the summed side and others", [] {
    Case c = draw_case(*rc::gen::arbitrary<bool>());
    const int rungs = *rc::gen::oneOf(rc::gen::inRange(2, 12), rc::gen::inRange(38, 60));
    const Ladder ladder =
        *rc::gen::arbitrary<bool>() ? Ladder::linear(rungs) : Ladder::geometric(rungs);
    std::vector<double> densities(kChains * static_cast<std::size_t>(rungs));
    c.chains.log_densities(ladder.singles(), densities);
    std::vector<double> step(kChains);
    c.chains.log_increment(ladder[0], ladder[1], step);
    for (int n = 0; n < kChains; ++n) {
      const State state = c.chains.states().get_chain(n);
      for (int k = 0; k < rungs; ++k) {
        // Equal rungs are k/(K-1) in double, 2^-25 from the ladder's float32 values.
        const double bound = kTolerance + 0x1p-24 * 2000;
        RC_ASSERT(std::abs(densities[n * rungs + k] - log_marginal(*c.model, state, ladder[k])) <
                  bound);
      }
      const double exact =
          log_marginal(*c.model, state, ladder[1]) - log_marginal(*c.model, state, ladder[0]);
      RC_ASSERT(std::abs(step[n] - exact) < kTolerance);
    }
  });
}

TEST_CASE(
    "tempered chains move exactly as block half sweeps, the summed side first, do in groups") {
  rc::prop("states after some sweeps are equal", [] {
    const Case c = draw_case(true);
    const PhiloxDraws draws(make_key(7, "grouping"));
    Stream stream(make_key(*rc::gen::arbitrary<std::uint64_t>()), Purpose::test);
    std::vector<float> betas(kChains);
    for (float& b : betas) b = static_cast<float>(stream.below(5)) / 4;
    Chains plain = c.chains.states();
    for (std::uint64_t s = 0; s < 3; ++s)
      for (const int parity : {c.model->summed, 1 - c.model->summed})
        half_sweep(c.model->packed, plain, draws, {.inverse_temperatures = betas, .first_sweep = s},
                   parity);
    TemperedChains head(c.model, 0, kChainBlock), tail(c.model, kChainBlock, kChains - kChainBlock);
    for (int n = 0; n < kChains; ++n)
      (n < kChainBlock ? head : tail).copy_chain(n % kChainBlock, c.chains, n);
    for (std::uint64_t s = 0; s < 3; ++s) {
      head.sweep(std::span(betas).first(kChainBlock), draws, s);
      tail.sweep(std::span(betas).subspan(kChainBlock), draws, s);
    }
    for (int n = 0; n < kChains; ++n)
      RC_ASSERT((n < kChainBlock ? head : tail).states().get_chain(n % kChainBlock) ==
                plain.get_chain(n));
  });
}

TEST_CASE("a copied chain has the D of its states") {
  rc::prop("and the other chains keep theirs", [] {
    const Case c = draw_case(true);
    TemperedChains chains(c.model, 0, 2);
    chains.copy_chain(1, c.chains, *rc::gen::inRange(0, kChains));
    std::vector<double> ratio(2);
    chains.log_ratio(ratio);
    for (int n = 0; n < 2; ++n) {
      const State state = chains.states().get_chain(n);
      RC_ASSERT(std::abs(ratio[n] + energy(c.model->model, state) + log_base(*c.model, state)) <
                kTolerance);
    }
  });
}
