// Units of several values that a run hardly had at their far end, alone or as a block that goes there together: by
// enumeration, and of right samples.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>
#include <vector>

#include "boltzmark/estimate/held/switches.hpp"
#include "boltzmark/random/stream.hpp"
#include "verification/exact/support/gates.hpp"

namespace several_values {

using namespace boltzmark;
using namespace gates;

constexpr int kBlocks = 3, kUnits = 8, kPairs = kUnits * (kUnits - 1) / 2;
constexpr double kWeight = 3, kBit = -4.7, kHidden = -2.7;
const Unit kUnit = Unit::multivalued(3);

/// A block: each two of its units share a visible bit that rewards both for being high.
struct Block {
  std::vector<std::vector<double>> states;  // of the hidden units
  std::vector<double> low, high;  // law, of states with few units above 0 and with most of them

  Block() {
    std::vector<double> h(kUnits);
    for (int x = 0; x < 1 << 2 * kUnits; ++x) {
      double log_f = 0;
      int above = 0;
      for (int j = 0; j < kUnits; ++j) {
        h[j] = kUnit.value(x >> 2 * j & 3);
        above += h[j] > 0;
        log_f += kHidden * h[j];
        for (int i = 0; i < j; ++i) log_f += std::log1p(std::exp(kBit + kWeight * (h[i] + h[j])));
      }
      states.push_back(h);
      low.push_back(above < kUnits / 2 ? std::exp(log_f) : 0);
      high.push_back(above < kUnits / 2 ? 0 : std::exp(log_f));
    }
  }

  static double sum(const std::vector<double>& law) {
    return std::accumulate(law.begin(), law.end(), 0.0);
  }
  double odds() const { return sum(high) / sum(low); }
};

Layered blocks() {
  Eigen::MatrixXd weights = Eigen::MatrixXd::Zero(kBlocks * kPairs, kBlocks * kUnits);
  for (int b = 0, bit = 0; b < kBlocks; ++b)
    for (int j = 0; j < kUnits; ++j)
      for (int i = 0; i < j; ++i, ++bit)
        weights(bit, b * kUnits + i) = weights(bit, b * kUnits + j) = kWeight;
  return {{{Unit::bernoulli(), Eigen::VectorXd::Constant(kBlocks * kPairs, kBit), {}},
           {kUnit, Eigen::VectorXd::Constant(kBlocks * kUnits, kHidden), {}}},
          {weights}};
}

// Independent samples, each block of which is high with such a probability.
Chains samples_of_blocks(const Layered& model, const Block& block, double high, int count,
                         std::uint64_t seed) {
  Chains states(model, count);
  Stream stream(make_key(seed, "blocks"), Purpose::test);
  for (int c = 0; c < count; ++c)
    for (int b = 0, bit = b * kPairs; b < kBlocks; ++b) {
      const std::vector<double>& law = stream.bernoulli(high) ? block.high : block.low;
      double left = stream.uniform() * Block::sum(law);
      std::size_t x = 0;
      while (x + 1 < law.size() && (left -= law[x]) > 0) ++x;
      const std::vector<double>& h = block.states[x];
      for (int j = 0; j < kUnits; ++j) states.set(1, b * kUnits + j, c, static_cast<float>(h[j]));
      for (int j = 0; j < kUnits; ++j)
        for (int i = 0; i < j; ++i, ++bit) {
          const double on = 1 / (1 + std::exp(-kBit - kWeight * (h[i] + h[j])));
          states.set(0, bit, c, stream.bernoulli(on) ? 1 : 0);
        }
    }
  return states;
}

bool is_of_block(const UnitSwitch& of, int block) {
  const int first = kBlocks * kPairs + block * kUnits;
  return of.unit >= first && of.unit < first + kUnits;
}

TEST_CASE("a block of units of several values that a run never had high is found with its mass") {
  const Layered model = blocks();
  const Block block;
  REQUIRE(block.odds() > 0.1);
  REQUIRE(block.odds() < 0.4);
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const Chains states = samples_of_blocks(model, block, 0, 200, seed);
    const Switches found = switch_units(model, {.states = {states}}, make_key(seed, "switches"));
    for (int b = 0; b < kBlocks; ++b) {
      double mass = 0;
      for (const UnitSwitch& of : found.units)
        if (is_of_block(of, b) && of.others.size() + 1 >= kUnits / 2)
          mass += of.share * std::exp(of.log_ratio);
      INFO("block " << b << ": " << mass << " of " << block.odds());
      CHECK(mass > 0.5 * block.odds());
      CHECK(mass < 1.5 * block.odds());
    }
    CHECK(refuses(found));
  }
}

TEST_CASE("right samples of blocks of units of several values refuse nothing") {
  const Layered model = blocks();
  const Block block;
  const double high = block.odds() / (1 + block.odds());
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Chains states = samples_of_blocks(model, block, high, 200, seed);
    CHECK_FALSE(refuses(switch_units(model, {.states = {states}}, make_key(seed, "switches"))));
  }
}

}  // namespace several_values
