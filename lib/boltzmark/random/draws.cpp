#include "boltzmark/random/draws.hpp"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boltzmark/random/draws.cpp"
#include <hwy/foreach_target.h>
// Highway wants its own header after foreach_target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace boltzmark::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::uint32_t kMultiplier0 = 0xD2511F53U;
constexpr std::uint32_t kMultiplier1 = 0xCD9E8D57U;
constexpr std::uint32_t kWeyl0 = 0x9E3779B9U;
constexpr std::uint32_t kWeyl1 = 0xBB67AE85U;

using Words = hn::CappedTag<std::uint32_t, 16>;
using Wide = hn::Repartition<std::uint64_t, Words>;
using Vector = hn::Vec<Wide>;
constexpr int kRounds = 10;
constexpr std::uint32_t kTogether = 2;  // groups of four units at once, to fill the pipelines

// The four words of one counter in each 64-bit lane. Only their low halves count: a product ignores
// the high ones, and a product's own high half is the next round's.
struct Counters {
  Vector c0, c1, c2, c3;
};

HWY_INLINE Vector product(Vector a, std::uint32_t multiplier) {
  const Words d;
  return hn::MulEven(hn::BitCast(d, a), hn::Set(d, multiplier));
}

HWY_INLINE Vector high(Vector a) { return hn::ShiftRight<32>(a); }

// The rounds of counters that differ in c1 alone: c2 and c3 become lane by lane different only in
// the third, so that four of the first six products are scalar.
HWY_INLINE Counters first_rounds(std::uint32_t c0, Vector c1, std::uint32_t c2, std::uint32_t c3,
                                 const StreamKey* keys) {
  const Wide d;
  const auto wide = [](std::uint32_t a, std::uint32_t b) { return std::uint64_t{a} * b; };
  const std::uint64_t p0 = wide(c0, kMultiplier0), p1 = wide(c2, kMultiplier1);
  const Vector a0 = hn::Xor(c1, hn::Set(d, (p1 >> 32) ^ keys[0].low));
  const auto a1 = static_cast<std::uint32_t>(p1), a3 = static_cast<std::uint32_t>(p0);
  const std::uint32_t a2 = static_cast<std::uint32_t>(p0 >> 32) ^ c3 ^ keys[0].high;

  const Vector q0 = product(a0, kMultiplier0);
  const std::uint64_t q1 = wide(a2, kMultiplier1);
  const std::uint32_t b0 = static_cast<std::uint32_t>(q1 >> 32) ^ a1 ^ keys[1].low;
  const Vector b2 = hn::Xor(high(q0), hn::Set(d, std::uint64_t{a3 ^ keys[1].high}));

  const std::uint64_t r0 = wide(b0, kMultiplier0);
  const Vector r1 = product(b2, kMultiplier1);
  const std::uint64_t b1 = static_cast<std::uint32_t>(q1);
  return {hn::Xor(high(r1), hn::Set(d, b1 ^ keys[2].low)), r1,
          hn::Xor(q0, hn::Set(d, (r0 >> 32) ^ keys[2].high)), hn::Set(d, r0)};
}

HWY_INLINE void turn(Counters& c, const StreamKey& key) {
  const Wide d;
  const Vector p0 = product(c.c0, kMultiplier0), p1 = product(c.c2, kMultiplier1);
  c.c0 = hn::Xor3(high(p1), c.c1, hn::Set(d, std::uint64_t{key.low}));
  c.c2 = hn::Xor3(high(p0), c.c3, hn::Set(d, std::uint64_t{key.high}));
  c.c1 = p1;
  c.c3 = p0;
}

void fill_keys(StreamKey key, StreamKey (&keys)[kRounds]) {
  for (StreamKey& round : keys) {
    round = key;
    key.low += kWeyl0;
    key.high += kWeyl1;
  }
}

// The low halves of two words, the first one's below.
HWY_INLINE Vector pair(Vector a, Vector b) {
  return hn::Or(hn::And(a, hn::Set(Wide(), 0xffffffffU)), hn::ShiftLeft<32>(b));
}

