// Sums of chunks in one level or two: near the truth, and the same bits from any stored progress.
#include <rapidcheck.h>
#include <rapidcheck/catch.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <vector>

#include "boltzmark/exact/enumeration/chunk_total.hpp"
#include "boltzmark/random/stream.hpp"

namespace {

using namespace boltzmark;

std::vector<Scaled> draw_parts() {
  Stream stream(make_key(*rc::gen::arbitrary<std::uint64_t>(), "chunks"), Purpose::test);
  std::vector<Scaled> parts(*rc::gen::inRange<std::size_t>(1, 3000));
  const int span = *rc::gen::inRange(1, 40);
  for (Scaled& part : parts)
    part = {stream.uniform(0.7, 1.42),
            static_cast<std::int64_t>(stream.below(static_cast<std::uint32_t>(span)))};
  return parts;
}

}  // namespace

TEST_CASE("sums of chunks in groups of any size keep to the bound of their additions") {
  rc::prop("relative error at most additions u", [] {
    const std::vector<Scaled> parts = draw_parts();
    const auto group = *rc::gen::inRange<std::uint64_t>(0, 100);
    ChunkTotal total(group);
    long double truth = 0;
    for (const Scaled& part : parts) {
      total.add(part);
      truth += std::ldexp(static_cast<long double>(part.mantissa), static_cast<int>(part.exponent));
    }
    const Scaled sum = total.total().value();
    const long double found =
        std::ldexp(static_cast<long double>(sum.mantissa), static_cast<int>(sum.exponent));
    // The truth itself is rounded 2^11 times as finely.
    const auto additions = static_cast<long double>(additions_of(parts.size(), group));
    RC_ASSERT(std::abs(found / truth - 1) <=
              additions * 0x1p-53L + static_cast<long double>(parts.size()) * 0x1p-64L);
  });
}

TEST_CASE("sums of chunks go on from stored progress to the bits of one run") {
  rc::prop("stored anywhere", [] {
    const std::vector<Scaled> parts = draw_parts();
    const auto group = *rc::gen::inRange<std::uint64_t>(0, 100);
    const auto at = *rc::gen::inRange<std::size_t>(0, parts.size() + 1);
    ChunkTotal whole(group), first(group);
    for (const Scaled& part : parts) whole.add(part);
    for (std::size_t k = 0; k < at; ++k) first.add(parts[k]);
    ChunkTotal second(group, first.progress());
    for (std::size_t k = at; k < parts.size(); ++k) second.add(parts[k]);
    const EnumerationProgress a = whole.progress(), b = second.progress();
    RC_ASSERT(a.next == b.next);
    RC_ASSERT(a.sum.mantissa == b.sum.mantissa && a.sum.exponent == b.sum.exponent);
    RC_ASSERT(a.open.mantissa == b.open.mantissa && a.open.exponent == b.open.exponent);
  });
}
