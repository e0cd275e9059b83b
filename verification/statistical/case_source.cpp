// The law of cases that are drawn anew: the right mean, and no update that repeats another.
#include "boltzmark/learn/cases/case_source.hpp"

#include <catch2/catch.hpp>
#include <vector>

#include "boltzmark/learn/initial.hpp"
#include "decide.hpp"

using namespace boltzmark;
using namespace boltzmark::verification;

namespace {

constexpr float kDrawnLevel = 0.3F;

const StatisticalTest kDrawnPixel({.name = "learn: a drawn pixel",
                                   .false_alarm = 1e-9,
                                   .deviation = 0.02});
// Draws that repeat agree always, not with .3^2 + .7^2 = .58.
const StatisticalTest kDrawnPairs({.name = "learn: drawn pixels of two updates",
                                   .false_alarm = 1e-9,
                                   .deviation = 0.02,
                                   .cases = 2});

// The first unit of some cases at updates that begin with `first`: [updates x cases].
Eigen::MatrixXf drawn_pixels(StreamKey key, int cases, int updates) {
  const Eigen::MatrixXf levels = Eigen::MatrixXf::Constant(1, cases, kDrawnLevel);
  Chains chains(initial_rbm(1, 1, 0, {}), cases);
  DrawnCases source(levels, Unit::bernoulli(), key);
  std::vector<int> all;
  for (int c = 0; c < cases; ++c) all.push_back(c);
  Eigen::MatrixXf values(updates, cases);
  for (int update = 0; update < updates; ++update) {
    source.fill(chains, all, static_cast<std::uint64_t>(update));
    values.row(update) = chains.get_layer(0);
  }
  return values;
}

}  // namespace

TEST_CASE("a drawn case is on as often as its level says") {
  const Decision decision = decide_proportion(kDrawnPixel, static_cast<double>(kDrawnLevel),
                                              Claim::equal, [](std::size_t samples, StreamKey key) {
                                                const Eigen::MatrixXf values =
                                                    drawn_pixels(key, static_cast<int>(samples), 1);
                                                std::vector<int> on;
                                                for (const float value : values.reshaped())
                                                  on.push_back(value > 0 ? 1 : 0);
                                                return on;
                                              });
  INFO(decision.summary);
  CHECK(decision.holds);
}

TEST_CASE("drawn cases of two updates, and two cases of an update, are independent") {
  for (const bool other_update : {true, false}) {
    const Decision decision =
        decide_proportion(kDrawnPairs, 0.58, Claim::equal, [&](std::size_t samples, StreamKey key) {
          const int pairs = static_cast<int>(samples);
          const Eigen::MatrixXf values =
              other_update ? drawn_pixels(key, pairs, 2) : drawn_pixels(key, 2, pairs).transpose();
          std::vector<int> agree;
          for (int pair = 0; pair < pairs; ++pair)
            agree.push_back(values(0, pair) == values(1, pair) ? 1 : 0);
          return agree;
        });
    INFO(decision.summary);
    CHECK(decision.holds);
  }
}
