// What ranks share: every number is where it must be, whatever the layers and the number of ranks.
#include <rapidcheck.h>
#include <rapidcheck/catch.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "boltzmark/exact/spectrum/turns.hpp"
#include "boltzmark/random/stream.hpp"
#include "verification/exact/support/spectrum_cases.hpp"
#include "verification/exact/support/thread_ranks.hpp"

using namespace boltzmark;
using thread_ranks::on_ranks;

namespace {

// A network of two to four layers of one to six units, of 2 to 2^14 states.
Layered network_of(std::uint64_t seed) {
  Stream stream(make_key(seed, "ranks properties"), Purpose::test);
  std::vector<Unit> units;
  std::vector<int> sizes;
  double states = 1;
  for (std::uint64_t layers = 2 + stream.below(3); layers > 0; --layers) {
    const Unit unit = stream.bernoulli(0.5) ? Unit::bernoulli() : Unit::multivalued(2);
    int size = static_cast<int>(1 + stream.below(6));
    while (size > 1 && states * std::pow(unit.values(), size) > 0x1p14) --size;
    states *= std::pow(unit.values(), size);
    units.push_back(unit);
    sizes.push_back(size);
  }
  return spectrum_cases::uniform_network(units, sizes);
}

int count_of(std::uint64_t seed) { return 1 + static_cast<int>(seed % 6); }

// A number that tells the element of a state; bytes can only tell some.
template <class T>
T mark(std::size_t state, std::size_t element) {
  return static_cast<T>((state * 4 + element) * 2654435761U >> 5 & 0xffff);
}

// Whether every element of every state is where each order has it, and comes back.
template <class T>
bool turns_hold(const StateSpace& space, std::size_t width) {
  const Turns turns(space);
  const Rows& rows = space.rows();
  const auto own = static_cast<std::size_t>(rows.own());
  std::vector<T> document(own * width), odd(turns.odd_size() * width), back(document.size());
  for (std::size_t i = 0; i < document.size(); ++i)
    document[i] = mark<T>(rows.first() + i / width, i % width);
  if (turns.in_place())
    odd = document;
  else
    turns.to_odd(document.data(), odd.data(), width);
  bool holds = true;
  const auto look = [&](const T* at, std::size_t o, std::size_t e) {
    const std::size_t state = space.side_state(1, o) + space.side_state(0, e);
    for (std::size_t k = 0; k < width; ++k) holds = holds && at[k] == mark<T>(state, k);
  };
  const SideRun odds = turns.own(1), evens = turns.own(0);
  for (std::size_t o = 0; o < odds.count; ++o)
    for (std::size_t e = 0; e < space.side_states(0); ++e)
      look(&odd[(o * space.side_states(0) + e) * width], odds.first + o, e);
  Turned<T> turned(turns, odd.data(), width);
  // One rank's order even is its order odd: all states of both sides.
  for (std::size_t o = 0; o < space.side_states(1); ++o)
    for (std::size_t e = 0; e < evens.count; ++e)
      look(turned.data() + (o * evens.count + e) * width, o, evens.first + e);
  if (rows.ranks().count() > 1) std::fill(odd.begin(), odd.end(), T{});
  turned.turn_back();
  if (turns.in_place())
    back = odd;
  else
    turns.to_document(odd.data(), back.data(), width);
  return holds && back == document;
}

std::vector<double> numbers(std::size_t count, std::uint64_t seed) {
  Stream stream(make_key(seed, "ranks properties"), Purpose::test);
  std::vector<double> all(count);
  for (double& number : all) number = stream.normal() * std::exp(5 * stream.normal());
  return all;
}

}  // namespace

TEST_CASE("a stream that skips draws goes on as one that drew them") {
  rc::prop("after some draws, skipping any number", [](std::uint64_t seed) {
    const std::uint64_t before = seed % 7, skipped = seed / 7 % 1000;
    const StreamKey key = make_key(seed);
    Stream drawn(key, Purpose::test), skipping(key, Purpose::test);
    for (std::uint64_t i = 0; i < before; ++i) RC_ASSERT(drawn() == skipping());
    for (std::uint64_t i = 0; i < skipped; ++i) drawn();
    skipping.skip(skipped);
    for (int i = 0; i < 9; ++i) RC_ASSERT(drawn() == skipping());
    skipping.skip(0);
    RC_ASSERT(drawn() == skipping());
  });
}

