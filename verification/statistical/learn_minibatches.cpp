#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <vector>

#include "boltzmark/learn/cases/case_source.hpp"
#include "decide.hpp"

using namespace boltzmark;
using namespace boltzmark::verification;

namespace {

// A shuffle that never leaves a case in its place misses half of the orders: 1/6 each.
const StatisticalTest kOrders({.name = "learn: orders of an epoch",
                               .false_alarm = 1e-9,
                               .deviation = 0.03});

// Ranks the order of three cases: 0..5.
std::size_t rank_of(const std::array<int, 3>& order) {
  std::array<int, 3> candidate = {0, 1, 2};
  std::size_t rank = 0;
  while (candidate != order) {
    std::next_permutation(candidate.begin(), candidate.end());
    ++rank;
  }
  return rank;
}

}  // namespace

TEST_CASE("every order of an epoch is equally likely") {
  const std::vector<double> probabilities(6, 1.0 / 6);
  const Decision decision =
      decide_frequencies(kOrders, probabilities, [](std::size_t samples, StreamKey key) {
        Minibatches minibatches(3, 1, key);
        std::vector<std::size_t> ranks;
        for (std::uint64_t epoch = 0; epoch < samples; ++epoch) {
          std::array<int, 3> order{};
          for (std::uint64_t i = 0; i < 3; ++i) order[i] = minibatches.cases(3 * epoch + i)[0];
          ranks.push_back(rank_of(order));
        }
        return ranks;
      });
  INFO(decision.summary);
  CHECK(decision.holds);
}
