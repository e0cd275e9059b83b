#include <rapidcheck.h>
#include <rapidcheck/catch.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/learn/cases/case_source.hpp"

using namespace boltzmark;

TEST_CASE("minibatches cover each case once per epoch, whatever order they are asked for in") {
  rc::prop("one epoch is a permutation", [] {
    const int cases = *rc::gen::inRange(1, 200);
    const int batch = *rc::gen::inRange(1, cases + 1);
    const auto epoch = static_cast<std::uint64_t>(*rc::gen::inRange(0, 1000));
    const StreamKey key = make_key(*rc::gen::arbitrary<std::uint64_t>());
    Minibatches minibatches(cases, batch, key), again(cases, batch, key);
    const auto per_epoch = static_cast<std::uint64_t>(minibatches.per_epoch());
    again.cases((epoch + 3) * per_epoch);  // another epoch first: no memory of it may remain
    std::vector<int> seen;
    for (std::uint64_t i = 0; i < per_epoch; ++i) {
      const auto now = minibatches.cases(epoch * per_epoch + i);
      const auto same = again.cases(epoch * per_epoch + i);
      RC_ASSERT(std::equal(now.begin(), now.end(), same.begin(), same.end()));
      RC_ASSERT(i + 1 == per_epoch || static_cast<int>(now.size()) == batch);
      seen.insert(seen.end(), now.begin(), now.end());
    }
    std::sort(seen.begin(), seen.end());
    RC_ASSERT(static_cast<int>(seen.size()) == cases);
    for (int c = 0; c < cases; ++c) RC_ASSERT(seen[c] == c);
  });
}

TEST_CASE("each epoch has an order of its own") {
  // Two of 100! orders agree by accident with a probability below 1e-157.
  Minibatches minibatches(100, 10, make_key(1));
  std::vector<std::vector<int>> orders;
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
    std::vector<int>& order = orders.emplace_back();
    for (std::uint64_t i = 0; i < 10; ++i) {
      const auto cases = minibatches.cases(epoch * 10 + i);
      order.insert(order.end(), cases.begin(), cases.end());
    }
  }
  CHECK(orders[0] != orders[1]);
  CHECK(orders[1] != orders[2]);
}

TEST_CASE("a batch outside 1..cases is refused") {
  CHECK_THROWS_AS(Minibatches(5, 0, {}), InvalidArgument);
  CHECK_THROWS_AS(Minibatches(5, 6, {}), InvalidArgument);
}