// Puts the low halves of the even and of the odd chains' words side by side.
HWY_INLINE void store(Vector even, Vector odd, std::uint32_t* HWY_RESTRICT out) {
  const Words d;
  hn::StoreU(hn::OddEven(hn::BitCast(d, hn::ShiftLeft<32>(odd)), hn::BitCast(d, even)), d, out);
}

// The draws of one chain: every lane has the counter of other four units.
void fill_chain(std::uint32_t* HWY_RESTRICT out, const DrawRange& range, StreamKey key) {
  const Wide d;
  constexpr auto kUnits = static_cast<std::uint32_t>(4 * hn::MaxLanes(Wide()));
  StreamKey keys[kRounds];
  fill_keys(key, keys);
  const auto all = [&](std::uint32_t word) { return hn::Set(d, std::uint64_t{word}); };
  for (std::uint32_t u = 0; u < range.units; u += kUnits) {
    Counters c{hn::Add(all((range.first_unit + u) / 4), hn::Iota(d, 0)), all(range.first_chain),
               all(static_cast<std::uint32_t>(range.sweep)), all(range.last_word())};
    for (const StreamKey& round : keys) turn(c, round);
    HWY_ALIGN std::uint64_t draws[kUnits / 2];
    hn::StoreInterleaved2(pair(c.c0, c.c1), pair(c.c2, c.c3), d, draws);
    std::memcpy(out + u, draws, std::min(kUnits, range.units - u) * sizeof(std::uint32_t));
  }
}

void fill(std::uint32_t* HWY_RESTRICT out, const DrawRange& range, StreamKey key) {
  if (range.chains == 1) return fill_chain(out, range, key);
  const Wide d;
  const auto lanes = static_cast<std::uint32_t>(hn::Lanes(Words()));
  const auto sweep_low = static_cast<std::uint32_t>(range.sweep);
  const std::uint32_t purpose = range.last_word();
  StreamKey keys[kRounds];
  fill_keys(key, keys);
  for (std::uint32_t u = 0; u < range.units; u += 4 * kTogether)
    for (std::uint32_t c = 0; c < range.chains; c += lanes) {
      const Vector even = hn::Add(hn::Set(d, std::uint64_t{range.first_chain + c}),
                                  hn::ShiftLeft<1>(hn::Iota(d, 0)));
      const Vector chain[2] = {even, hn::Add(even, hn::Set(d, 1))};
      Counters words[kTogether][2];
      for (std::uint32_t g = 0; g < kTogether; ++g)
        for (int odd = 0; odd < 2; ++odd)
          words[g][odd] =
              first_rounds((range.first_unit + u) / 4 + g, chain[odd], sweep_low, purpose, keys);
      for (int r = 3; r < kRounds; ++r)
        for (auto& group : words)
          for (Counters& w : group) turn(w, keys[r]);
      for (std::uint32_t g = 0; g < kTogether && u + 4 * g < range.units; ++g) {
        const auto& [e, o] = words[g];
        std::uint32_t* row = out + static_cast<std::size_t>(u + 4 * g) * range.chains + c;
        store(e.c0, o.c0, row);
        store(e.c1, o.c1, row + range.chains);
        store(e.c2, o.c2, row + 2 * static_cast<std::size_t>(range.chains));
        store(e.c3, o.c3, row + 3 * static_cast<std::size_t>(range.chains));
      }
    }
}

}  // namespace boltzmark::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace boltzmark {
HWY_EXPORT(fill);

namespace {

void show(const DrawAudit& audit, StreamKey key, const DrawRange& range) {
  for (std::uint32_t u = 0; u < range.units; u += 4)
    for (std::uint32_t c = 0; c < range.chains; ++c)
      audit(key, {(range.first_unit + u) / 4, range.first_chain + c,
                  static_cast<std::uint32_t>(range.sweep), range.last_word()});
}

}  // namespace

void PhiloxDraws::fill(std::uint32_t* out, const DrawRange& range) const {
  if (const DrawAudit* audit = draw_audit.load(std::memory_order_relaxed))
    show(*audit, key_, range);
  HWY_DYNAMIC_DISPATCH(fill)(out, range, key_);
}

}  // namespace boltzmark
#endif
