// The rough laws that decide most draws, against the double law.
#include "boltzmark/transition/kernels/rough_law.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "boltzmark/core/simd.hpp"
#include "boltzmark/random/draws.hpp"
#include "boltzmark/transition/kernels/layer_update.hpp"
#include "boltzmark/transition/kernels/panel.hpp"
#include "boltzmark/transition/sweep.hpp"

using namespace boltzmark;

namespace {

double value(const RoughLaw& rough, double t) {
  const int i = std::min(static_cast<int>(t * static_cast<double>(RoughLaw::kPerUnit)),
                         RoughLaw::kIntervals - 1);
  const auto at = [i](const auto& table) { return static_cast<double>(table[i]); };
  const double size = std::min(t, 7.875);
  return at(rough.constant) + size * (at(rough.linear) + size * at(rough.square));
}

// Every unit and chain of a panel gets the draw of its place.
class GivenDraws final : public Draws {
 public:
  explicit GivenDraws(std::vector<std::uint32_t> draws) : draws_(std::move(draws)) {}
  void fill(std::uint32_t* out, const DrawRange& range) const override {
    const std::size_t from = static_cast<std::size_t>(range.first_chain) * kPanel;
    std::copy_n(draws_.begin() + static_cast<std::ptrdiff_t>(from), kPanelSize, out);
  }

 private:
  std::vector<std::uint32_t> draws_;
};

// Tells which units are on next, given all their inputs, whether they are on now, and their draws.
std::vector<bool> next_states(const Rule& rule, Unit unit, const std::vector<float>& inputs,
                              bool on_now, const std::vector<std::uint32_t>& draws) {
  const Layered model({{.unit = unit, .bias = Eigen::VectorXd::Zero(kPanel), .sigma0 = {}},
                       {.unit = unit, .bias = Eigen::VectorXd::Zero(1), .sigma0 = {}}},
                      {Eigen::MatrixXd::Zero(kPanel, 1)});
  const int blocks = static_cast<int>(inputs.size()) / kPanelSize;
  Chains chains(model, blocks * kChainBlock);
  if (on_now)
    for (int b = 0; b < blocks; ++b) std::fill_n(chains.block(0, b), kPanelSize, 1.0F);
  const PackedModel packed(model);
  const GivenDraws given(draws);
  simd_path();
  update_layer({.model = &packed,
                .layer = 0,
                .chains = &chains,
                .first_block = 0,
                .last_block = blocks,
                .draws = &given,
                .rule = rule,
                .inputs = inputs.data()});
  std::vector<bool> on;
  for (int b = 0; b < blocks; ++b)
    for (int i = 0; i < kPanelSize; ++i) on.push_back(chains.block(0, b)[i] > 0);
  return on;
}

}  // namespace

TEST_CASE("the rough laws are within their stated error, with room for rounding") {
  for (double t = 0; t < 40; t += 1e-4) {
    REQUIRE(std::abs(value(rough_gibbs(), t) - 1 / (1 + std::exp(t))) < 0.6 * 0x1p-11);
    REQUIRE(std::abs(value(rough_flip(), t) - std::exp(-t)) < 0.6 * 0x1p-11);
  }
  CHECK(kRoughError == 0x1p-11F);
}

// A rough law that is off by more than its error at an input decides the draws next to the law's
// threshold there wrongly: 1e-5 of e^-t away, which float32 resolves to 2e-6.
TEST_CASE("draws next to their threshold are decided by the law, whatever the input") {
  for (const Rule& rule : {Rule::gibbs(), Rule::flip(), Rule::metropolis(), Rule::blended(0.5)})
    for (const Unit unit : {Unit::bernoulli(), Unit::multivalued(1)})
      for (const bool on_now : {false, true})
        for (const double side : {-1.0, 1.0}) {
          std::vector<float> inputs;
          std::vector<std::uint32_t> draws;
          std::vector<bool> expected;
          const double scale = unit.is_bernoulli() ? 1 : 0.5;
          for (int i = 0; static_cast<int>(inputs.size()) < (1 << 17); ++i) {
            const auto input = static_cast<float>((i - (1 << 16) + 0.37) * scale * 12 / (1 << 16));
            const double log_odds = static_cast<double>(input) / scale;
            const double p = on_probability(rule, log_odds, on_now) * 0x1p32;
            const double away = 1e-5 * std::exp(-std::abs(log_odds)) * 0x1p32 + 2;
            const double draw = std::round(p + side * away);
            inputs.push_back(input);
            draws.push_back(static_cast<std::uint32_t>(std::clamp(draw, 0.0, 0x1p32 - 1)));
            expected.push_back(static_cast<double>(draws.back()) < p);
          }
          CAPTURE(rule.name(), unit.name(), on_now, side);
          const std::vector<bool> found = next_states(rule, unit, inputs, on_now, draws);
          int wrong = 0;
          for (std::size_t i = 0; i < found.size(); ++i) wrong += found[i] != expected[i];
          CHECK(wrong == 0);
        }
}

TEST_CASE("ties are decided by the law: flip-the-state's fair coin, Metropolis' certain flip") {
  const std::vector<float> inputs(kPanelSize, 0.0F);
  const auto all = [&](const Rule& rule, bool on_now, std::uint32_t draw) {
    const std::vector<bool> on = next_states(rule, Unit::bernoulli(), inputs, on_now,
                                             std::vector<std::uint32_t>(kPanelSize, draw));
    CHECK(on == std::vector<bool>(kPanelSize, on[0]));
    return static_cast<bool>(on[0]);
  };
  for (const bool on_now : {false, true}) {
    CHECK(all(Rule::flip(), on_now, 0x7fffffffU));
    CHECK_FALSE(all(Rule::flip(), on_now, 0x80000000U));
    CHECK(all(Rule::metropolis(), on_now, 0) == !on_now);
    CHECK(all(Rule::metropolis(), on_now, 0xffffffffU) == !on_now);
  }
}