TEST_CASE("a stream can be entered at its last draw") {
  const StreamKey key = make_key(1);
  Stream stream(key, Purpose::test);
  stream.skip((std::uint64_t{1} << 34) - 1);
  CHECK(stream() == philox(key, {0xffffffffU, 0, 0, static_cast<std::uint32_t>(Purpose::test)})[3]);
}

TEST_CASE("every turn of the states puts each where its order has it, and back") {
  rc::prop("any layers, ranks and width", [](std::uint64_t seed, std::uint64_t choice) {
    const Layered model = network_of(seed);
    const std::size_t width = 1 + choice / 6 % 3;
    const auto holds = on_ranks(count_of(choice), [&](const Ranks& ranks) {
      const StateSpace space(model, ranks);
      return turns_hold<double>(space, width) && turns_hold<std::uint8_t>(space, width);
    });
    for (const bool rank : holds) RC_ASSERT(rank);
  });
}

TEST_CASE("more states of a rank than 16 bits count are turned as any others are") {
  const Unit bit = Unit::bernoulli();
  const Layered model = spectrum_cases::uniform_network({bit, bit, bit}, {6, 7, 5});
  for (const bool rank : on_ranks(
           2, [&](const Ranks& ranks) { return turns_hold<double>(StateSpace(model, ranks), 1); }))
    CHECK(rank);
}

TEST_CASE("a rank's log p and inputs are the whole's, to the last bit") {
  rc::prop("any layers and ranks", [](std::uint64_t seed, std::uint64_t choice) {
    const Layered model = network_of(seed);
    const StateSpace whole(model);
    const auto holds = on_ranks(count_of(choice), [&](const Ranks& ranks) {
      const StateSpace space(model, ranks);
      const Turns turns(space);
      bool equal =
          space.log_p() == whole.log_p().segment(static_cast<Eigen::Index>(space.rows().first()),
                                                 space.rows().own());
      for (int parity = 0; parity < 2; ++parity) {
        const SideRun run = turns.own(1 - parity);
        equal = equal && space.inputs(parity, run.first, run.count) ==
                             whole.inputs(parity).middleRows(static_cast<Eigen::Index>(run.first),
                                                             static_cast<Eigen::Index>(run.count));
      }
      return equal;
    });
    for (const bool rank : holds) RC_ASSERT(rank);
  });
}

TEST_CASE("ordered sums have one value for any number of ranks") {
  rc::prop("few parts and many", [](std::uint64_t seed, std::uint64_t choice) {
    const std::size_t count = seed % 60'000, most = choice / 6 % 2 == 0 ? 8192 : 3 + choice % 5;
    const std::vector<double> all = numbers(count, seed);
    const auto sums = [&](const Ranks& ranks) {
      const Rows rows(count, ranks, most);
      const Eigen::Map<const Eigen::ArrayXd> own(all.data() + rows.first(), rows.own());
      const auto add = [&](auto& sum, Eigen::Index at, Eigen::Index n) {
        sum.add(own.segment(at, n));
      };
      const Eigen::MatrixXd parts =
          rows.parts(2, [&](Eigen::Index at, Eigen::Index n, Eigen::Ref<Eigen::VectorXd> result) {
            result << own.segment(at, n).sum(), own.segment(at, n).square().sum();
          });
      RC_ASSERT(parts.cols() <= static_cast<Eigen::Index>(most));
      return std::vector{rows.sum<SumInFours>(add), rows.sum<SumOneByOne>(add),
                         rows.dot(own.matrix(), own.matrix()), parts.row(0).sum(),
                         parts.row(1).sum()};
    };
    const std::vector<double> alone = sums(Ranks::serial());
    for (const std::vector<double>& found : on_ranks(count_of(choice), sums))
      RC_ASSERT(found == alone);
    if (most < 8192) return;
    const Eigen::Map<const Eigen::VectorXd> vector(all.data(), static_cast<Eigen::Index>(count));
    RC_ASSERT(alone[0] == vector.sum());
    RC_ASSERT(alone[1] == std::accumulate(all.begin(), all.end(), 0.0));
    RC_ASSERT(alone[2] == vector.squaredNorm());
  });
}
