#include <hwy/targets.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/simd.hpp"
#include "boltzmark/random/draws.hpp"
#include "boltzmark/random/stream.hpp"
#include "verification/exact/support/every_path.hpp"

using namespace boltzmark;
using Block = std::array<std::uint32_t, 4>;

TEST_CASE("philox gives Random123's published known answers") {
  // Random123 1.14, examples/kat_vectors, philox4x32 10.
  CHECK(philox({0, 0}, {0, 0, 0, 0}) == Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox({0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}) ==
        Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox({0xa4093822, 0x299f31d0}, {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}) ==
        Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("a range of draws is philox at its documented counters, however it is cut") {
  const StreamKey key = make_key(7, "experiment", "trial");
  const PhiloxDraws draws(key);
  const std::uint64_t sweep = (std::uint64_t{5} << 32) + 9;
  const DrawRange range{
      .layer = 3, .first_unit = 4, .units = 12, .first_chain = 16, .chains = 48, .sweep = sweep};
  on_every_path([&] {
    std::vector<std::uint32_t> out(range.units * range.chains);
    draws.fill(out.data(), range);
    for (std::uint32_t u = 0; u < range.units; ++u)
      for (std::uint32_t c = 0; c < range.chains; ++c) {
        const Block block =
            philox(key, {(range.first_unit + u) / 4, range.first_chain + c, 9, 3 + (5U << 8)});
        REQUIRE(out[u * range.chains + c] == block[(range.first_unit + u) % 4]);
      }
  });
}

TEST_CASE("a range of one chain has that chain's draws of any range") {
  const PhiloxDraws draws(make_key(8, "experiment", "trial"));
  const std::uint64_t sweep = (std::uint64_t{7} << 32) + 0xfffffff0U;
  constexpr std::uint32_t kUnits = 44, kChains = 32;
  DrawRange range{.layer = 2,
                  .first_unit = 8,
                  .units = kUnits,
                  .first_chain = 48,
                  .chains = kChains,
                  .sweep = sweep};
  std::vector<std::uint32_t> all(kUnits * kChains), one(kUnits + 1, 5U);
  draws.fill(all.data(), range);
  range.chains = 1;
  on_every_path([&] {
    for (std::uint32_t c = 0; c < kChains; ++c) {
      range.first_chain = 48 + c;
      draws.fill(one.data(), range);
      for (std::uint32_t u = 0; u < kUnits; ++u) REQUIRE(one[u] == all[u * kChains + c]);
      REQUIRE(one[kUnits] == 5U);  // and nothing behind them
    }
  });
}

TEST_CASE("a SIMD path that this CPU does not have is refused, not taken for another") {
  const std::string before = simd_path();
  const std::vector<std::string> paths = simd_paths();
  int missing = 0;
  for (const char* path : {"amx", "avx512", "avx2", "sse4"}) {
    if (std::find(paths.begin(), paths.end(), path) != paths.end()) continue;
    INFO(path);
    CHECK_THROWS_AS(ForcedSimdPath(path), InvalidArgument);
    ++missing;
  }
  if (missing == 0) WARN("skipped: this CPU has every SIMD path");
  CHECK(simd_path() == before);
}

TEST_CASE("kernels take the SIMD path that is forced, and the one before afterwards") {
  const TileEmulator emulator;
  const std::string before = simd_path();
  std::set<std::string> taken;
  for (const std::string& path : simd_paths()) {
    const ForcedSimdPath forced(path);
    static_cast<void>(hwy::SupportedTargets());  // chooses the best path again, unless forced well
    taken.insert(simd_path());
  }
  CHECK(taken.size() == simd_paths().size());
  CHECK(simd_path() == before);
  CHECK_THROWS_AS(ForcedSimdPath("mmx"), InvalidArgument);
}

TEST_CASE("keys differ in seed, experiment and trial, and where these are cut") {
  const auto pack = [](StreamKey key) { return (std::uint64_t{key.high} << 32) | key.low; };
  std::set<std::uint64_t> keys;
  for (std::uint64_t seed = 0; seed < 100; ++seed)
    for (const char* name : {"", "a", "ab", "b"})
      for (const char* trial : {"", "a", "ab", "b"}) keys.insert(pack(make_key(seed, name, trial)));
  CHECK(keys.size() == 100 * 16);
  CHECK(make_key(1, "x") == make_key(1, "x", ""));
}

TEST_CASE("a stream repeats itself from the same key, purpose and index only") {
  const StreamKey key = make_key(1);
  const auto first = [&](Purpose purpose, std::uint64_t index) {
    Stream stream(key, purpose, index);
    return std::pair(stream(), stream());
  };
  CHECK(first(Purpose::data, 3) == first(Purpose::data, 3));
  CHECK(first(Purpose::data, 3) != first(Purpose::data, 4));
  CHECK(first(Purpose::data, 3) != first(Purpose::test, 3));
  CHECK(first(Purpose::data, 3) != first(Purpose::data, (std::uint64_t{1} << 32) + 3));
}

TEST_CASE("a stream's numbers stay in their ranges") {
  Stream stream(make_key(2), Purpose::test);
  for (int i = 0; i < 20000; ++i) {
    const double u = stream.uniform();
    REQUIRE((u > 0 && u < 1));
    REQUIRE(stream.below(7) < 7);
    REQUIRE(std::abs(stream.normal()) < 9);  // |z| >= 8.3 is below 2^-53
  }
  // A third of them is below a third of three quarters of all, and half without rejection: five standard
  // errors are 0.043.
  int low = 0;
  for (int i = 0; i < 3000; ++i)
    low += stream.below(std::uint64_t{3} << 62) < std::uint64_t{1} << 62;
  CHECK(std::abs(low / 3000.0 - 1.0 / 3) < 0.043);
  CHECK(stream.below(1) == 0);
  CHECK_THROWS_AS(stream.below(0), InvalidArgument);
}
